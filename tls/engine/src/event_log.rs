//! Every message in and out, in order.

use reprise_model::{Direction, Event, Nanos, What};

/// Events held; a peer could otherwise make us hold as many as it likes.
const MAX_EVENTS: usize = 4096;
/// Records of application data among them, so that a long response does not crowd out what comes after it.
const MAX_DATA_EVENTS: usize = 3072;

/// What is received is logged as it comes, what is sent as it leaves: so the order is that of time.
pub(crate) struct EventLog {
    /// Whether anything is kept at all.
    records: bool,
    events: Vec<Event>,
    /// The bytes of the handshake messages among them, one after the other, if they are kept at all.
    messages: Vec<Vec<u8>>,
    /// What was made and has not left yet.
    waiting: Vec<(Event, Option<Vec<u8>>)>,
    data_events: usize,
    omitted: u64,
}

impl EventLog {
    pub(crate) fn new(records: bool) -> Self {
        let (events, messages, waiting) = (Vec::new(), Vec::new(), Vec::new());
        Self { records, events, messages, waiting, data_events: 0, omitted: 0 }
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.push_message(event, None);
    }

    /// With the bytes of a handshake message, header included, where they are kept.
    pub(crate) fn push_message(&mut self, event: Event, raw: Option<Vec<u8>>) {
        match event.direction {
            _ if !self.records => {}
            Direction::Sent => self.waiting.push((event, raw)),
            Direction::Received => self.keep(event, raw),
        }
    }

    /// What was made since the last call leaves at `now`.
    pub(crate) fn depart(&mut self, now: Nanos) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.drain(..).for_each(|(event, raw)| self.keep(Event { at: now, ..event }, raw));
        self.waiting = waiting; // for its memory
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn messages(&self) -> &[Vec<u8>] {
        &self.messages
    }

    /// How many events there was no room for.
    pub(crate) fn omitted(&self) -> u64 {
        self.omitted
    }

    fn keep(&mut self, event: Event, raw: Option<Vec<u8>>) {
        let is_data = event.what == What::ApplicationData;
        if self.events.len() >= MAX_EVENTS || is_data && self.data_events >= MAX_DATA_EVENTS {
            self.omitted += 1;
            return;
        }
        self.data_events += usize::from(is_data);
        self.events.push(event);
        self.messages.extend(raw);
    }
}

#[cfg(test)]
mod tests {
    use reprise_model::Bytes;

    use super::*;

    fn received(what: What) -> Event {
        Event::new(Nanos(0), Direction::Received, what, Bytes(1), true)
    }

    #[test]
    fn data_without_end_leaves_room_for_what_follows_it() {
        let mut log = EventLog::new(true);
        for _ in 0..10_000 {
            log.push(received(What::ApplicationData));
        }
        log.push(received(What::ChangeCipherSpec));
        assert_eq!(log.events().len(), MAX_DATA_EVENTS + 1);
        assert_eq!(log.omitted(), 10_000 - MAX_DATA_EVENTS as u64);
        assert_eq!(log.events().last().unwrap().what, What::ChangeCipherSpec);
    }

    #[test]
    fn no_peer_makes_it_grow_for_ever() {
        let mut log = EventLog::new(true);
        for _ in 0..10_000 {
            log.push(received(What::ChangeCipherSpec));
        }
        assert_eq!(log.events().len(), MAX_EVENTS);
        assert_eq!(log.omitted(), 10_000 - MAX_EVENTS as u64);
    }

    #[test]
    fn what_is_sent_is_logged_when_it_leaves() {
        let mut log = EventLog::new(true);
        log.push(Event { direction: Direction::Sent, ..received(What::ChangeCipherSpec) });
        log.push(received(What::ApplicationData));
        log.depart(Nanos(7));
        log.depart(Nanos(9));
        let logged: Vec<_> = log.events().iter().map(|event| (event.at, event.direction)).collect();
        assert_eq!(logged, [(Nanos(0), Direction::Received), (Nanos(7), Direction::Sent)]);
    }
}

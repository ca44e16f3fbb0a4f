//! What was sent, what became of it, and what may be sent now.

use std::collections::VecDeque;

use super::{MS, MSS, Time};

/// The least that is waited beyond a round trip before all is taken for lost (`tcp_rto_min_us`).
const LEAST_TIMEOUT: Time = 200 * MS;
/// What a probe waits beyond two round trips: two ticks of 4 ms (`TCP_TIMEOUT_MIN`).
const PROBE_MARGIN: Time = 8 * MS;
/// So many segments that were overtaken are not a matter of order any more (RFC 8985 §6.2).
const REORDERING: usize = 3;
/// What loss leaves of the window, in 1,024ths (CUBIC's β of 0.7, RFC 9438 §4.6).
const LEFT: u64 = 717;

/// A segment that was sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    end: u64,
    sent_at: Time,
    was_resent: bool,
    is_sacked: bool,
    is_lost: bool,
}

impl Segment {
    fn is_in_flight(&self) -> bool {
        !self.is_sacked && !self.is_lost
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// The tail loss probe.
    Probe,
    /// Reordering: a segment that was overtaken may yet arrive.
    Reordering,
    /// Retransmission of everything.
    Retransmission,
}

/// A window that was closed by loss, until all is acknowledged that had been sent then (RFC 6937).
#[derive(Clone, Copy, Debug)]
struct Recovery {
    until: u64,
    /// Segments in flight when it began.
    flight: u64,
    delivered: u64,
    sent: u64,
    /// Whether a timer found the loss: then the window opens by slow start.
    by_timer: bool,
}

/// The sending half. Windows are in segments.
pub(super) struct Sender {
    segments: VecDeque<Segment>,
    /// The first byte that was never sent, and the first that was never written.
    next: u64,
    written: u64,
    window: u64,
    threshold: u64,
    recovery: Option<Recovery>,
    smoothed: Time,
    deviation: Time,
    least: Time,
    /// How often the timer was doubled.
    backoff: u32,
    timer: Option<(Time, Timer)>,
    /// Whether a probe is under way whose answer has not come.
    probes: bool,
    /// Of what was delivered, the segment that was sent last, and its round trip.
    newest: (Time, u64),
    newest_round_trip: Time,
}

impl Sender {
    pub(super) fn new(initcwnd: u64) -> Self {
        Self {
            segments: VecDeque::new(),
            next: 0,
            written: 0,
            window: initcwnd,
            threshold: u64::MAX,
            recovery: None,
            smoothed: 0,
            deviation: 0,
            least: Time::MAX,
            backoff: 0,
            timer: None,
            probes: false,
            newest: (0, 0),
            newest_round_trip: 0,
        }
    }

    pub(super) fn next_byte(&self) -> u64 {
        self.next
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// The connection is established after such a round trip; where SYNs were lost more than once, it begins with one segment.
    pub(super) fn establish(&mut self, round_trip: Time, was_hard: bool) {
        self.measure(round_trip);
        if was_hard {
            self.window = 1;
        }
    }

    /// The next segment that may be sent now.
    pub(super) fn next(&mut self, now: Time) -> Option<(u64, u64)> {
        let in_flight = self.in_flight();
        if in_flight >= self.window {
            return None;
        }
        if let Some(lost) = self.segments.iter_mut().find(|segment| segment.is_lost) {
            (lost.is_lost, lost.was_resent, lost.sent_at) = (false, true, now);
            let sent = (lost.start, lost.end);
            self.count_sent();
            self.rearm(now, None);
            return Some(sent);
        }
        self.send_new(now)
    }

    fn send_new(&mut self, now: Time) -> Option<(u64, u64)> {
        let (start, end) = (self.next, self.written.min(self.next + MSS));
        if start == end {
            return None;
        }
        self.next = end;
        self.segments.push_back(Segment { start, end, sent_at: now, was_resent: false, is_sacked: false, is_lost: false });
        self.count_sent();
        self.rearm(now, None);
        Some((start, end))
    }

    fn count_sent(&mut self) {
        self.recovery.iter_mut().for_each(|recovery| recovery.sent += 1);
    }

    fn in_flight(&self) -> u64 {
        self.segments.iter().filter(|segment| segment.is_in_flight()).count() as u64
    }

    pub(super) fn acknowledged(&mut self, now: Time, acknowledged: u64, sacked: &[(u64, u64)]) {
        let was_full = self.in_flight() >= self.window;
        let first = self.segments.front().copied();
        let (mut delivered, mut advanced) = (0, 0);
        while let Some(segment) = self.segments.front().copied().filter(|segment| segment.end <= acknowledged) {
            self.segments.pop_front();
            advanced += 1;
            if !segment.is_sacked {
                delivered += 1;
                self.deliver(now, segment);
            }
        }
        let is_told = |segment: &Segment| sacked.iter().any(|(start, end)| *start <= segment.start && segment.end <= *end);
        let told: Vec<Segment> =
            self.segments.iter().copied().filter(|segment| !segment.is_sacked && is_told(segment)).collect();
        for segment in told {
            delivered += 1;
            self.deliver(now, segment);
        }
        self.segments.iter_mut().filter(|segment| is_told(segment)).for_each(|segment| {
            (segment.is_sacked, segment.is_lost) = (true, false);
        });
        if delivered == 0 {
            return;
        }
        if let Some(first) = first.filter(|first| advanced > 0 && !first.was_resent) {
            self.measure(now - first.sent_at);
        }
        if advanced > 0 {
            (self.backoff, self.probes) = (0, false);
        }
        if let Some(over) = self.recovery.take_if(|recovery| acknowledged >= recovery.until)
            && !over.by_timer
        {
            self.window = self.threshold;
        }
        self.detect(now);
        self.open(delivered, was_full);
        self.rearm(now, if advanced > 0 { Some(now) } else { None });
    }

    /// A segment has arrived (RFC 8985 §6.2 step 2).
    fn deliver(&mut self, now: Time, segment: Segment) {
        let round_trip = now - segment.sent_at;
        // The acknowledgement may be that of what was sent first.
        if segment.was_resent && round_trip < self.least {
            return;
        }
        if (segment.sent_at, segment.end) >= self.newest {
            self.newest = (segment.sent_at, segment.end);
            self.newest_round_trip = round_trip;
        }
    }

    /// Takes for lost what was overtaken (RFC 8985 §6.2 step 5); waits where that may be a matter of order.
    fn detect(&mut self, now: Time) {
        let sacked = self.segments.iter().filter(|segment| segment.is_sacked).count();
        let patience = if self.recovery.is_some() || sacked >= REORDERING { 0 } else { (self.least / 4).min(self.smoothed) };
        let (newest, round_trip) = (self.newest, self.newest_round_trip);
        let (mut found, mut wait) = (false, 0);
        for segment in self.segments.iter_mut().filter(|segment| segment.is_in_flight()) {
            if (segment.sent_at, segment.end) >= newest {
                continue;
            }
            let deadline = segment.sent_at + round_trip + patience;
            if deadline <= now {
                (segment.is_lost, found) = (true, true);
            } else {
                wait = wait.max(deadline - now);
            }
        }
        if found && self.recovery.is_none() {
            self.begin_recovery(false);
        }
        self.timer = self.timer.filter(|(_, timer)| *timer != Timer::Reordering);
        if wait > 0 {
            self.timer = Some((now + wait, Timer::Reordering));
        }
    }

    fn begin_recovery(&mut self, by_timer: bool) {
        self.threshold = (self.window * LEFT / 1024).max(2);
        let flight = self.segments.iter().filter(|segment| !segment.is_sacked).count() as u64;
        self.recovery = Some(Recovery { until: self.next, flight, delivered: 0, sent: 0, by_timer });
    }

    /// The window after so many segments have arrived.
    fn open(&mut self, delivered: u64, was_full: bool) {
        let (in_flight, is_recovering) = (self.in_flight(), self.recovery.is_some());
        match &mut self.recovery {
            Some(recovery) if !recovery.by_timer => {
                recovery.delivered += delivered;
                let allowed = if in_flight > self.threshold {
                    (recovery.delivered * self.threshold).div_ceil(recovery.flight.max(1)).saturating_sub(recovery.sent)
                } else {
                    let grown = recovery.delivered.saturating_sub(recovery.sent).max(delivered) + 1;
                    grown.min(self.threshold - in_flight)
                };
                // The first of what is lost is sent at once.
                self.window = in_flight + if recovery.sent == 0 { allowed.max(1) } else { allowed };
            }
            _ if self.window < self.threshold && (was_full || is_recovering) => {
                self.window = (self.window + delivered).min(self.threshold);
            }
            // Beyond it a handshake is too short for the window to grow.
            _ => {}
        }
    }

    /// A round trip was measured (RFC 6298 §2).
    fn measure(&mut self, round_trip: Time) {
        self.least = self.least.min(round_trip);
        if self.smoothed == 0 {
            (self.smoothed, self.deviation) = (round_trip, round_trip / 2);
        } else {
            self.deviation = (3 * self.deviation + self.smoothed.abs_diff(round_trip)) / 4;
            self.smoothed = (7 * self.smoothed + round_trip) / 8;
        }
    }

    fn timeout(&self) -> Time {
        (self.smoothed + (4 * self.deviation).max(LEAST_TIMEOUT)) << self.backoff.min(10)
    }

    /// A timer runs for what was sent: from the last acknowledgement on that told of something new, or from the sending of the first segment
    /// (RFC 6298 §5).
    fn rearm(&mut self, now: Time, from: Option<Time>) {
        if self.timer.is_some_and(|(_, timer)| timer == Timer::Reordering) {
            return;
        }
        let Some(first) = self.segments.front() else {
            self.timer = None;
            return;
        };
        let from = if self.probes { now } else { from.unwrap_or(first.sent_at) };
        let retransmission = (from + self.timeout()).max(now);
        if self.recovery.is_some() || self.probes {
            self.timer = Some((retransmission, Timer::Retransmission));
            return;
        }
        let margin = if self.segments.len() == 1 { LEAST_TIMEOUT } else { PROBE_MARGIN };
        self.timer = Some(((now + 2 * self.smoothed + margin).min(retransmission), Timer::Probe));
    }

    /// The timer has run out. What is to be sent then is what [`Sender::next`] gives.
    pub(super) fn wake(&mut self, now: Time) {
        let Some((_, timer)) = self.timer.take() else { return };
        match timer {
            Timer::Reordering => {
                self.detect(now);
                self.open(0, false);
                self.rearm(now, None);
            }
            // New data is as good; else the last segment is sent again (RFC 8985 §7.3).
            Timer::Probe => {
                self.probes = true;
                if self.next < self.written {
                    self.window = self.window.max(self.in_flight() + 1);
                } else if let Some(last) = self.segments.back_mut() {
                    last.is_lost = true;
                }
                self.window = self.window.max(self.in_flight() + 1);
                self.timer = Some((now + self.timeout(), Timer::Retransmission));
            }
            Timer::Retransmission => {
                self.begin_recovery(true);
                self.segments.iter_mut().filter(|segment| !segment.is_sacked).for_each(|segment| segment.is_lost = true);
                (self.window, self.probes) = (1, false);
                self.backoff += 1;
                self.timer = Some((now + self.timeout(), Timer::Retransmission));
            }
        }
    }
}

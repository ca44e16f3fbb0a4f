//! What is said over one connection, without a socket: bytes in, bytes out.

use reprise_trace::{Kind, Nanos};
use reprise_wire::Record;

use super::client::{Client, Heard, Thread};
use super::response::Response;
use crate::generator::fault::Fault;
use crate::generator::options::Options;
use crate::generator::tally::count_status;

/// One conversation after the other: a handshake, requests and their responses. Its memory is used again.
pub(crate) struct Conversation {
    client: Client,
    /// What has come of a record that is not whole.
    incoming: Vec<u8>,
    /// What is to be sent.
    pub(crate) outgoing: Vec<u8>,
    response: Response,
    /// Of all responses, each status with its count.
    statuses: Vec<(u16, u64)>,
    requests_left: u32,
    /// Whether this one goes before another that needs its session.
    primes: bool,
    times: Times,
}

/// When things happened; `None` for not yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) ready: Option<Nanos>,
    pub(crate) requested: Option<Nanos>,
    pub(crate) first_byte: Option<Nanos>,
    pub(crate) answered: Option<Nanos>,
}

impl Conversation {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            response: Response::default(),
            statuses: Vec::with_capacity(4),
            requests_left: 0,
            primes: false,
            times: Times::default(),
        }
    }

    /// Makes the ClientHello of a connection that is to be of this kind, under the name at this place.
    pub(crate) fn begin(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        kind: Kind,
        server_name: usize,
        now: Nanos,
    ) -> Result<(), Fault> {
        self.requests_left = options.requests;
        self.incoming.clear();
        self.outgoing.clear();
        self.response.clear();
        self.statuses.clear();
        self.times = Times::default();
        self.client.start(thread, kind, server_name, now)?;
        self.primes = kind != Kind::Full && !self.client.offers_session();
        Ok(())
    }

    /// What is sent first.
    pub(crate) fn hello(&self) -> &[u8] {
        self.client.hello()
    }

    /// So many bytes of the hello have been sent; the others are to be.
    pub(crate) fn hello_was_taken(&mut self, count: usize) {
        self.outgoing.extend_from_slice(self.client.hello().get(count..).unwrap_or_default());
    }

    /// Takes bytes from the server, which are decrypted in place; what they call for is in [`Conversation::outgoing`]. What
    /// comes after the last response is not looked at.
    pub(crate) fn receive(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        bytes: &mut [u8],
        now: Nanos,
    ) -> Result<(), Fault> {
        if self.incoming.is_empty() {
            let used = self.take_records(thread, options, bytes, now)?;
            self.incoming.extend_from_slice(bytes.get(used..).unwrap_or_default());
            return Ok(());
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.extend_from_slice(bytes);
        let taken = self.take_records(thread, options, &mut incoming, now);
        self.incoming = incoming;
        self.incoming.drain(..taken?.min(self.incoming.len()));
        Ok(())
    }

    /// The server sends nothing more.
    pub(crate) fn receive_end(&mut self, options: &Options, now: Nanos) -> Result<(), Fault> {
        if options.requests == 0 && self.client.is_confirmed() {
            return Ok(());
        }
        let is_last = self.requests_left == 1 && options.requests > 0;
        if is_last && self.response.end() && self.client.is_confirmed() {
            self.times.answered = self.times.answered.or(Some(now));
            self.requests_left = 0;
            count_status(&mut self.statuses, self.response.status(), 1);
            return Ok(());
        }
        Err(if self.is_unconfirmed() { Fault::Unconfirmed } else { Fault::ClosedEarly })
    }

    /// Whether all that was wanted has come.
    pub(crate) fn is_done(&self) -> bool {
        self.requests_left == 0 && self.client.is_confirmed()
    }

    /// Whether the server has not shown yet that it has finished, while all else stands.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.times.ready.is_some() && !self.client.is_confirmed()
    }

    /// Takes leave with a close_notify.
    pub(crate) fn take_leave(&mut self, now: Nanos) -> Result<(), Fault> {
        self.outgoing.clear();
        self.client.send_close(now, &mut self.outgoing)
    }

    /// Ends it, whatever its state. What the client has learned goes back to the thread.
    pub(crate) fn end(&mut self, thread: &mut Thread, completed: bool) {
        self.client.reset(thread, completed);
    }

    pub(crate) fn kind(&self) -> Kind {
        self.client.kind()
    }

    /// Whether it was full because there was nothing to offer.
    pub(crate) fn primes(&self) -> bool {
        self.primes
    }

    /// Whether a session was offered and refused.
    pub(crate) fn was_refused(&self) -> bool {
        self.client.offers_session() && self.client.kind() == Kind::Full
    }

    pub(crate) fn statuses(&self) -> &[(u16, u64)] {
        &self.statuses
    }

    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// Takes whole records until it is done, and says how many bytes they were.
    fn take_records(
        &mut self,
        thread: &mut Thread,
        options: &Options,
        bytes: &mut [u8],
        now: Nanos,
    ) -> Result<usize, Fault> {
        let mut used = 0;
        while !self.is_done() {
            let rest = bytes.get_mut(used..).unwrap_or_default();
            let Some((content_type, length)) = Record::parse(rest)?.map(|(record, length)| (record.content_type, length))
            else {
                return Ok(used);
            };
            used += length;
            let record = rest.get_mut(..length).unwrap_or_default();
            match self.client.receive(thread, now, content_type, record, &mut self.outgoing)? {
                Heard::Nothing => {}
                Heard::Ready => {
                    self.times.ready = Some(now);
                    if self.requests_left > 0 {
                        self.times.requested = Some(now);
                        self.client.send(now, &options.request, &mut self.outgoing)?;
                    }
                }
                // A service that is not HTTP may speak first: that it does shows that it has finished.
                Heard::Data(_) if options.requests == 0 => {}
                Heard::Data(data) => {
                    if self.requests_left == 0 {
                        return Err(Fault::BadResponse);
                    }
                    self.times.first_byte = self.times.first_byte.or(Some(now));
                    if self.response.take(data)? {
                        self.times.answered = self.times.answered.or(Some(now));
                        self.next_request(options, now)?;
                    }
                }
                Heard::Ended => self.receive_end(options, now)?,
            }
        }
        Ok(used)
    }

    fn next_request(&mut self, options: &Options, now: Nanos) -> Result<(), Fault> {
        count_status(&mut self.statuses, self.response.status(), 1);
        self.requests_left = self.requests_left.saturating_sub(1);
        if self.requests_left > 0 {
            self.response.clear();
            self.client.send(now, &options.request, &mut self.outgoing)?;
        }
        Ok(())
    }
}

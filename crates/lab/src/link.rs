//! Both ends of a connection in one thread, over memory, in virtual time: no socket, no clock, and always the same figures.
//!
//! ```text
//! client ── half a round trip ──> server ── half a round trip ──> client
//! ```

use std::io::{self, Read};
use std::sync::Arc;

use reprise_connection::{Attempt, Begin, Detail, End, Endpoint, EndpointEvent, Exchange, Fault, Input, Progress};
use reprise_model::{FailureClass, FaultName, Nanos};
use reprise_wire::Record;
use rustls::{ConnectionCommon, ServerConfig, ServerConnection};

/// A way between two endpoints. Computing takes no time on it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// From one end to the other and back.
    pub round_trip: Nanos,
}

/// What a server says to the requests that it has heard so far; `None` where it waits for more.
pub type Respond<'a> = dyn FnMut(&[u8]) -> Option<Vec<u8>> + 'a;

impl Link {
    /// Makes one connection, from virtual time zero to the end of all that was wanted. Afterwards the attempt says what was seen.
    ///
    /// # Errors
    /// The client's fault or the server's; a timeout where both wait for each other.
    pub fn connect<C: Endpoint, X: Exchange, S: Endpoint>(
        self,
        (client, shared): (&mut Attempt<C, X>, &mut C::Shared),
        begin: Begin<C::Plan>,
        (server, context): (&mut S, &mut S::Shared),
        plan: S::Plan,
        answer: &mut Respond<'_>,
    ) -> Result<(), Fault> {
        let mut far = FarEnd { side: LinkEnd::default(), server, context, answer };
        let mut now = Nanos(0);
        client.begin(shared, begin, now)?;
        far.side.begin(far.server, far.context, plan, now)?;
        client.connecting(now);
        now = now + self.round_trip;
        client.connected(now, || None)?;
        let ended = self.converse(client, shared, &mut far, now);
        let how = if ended.is_ok() { End::Completed } else { End::Failed };
        far.server.end(far.context, how);
        ended
    }

    fn converse<C: Endpoint, X: Exchange, S: Endpoint>(
        self,
        client: &mut Attempt<C, X>,
        shared: &mut C::Shared,
        far: &mut FarEnd<'_, '_, S>,
        mut now: Nanos,
    ) -> Result<(), Fault> {
        loop {
            let mut sent = client.outgoing(now).to_vec();
            client.sent(sent.len());
            let mut bytes = far.receive(&mut sent, now + Nanos(self.round_trip.0 / 2))?;
            if bytes.is_empty() {
                let (class, awaited) = client.awaited();
                return Err(Fault::new(FaultName::Timeout).at(class).with(Detail::Awaited(awaited)));
            }
            now = now + self.round_trip;
            let mut input = Input::new(&mut bytes, now);
            loop {
                match client.receive(shared, &mut input, now)? {
                    Progress::Boundary => {}
                    Progress::Done if input.is_empty() => return Ok(()),
                    Progress::Waiting if input.is_empty() => break,
                    Progress::Done | Progress::Waiting => {}
                }
            }
            if client.is_done() {
                return Ok(());
            }
        }
    }
}

struct FarEnd<'a, 'f, S: Endpoint> {
    side: LinkEnd,
    server: &'a mut S,
    context: &'a mut S::Shared,
    answer: &'a mut Respond<'f>,
}

impl<S: Endpoint> FarEnd<'_, '_, S> {
    /// What it says to these records.
    fn receive(&mut self, records: &mut Vec<u8>, now: Nanos) -> Result<Vec<u8>, Fault> {
        self.side.receive(self.server, self.context, now, records)?;
        if let Some(said) = (self.answer)(&self.side.heard) {
            self.side.heard.clear();
            self.server.send(now, &said, &mut self.side.sent)?;
        }
        Ok(std::mem::take(&mut self.side.sent))
    }
}

/// One end of a connection in memory: what it has said and its peer has not heard yet, and what it has heard.
#[derive(Clone, Debug, Default)]
pub struct LinkEnd {
    /// Records on their way to the peer, which whoever moves them takes away.
    pub sent: Vec<u8>,
    /// Application data, until somebody takes it away.
    pub heard: Vec<u8>,
    /// Whether the handshake is complete.
    pub is_ready: bool,
    /// Whether the peer has said close_notify.
    pub is_closed: bool,
}

impl LinkEnd {
    /// Begins another connection; its buffers keep their room.
    ///
    /// # Errors
    /// Those of [`Endpoint::begin`].
    pub fn begin<E: Endpoint + ?Sized>(
        &mut self,
        endpoint: &mut E,
        shared: &mut E::Shared,
        plan: E::Plan,
        now: Nanos,
    ) -> Result<(), Fault> {
        (self.is_ready, self.is_closed) = (false, false);
        self.sent.clear();
        self.heard.clear();
        endpoint.begin(shared, plan, now, &mut self.sent)
    }

    /// Hands the peer's records to the endpoint, and leaves `incoming` empty.
    ///
    /// # Errors
    /// The endpoint's, and what it has to say of it is in `sent`; or that there is no record.
    pub fn receive<E: Endpoint + ?Sized>(
        &mut self,
        endpoint: &mut E,
        shared: &mut E::Shared,
        now: Nanos,
        incoming: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut rest = incoming.as_mut_slice();
        let malformed = |_| Fault::new(FaultName::Malformed);
        while let Some((_, length)) = Record::parse(rest).map_err(malformed)? {
            let (record, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            match endpoint.receive(shared, now, record, &mut self.sent)? {
                EndpointEvent::Nothing => {}
                EndpointEvent::Ready => self.is_ready = true,
                EndpointEvent::Data(data) => self.heard.extend_from_slice(data),
                EndpointEvent::Closed => self.is_closed = true,
            }
        }
        incoming.clear();
        Ok(())
    }
}

/// A turn of a connection of rustls in memory: it takes `incoming`, and appends to `out` what it has to say, its alert too
/// where it refuses. Application data is appended to `heard`.
///
/// # Errors
/// What rustls says of its peer.
pub fn rustls_turn<Data>(
    connection: &mut ConnectionCommon<Data>,
    mut incoming: &[u8],
    heard: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), rustls::Error> {
    let room = |error: io::Error| rustls::Error::General(error.to_string());
    let mut taken = Ok(());
    // It takes a few kilobytes at a time, and nothing more after a close_notify.
    while taken.is_ok() && !incoming.is_empty() && connection.read_tls(&mut incoming).map_err(room)? > 0 {
        taken = connection.process_new_packets().map(drop);
        // It ends in an error where there may be more to come.
        let _ = connection.reader().read_to_end(heard);
    }
    while connection.wants_write() {
        connection.write_tls(out).map_err(room)?;
    }
    taken
}

/// A rustls server as an endpoint.
#[derive(Default)]
pub struct RustlsServer {
    connection: Option<ServerConnection>,
    was_ready: bool,
}

impl RustlsServer {
    fn connection(&mut self) -> Result<&mut ServerConnection, Fault> {
        self.connection.as_mut().ok_or(Fault::new(FaultName::Closed))
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        rustls_turn(self.connection()?, &[], &mut Vec::new(), out).map_err(|error| refused(&error))
    }
}

impl Endpoint for RustlsServer {
    type Shared = ();
    type Plan = Arc<ServerConfig>;

    fn begin(&mut self, _shared: &mut (), plan: Self::Plan, _now: Nanos, _out: &mut Vec<u8>) -> Result<(), Fault> {
        self.was_ready = false;
        self.connection = Some(ServerConnection::new(plan).map_err(|error| refused(&error))?);
        Ok(())
    }

    fn receive<'r>(
        &mut self,
        _shared: &mut (),
        _now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        let connection = self.connection()?;
        let mut data = Vec::new();
        let taken = rustls_turn(connection, record, &mut data, out);
        if let Some(mut early) = connection.early_data() {
            let _ = early.read_to_end(&mut data);
        }
        let is_ready = !connection.is_handshaking();
        taken.map_err(|error| refused(&error))?;
        let state = connection.process_new_packets().map_err(|error| refused(&error))?;
        if !data.is_empty() {
            // What a record holds is shorter than the record.
            let place = record.get_mut(..data.len()).ok_or(Fault::new(FaultName::TooLarge))?;
            place.copy_from_slice(&data);
            return Ok(EndpointEvent::Data(place));
        }
        Ok(match (is_ready && !std::mem::replace(&mut self.was_ready, is_ready), state.peer_has_closed()) {
            (true, _) => EndpointEvent::Ready,
            (false, true) => EndpointEvent::Closed,
            (false, false) => EndpointEvent::Nothing,
        })
    }

    fn receive_end(&mut self, _now: Nanos, _in_record: bool, _out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.was_ready { Ok(()) } else { Err(Fault::new(FaultName::ClosedEarly)) }
    }

    fn send(&mut self, _now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        use std::io::Write;
        let written = self.connection()?.writer().write_all(data);
        written.map_err(|error| Fault::of_transport(FailureClass::Request, "room", &error))?;
        self.flush(out)
    }

    fn close(&mut self, _now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.connection()?.send_close_notify();
        self.flush(out)
    }

    /// rustls tells a server less than a client is told: nothing is claimed.
    fn facts(&self) -> Option<reprise_model::Facts> {
        None
    }

    fn is_confirmed(&self) -> bool {
        self.was_ready
    }

    fn end(&mut self, _shared: &mut (), _how: End) {
        self.connection = None;
    }
}

fn refused(error: &rustls::Error) -> Fault {
    Fault::new(FaultName::PeerMisbehaved).with(Detail::Said(error.to_string().into_bytes()))
}

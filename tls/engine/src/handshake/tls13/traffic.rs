//! After the handshake: NewSessionTicket and KeyUpdate (RFC 9846 §4.7).

use reprise_wire::{HandshakeType, KeyUpdate, NewSessionTicketTls13, frame};

use crate::core::Core;
use crate::error::Error;
use crate::handshake::State;
use crate::handshake::checks::unexpected;
use crate::joiner::Message;
use crate::key_schedule::tls13::{ResumptionSecret, TrafficSecret};
use crate::protection::{Opener, Sealer};
use crate::session::{Receipt, Session, Tls13Ticket};
use crate::suite::Suite;

/// Tickets that are read; the engine keeps fewer, but must not derive keys for ever.
const MAX_TICKETS: usize = 1024;

pub(crate) struct ExpectTraffic {
    suite: &'static Suite,
    resumption: ResumptionSecret,
    client: TrafficSecret,
    server: TrafficSecret,
    tickets: usize,
    /// Whether the server owes us a KeyUpdate.
    update_owed: bool,
}

impl ExpectTraffic {
    pub(super) fn new(
        suite: &'static Suite,
        resumption: ResumptionSecret,
        client: TrafficSecret,
        server: TrafficSecret,
    ) -> Self {
        Self { suite, resumption, client, server, tickets: 0, update_owed: false }
    }

    pub(crate) fn handle(mut self: Box<Self>, core: &mut Core, message: &Message<'_>) -> Result<State, Error> {
        core.confirmed = true;
        match message.msg_type {
            HandshakeType::NEW_SESSION_TICKET => self.take_ticket(core, message.body)?,
            HandshakeType::KEY_UPDATE => self.follow_update(core, message)?,
            _ => return Err(unexpected(message, "application data")),
        }
        Ok(State::Tls13Traffic(self))
    }

    fn take_ticket(&mut self, core: &mut Core, body: &[u8]) -> Result<(), Error> {
        self.tickets += 1;
        if self.tickets > MAX_TICKETS {
            return Err(Error::TooMany { what: "NewSessionTicket", limit: MAX_TICKETS });
        }
        let ticket = NewSessionTicketTls13::parse(body).map_err(Error::malformed("NewSessionTicket"))?;
        core.note_ticket(ticket.ticket, ticket.lifetime, ticket.max_early_data_size());
        core.keep_session(Session::Tls13(Tls13Ticket {
            suite: self.suite,
            psk: self.resumption.psk(ticket.nonce)?,
            ticket: ticket.ticket.to_vec(),
            lifetime: ticket.lifetime,
            age_add: ticket.age_add,
            max_early_data: ticket.max_early_data_size(),
            received: Receipt::fresh(core.now),
            alpn: core.protocol.clone(),
            leaf: None,
        }));
        Ok(())
    }

    /// Updates the keys in which we send, and asks the server to update its own, unless it owes us that already.
    pub(crate) fn update_keys(&mut self, core: &mut Core, ask_server: bool) -> Result<(), Error> {
        if ask_server && self.update_owed {
            return Err(Error::NoKeyUpdate("the server has not answered the last request yet"));
        }
        self.update_owed |= ask_server;
        self.send_update(core, ask_server)
    }

    fn follow_update(&mut self, core: &mut Core, message: &Message<'_>) -> Result<(), Error> {
        if !std::mem::take(&mut self.update_owed) {
            core.count_idle("KeyUpdate")?;
        }
        let update = KeyUpdate::parse(message.body).map_err(Error::malformed("KeyUpdate"))?;
        message.ends_record()?;
        self.server = self.server.next()?;
        core.receive_under(Opener::tls13(self.suite, &self.server)?);
        if update.request_update && !core.closed {
            self.send_update(core, false)?;
        }
        Ok(())
    }

    /// The KeyUpdate itself is the last under the old keys (RFC 9846 §4.7.3).
    fn send_update(&mut self, core: &mut Core, request_update: bool) -> Result<(), Error> {
        let mut message = Vec::new();
        frame(&mut message, HandshakeType::KEY_UPDATE, |out| KeyUpdate { request_update }.emit(out));
        core.send_handshake(&message)?;
        self.client = self.client.next()?;
        core.send_under(Sealer::tls13(self.suite, &self.client)?);
        Ok(())
    }
}

//! The end of a TLS 1.2 handshake: NewSessionTicket, ChangeCipherSpec, Finished. In a full handshake the server speaks
//! last, in an abbreviated one the client (RFC 5246 §7.3).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use reprise_wire::{Finished, Handshake, HandshakeType, NewSessionTicketTls12};

use super::{Handshake12, client_flight, useful};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::{State, expect};
use crate::key_schedule::tls12::{KeyBlock, MasterSecret};
use crate::protection::{Opener, Sealer};
use crate::session::{Session, Tls12Session, Tls12Ticket};

/// Who sends the last Finished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A full handshake.
    ServerLast,
    /// An abbreviated one.
    ClientLast,
}

/// The server has taken the session: its Finished comes first.
pub(super) fn begin_abbreviated(handshake: Handshake12, session: Tls12Session) -> Result<State, Error> {
    let master = session.master_secret;
    let suite = handshake.handshaking.suite;
    let keys = master.key_block(suite, &handshake.handshaking.client_random, &handshake.server_random)?;
    Ok(State::Tls12TicketOrCcs(Box::new(ExpectTicketOrCcs {
        handshake,
        master,
        keys,
        // A ticket that is not renewed stays good.
        ticket: session.ticket,
        order: Order::ClientLast,
    })))
}

pub(crate) struct ExpectTicketOrCcs {
    pub(super) handshake: Handshake12,
    pub(super) master: MasterSecret,
    pub(super) keys: KeyBlock,
    pub(super) ticket: Option<Tls12Ticket>,
    pub(super) order: Order,
}

impl ExpectTicketOrCcs {
    pub(crate) fn handle(mut self: Box<Self>, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let body = expect(message, HandshakeType::NEW_SESSION_TICKET)?;
        let ticket = NewSessionTicketTls12::parse(body).map_err(Error::malformed("NewSessionTicket"))?;
        self.handshake.handshaking.transcript.add(message.raw);
        if let Some(ticket) = useful(ticket.ticket, ticket.lifetime_hint) {
            core.note(|outcome| outcome.tickets += 1);
            self.ticket = Some(ticket);
        }
        Ok(State::Tls12TicketOrCcs(self))
    }

    pub(crate) fn handle_change_cipher_spec(self, core: &mut Core) -> Result<State, Error> {
        let Self { handshake, master, keys, ticket, order } = self;
        if order == Order::ClientLast {
            let random = &handshake.handshaking.client_random;
            core.log_secret("CLIENT_RANDOM", random, master.as_bytes());
        }
        core.receive_under(Opener::tls12(handshake.handshaking.suite, &keys.server)?);
        Ok(State::Tls12Finished(Box::new(ExpectFinished { handshake, master, keys, ticket, order })))
    }
}

pub(crate) struct ExpectFinished {
    handshake: Handshake12,
    master: MasterSecret,
    keys: KeyBlock,
    ticket: Option<Tls12Ticket>,
    order: Order,
}

impl ExpectFinished {
    pub(crate) fn handle(mut self: Box<Self>, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let body = expect(message, HandshakeType::FINISHED)?;
        let received = Finished::parse(body).map_err(Error::malformed("Finished"))?;
        let handshaking = &mut self.handshake.handshaking;
        let suite = handshaking.suite;
        let due = self.master.server_finished(suite, handshaking.transcript.current().as_ref())?;
        verify_slices_are_equal(&due, received.verify_data).map_err(|_| Misbehaviour::BadFinished)?;
        handshaking.transcript.add(message.raw);

        if self.order == Order::ClientLast {
            core.send_change_cipher_spec()?;
            core.send_under(Sealer::tls12(suite, &self.keys.client)?);
            client_flight::send_finished(core, &mut self.handshake, &self.master)?;
        }
        core.become_ready();
        core.confirmed = true;
        self.keep_session(core);
        Ok(State::Tls12Traffic(Traffic))
    }

    fn keep_session(self, core: &mut Core) {
        if self.ticket.is_none() && self.handshake.session_id.is_empty() {
            return;
        }
        core.keep_session(Session::Tls12(Tls12Session {
            suite: self.handshake.handshaking.suite,
            master_secret: self.master,
            extended_master_secret: self.handshake.extended_master_secret,
            session_id: self.handshake.session_id,
            ticket: self.ticket,
            received_at: core.now,
        }));
    }
}

/// The handshake is done; a TLS 1.2 server sends nothing more than data.
pub(crate) struct Traffic;

//! The end of a TLS 1.2 handshake: NewSessionTicket, ChangeCipherSpec, Finished. In a full handshake the server speaks
//! last, in an abbreviated one the client (RFC 5246 §7.3).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use reprise_wire::{Finished, Handshake, HandshakeType, NewSessionTicketTls12};

use super::Handshake12;
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::State;
use crate::handshake::checks::expect;
use crate::key_schedule::tls12::{KeyBlock, MasterSecret};
use crate::protection::{Opener, Sealer};
use crate::session::{Receipt, Session, Tls12Session, Tls12Ticket};

/// Who sends the last Finished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// A full handshake.
    ServerLast,
    /// An abbreviated one.
    ClientLast,
}

/// What the last states carry.
pub(super) struct LastFlights {
    pub(super) handshake: Handshake12,
    pub(super) master: MasterSecret,
    pub(super) keys: KeyBlock,
    /// The ticket of the session that is resumed.
    pub(super) ticket: Option<Tls12Ticket>,
    pub(super) order: Order,
    /// When the session came that is resumed; `None` where there is none, or the server gives another ticket.
    pub(super) since: Option<Receipt>,
}

impl LastFlights {
    /// What the server sends first.
    pub(super) fn begin(self) -> State {
        if self.handshake.ticket_due {
            State::Tls12Ticket(Box::new(ExpectTicket(self)))
        } else {
            State::Tls12ChangeCipherSpec(Box::new(ExpectChangeCipherSpec(self)))
        }
    }
}

pub(crate) struct ExpectTicket(LastFlights);

impl ExpectTicket {
    pub(crate) fn handle(self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let Self(mut flights) = self;
        let NewSessionTicketTls12 { lifetime_hint, ticket } =
            expect(message, HandshakeType::NEW_SESSION_TICKET, NewSessionTicketTls12::parse)?;
        flights.handshake.handshaking.transcript.add(message.raw);
        // An empty one says that the server has changed its mind (RFC 5077 §3.3).
        if !ticket.is_empty() {
            core.note_ticket(ticket, lifetime_hint, None);
            flights.ticket = Some(Tls12Ticket { ticket: ticket.to_vec(), lifetime_hint });
            flights.since = None;
        }
        Ok(State::Tls12ChangeCipherSpec(Box::new(ExpectChangeCipherSpec(flights))))
    }
}

pub(crate) struct ExpectChangeCipherSpec(LastFlights);

impl ExpectChangeCipherSpec {
    pub(crate) fn handle_change_cipher_spec(self, core: &mut Core) -> Result<State, Error> {
        let Self(flights) = self;
        core.receive_under(Opener::tls12(flights.handshake.handshaking.suite, &flights.keys.server)?);
        Ok(State::Tls12Finished(Box::new(ExpectFinished(flights))))
    }
}

pub(crate) struct ExpectFinished(LastFlights);

impl ExpectFinished {
    pub(crate) fn handle(self, core: &mut Core, message: &Handshake<'_>) -> Result<State, Error> {
        let Self(LastFlights { mut handshake, master, keys, ticket, order, since }) = self;
        let received = expect(message, HandshakeType::FINISHED, Finished::parse)?;
        let suite = handshake.handshaking.suite;
        let due = master.server_finished(suite, handshake.handshaking.transcript.current().as_ref())?;
        verify_slices_are_equal(&due, received.verify_data).map_err(|_| Misbehaviour::BadFinished)?;
        handshake.handshaking.transcript.add(message.raw);

        if order == Order::ClientLast {
            core.send_change_cipher_spec();
            core.send_under(Sealer::tls12(suite, &keys.client)?);
            send_finished(core, &mut handshake, &master)?;
        }
        core.become_ready();
        core.confirmed = true;
        if ticket.is_some() || !handshake.session_id.is_empty() {
            core.keep_session(Session::Tls12(Tls12Session {
                suite,
                master_secret: master,
                extended_master_secret: handshake.extended_master_secret,
                session_id: handshake.session_id,
                ticket,
                received: since.unwrap_or(Receipt::fresh(core.now)),
                leaf: None,
            }));
        }
        Ok(State::Tls12Traffic(ExpectTraffic))
    }
}

/// The client's Finished over all that went before.
pub(super) fn send_finished(core: &mut Core, handshake: &mut Handshake12, master: &MasterSecret) -> Result<(), Error> {
    let transcript = handshake.handshaking.transcript.current();
    let verify_data = master.client_finished(handshake.handshaking.suite, transcript.as_ref())?;
    handshake.send(core, HandshakeType::FINISHED, |out| Finished { verify_data: &verify_data }.emit(out))
}

/// The handshake is done; a TLS 1.2 server sends nothing more than data.
pub(crate) struct ExpectTraffic;

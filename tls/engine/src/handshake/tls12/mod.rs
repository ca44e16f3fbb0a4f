//! TLS 1.2 from the ServerHello on (RFC 5246 §7.4).

mod authentication;
mod client_flight;
mod finished;
mod server_hello;

pub(crate) use authentication::{ExpectCertificate, ExpectRequestOrDone, ExpectServerKeyExchange};
pub(crate) use finished::{ExpectChangeCipherSpec, ExpectFinished, ExpectTicket, ExpectTraffic};
pub(crate) use server_hello::accept;

use reprise_wire::HandshakeType;

use super::Handshaking;
use crate::core::Core;
use crate::error::Error;

/// What all states of a TLS 1.2 handshake carry.
struct Handshake12 {
    handshaking: Handshaking,
    server_random: [u8; 32],
    extended_master_secret: bool,
    /// Whether the server has announced a ticket (RFC 5077 §3.2).
    ticket_due: bool,
    /// The ID that the server gave, of use for a later connection.
    session_id: Vec<u8>,
}

impl Handshake12 {
    /// One message in its own record, as servers of TLS 1.2 are used to.
    fn send(&mut self, core: &mut Core, msg_type: HandshakeType, body: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        let mut message = Vec::new();
        self.handshaking.append(&mut message, msg_type, body);
        core.send_handshake(&message)
    }
}

//! TLS 1.2 after the ServerHello (RFC 5246 §7.4).

mod authentication;
mod client_flight;
mod finished;

pub(crate) use authentication::{ExpectCertificate, ExpectRequestOrDone, ExpectServerKeyExchange};
pub(crate) use finished::{ExpectFinished, ExpectTicketOrCcs, Traffic};

use reprise_trace::Kind;
use reprise_wire::{ExtensionType, Reader, ServerHello};

use super::{Handshaking, State, accept_alpn, only};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::session::{Offer, Tls12Session, Tls12Ticket};

/// What all states of a TLS 1.2 handshake carry.
pub(super) struct Handshake12 {
    handshaking: Handshaking,
    server_random: [u8; 32],
    extended_master_secret: bool,
    /// The ID that the server gave, of use for a later connection.
    session_id: Vec<u8>,
}

/// The server has chosen; whether it resumes shows in its session ID.
pub(super) fn begin(
    core: &mut Core,
    handshaking: Handshaking,
    hello: &ServerHello<'_>,
    offer: Offer,
    offered_id: &[u8],
) -> Result<State, Error> {
    let extensions = hello.extensions.unwrap_or_default();
    let config = core.config.clone();
    only(extensions, |extension| match extension {
        ExtensionType::SERVER_NAME => config.sni.is_some(),
        ExtensionType::APPLICATION_LAYER_PROTOCOL_NEGOTIATION => !config.alpn.is_empty(),
        ExtensionType::SESSION_TICKET => matches!(offer, Offer::Full { session_ticket: true } | Offer::SessionTicket(_)),
        ExtensionType::EXTENDED_MASTER_SECRET | ExtensionType::RENEGOTIATION_INFO | ExtensionType::EC_POINT_FORMATS => true,
        _ => false,
    })?;
    if let Some(body) = extensions.find(ExtensionType::RENEGOTIATION_INFO) {
        check_renegotiation_info(body)?;
    }
    accept_alpn(core, extensions)?;
    let extended_master_secret = extensions.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some();
    core.note(|outcome| outcome.extended_master_secret = extended_master_secret);

    let echoed = !hello.session_id.is_empty() && hello.session_id == offered_id;
    let (session, kind) = match offer {
        Offer::SessionId(session) if echoed => (session, Kind::Id),
        Offer::SessionTicket(session) if echoed => (session, Kind::Ticket),
        // RFC 8446 §4.1.3: a random ID that belongs to no session can be echoed by TLS 1.3 alone.
        _ if echoed => return Err(Misbehaviour::IllegalValue("it resumes a session that was not offered").into()),
        _ => {
            core.note(|outcome| outcome.session_id_given = !hello.session_id.is_empty());
            let handshake = Handshake12 {
                handshaking,
                server_random: *hello.random,
                extended_master_secret,
                session_id: hello.session_id.to_vec(),
            };
            return Ok(State::Tls12Certificate(Box::new(ExpectCertificate { handshake })));
        }
    };
    check_resumption(&session, &handshaking, extended_master_secret)?;
    core.note(|outcome| {
        outcome.kind = kind;
        outcome.session_id_given = kind == Kind::Id;
    });
    // The echo of a random ID is no ID to offer again.
    let session_id = if kind == Kind::Id { hello.session_id.to_vec() } else { Vec::new() };
    let handshake = Handshake12 { handshaking, server_random: *hello.random, extended_master_secret, session_id };
    finished::begin_abbreviated(handshake, session)
}

/// A session resumes as it was made (RFC 5246 §7.4.1.3, RFC 7627 §5.3).
fn check_resumption(session: &Tls12Session, handshaking: &Handshaking, ems: bool) -> Result<(), Error> {
    if session.suite != handshaking.suite {
        return Err(Misbehaviour::ResumedDifferently("cipher suite").into());
    }
    if session.extended_master_secret != ems {
        return Err(Misbehaviour::ResumedDifferently("derivation of the master secret").into());
    }
    Ok(())
}

fn check_renegotiation_info(body: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(body);
    let verify_data = reader.vec8().map_err(Error::malformed("renegotiation_info"))?;
    reader.finish().map_err(Error::malformed("renegotiation_info"))?;
    if verify_data.is_empty() { Ok(()) } else { Err(Misbehaviour::RenegotiationInfo.into()) }
}

/// A ticket that has content: an empty one says that the server changed its mind (RFC 5077 §3.3).
fn useful(ticket: &[u8], lifetime_hint: u32) -> Option<Tls12Ticket> {
    (!ticket.is_empty()).then(|| Tls12Ticket { ticket: ticket.to_vec(), lifetime_hint })
}

//! The ServerHello of TLS 1.2: whether the server resumes shows in its session ID (RFC 5246 §7.4.1.3, RFC 5077 §3.4).

use reprise_model::{Kind, Version};
use reprise_wire::extensions::{EcPointFormats, Empty, RenegotiationInfo};
use reprise_wire::{ContentType, ExtensionType, Extensions, Handshake, ServerHello};

use super::finished::{self, Order};
use super::{ExpectCertificate, Handshake12};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::checks::{Place, accept_alpn, accept_record_size, chosen_suite, only_permitted, read};
use crate::handshake::first_flight::ExpectServerHello;
use crate::handshake::{Handshaking, State};
use crate::offer::Offer;
use crate::session::Tls12Session;
use crate::suite::Suite;

pub(crate) fn accept(
    state: ExpectServerHello,
    core: &mut Core,
    message: &Handshake<'_>,
    hello: &ServerHello<'_>,
) -> Result<State, Error> {
    if core.config.versions.contains(&Version::Tls13) && hello.downgrade_sentinel().is_some() {
        return Err(Misbehaviour::Downgraded.into());
    }
    if core.change_cipher_spec_received {
        // It was let pass as one of TLS 1.3; in TLS 1.2 it has a meaning, and its place.
        let (received, expected) = (ContentType::CHANGE_CIPHER_SPEC, "ServerHello");
        return Err(Misbehaviour::UnexpectedRecord { received, expected }.into());
    }
    let suite = chosen_suite(core, hello, Version::Tls12)?;
    core.observe_choice(Version::Tls12, suite, state.session_offered);
    let extensions = hello.extensions.unwrap_or_default();
    only_permitted(core, extensions, Place::ServerHelloTls12)?;
    let extended_master_secret = accept_extensions(core, extensions)?;

    let ExpectServerHello { offer, client_random, session_id: offered_id, .. } = state;
    let mut transcript = ExpectServerHello::transcript(None, core, suite);
    if core.config.identity.is_some() {
        transcript.keep_messages(core.offered.message());
    }
    transcript.add(message.raw);
    let mut handshake = Handshake12 {
        handshaking: Handshaking { suite, transcript, client_random },
        server_random: *hello.random,
        extended_master_secret,
        ticket_due: extensions.contains(ExtensionType::SESSION_TICKET),
        session_id: hello.session_id.to_vec(),
    };

    let echoed = !hello.session_id.is_empty() && hello.session_id == offered_id;
    let (session, kind) = match offer {
        Offer::SessionId(session) if echoed => (session, Kind::Id),
        Offer::SessionTicket(session) if echoed => (session, Kind::Ticket),
        // RFC 9846 §4.2.3: a random ID that belongs to no session can be echoed by TLS 1.3 alone.
        _ if echoed => return Err(Misbehaviour::IllegalValue("it resumes a session that was not offered").into()),
        _ => {
            core.note(|facts| facts.session_id_given = !hello.session_id.is_empty());
            return Ok(State::Tls12Certificate(Box::new(ExpectCertificate { handshake })));
        }
    };
    core.note(|facts| {
        facts.kind = kind;
        facts.session_id_given = kind == Kind::Id;
    });
    check_resumption(&session, suite, extended_master_secret)?;
    if kind == Kind::Ticket {
        // The echo of a random ID is no ID to offer again.
        handshake.session_id.clear();
    }
    let master = session.master_secret;
    let keys = master.key_block(suite, &client_random, &handshake.server_random)?;
    core.log_secret("CLIENT_RANDOM", &client_random, master.as_bytes());
    // A ticket that is not renewed stays good.
    let (ticket, since) = (session.ticket, Some(session.received));
    Ok(finished::LastFlights { handshake, master, keys, ticket, order: Order::ClientLast, since }.begin())
}

/// Reads what the server answers; returns whether it uses the extended master secret (RFC 7627).
fn accept_extensions(core: &mut Core, extensions: Extensions<'_>) -> Result<bool, Error> {
    let renegotiation = read(extensions, ExtensionType::RENEGOTIATION_INFO, RenegotiationInfo::parse)?;
    if renegotiation.is_some_and(|info| !info.renegotiated_connection.is_empty()) {
        return Err(Misbehaviour::RenegotiationInfo.into());
    }
    read(extensions, ExtensionType::SERVER_NAME, Empty::parse)?;
    read(extensions, ExtensionType::SESSION_TICKET, Empty::parse)?;
    let formats = read(extensions, ExtensionType::EC_POINT_FORMATS, EcPointFormats::parse)?;
    if formats.is_some_and(|list| !list.formats.contains(&EcPointFormats::UNCOMPRESSED)) {
        // RFC 8422 §5.1.2: the one format in use.
        return Err(Misbehaviour::IllegalValue("its ec_point_formats lacks uncompressed").into());
    }
    accept_alpn(core, extensions)?;
    accept_record_size(core, extensions, Version::Tls12)?;
    let extended = read(extensions, ExtensionType::EXTENDED_MASTER_SECRET, Empty::parse)?.is_some();
    core.note(|facts| facts.extended_master_secret = extended);
    Ok(extended)
}

/// A session resumes as it was made (RFC 5246 §7.4.1.3, RFC 7627 §5.3).
fn check_resumption(session: &Tls12Session, suite: &Suite, extended_master_secret: bool) -> Result<(), Error> {
    if session.suite != suite {
        return Err(Misbehaviour::ResumedDifferently("cipher suite").into());
    }
    if session.extended_master_secret != extended_master_secret {
        return Err(Misbehaviour::ResumedDifferently("derivation of the master secret").into());
    }
    Ok(())
}

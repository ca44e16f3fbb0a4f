//! The ServerHello of TLS 1.3: the PSK, the key share, the handshake keys (RFC 9846 §4.2.3, §4.3.8, §4.3.11).

use reprise_model::{HelloRetry, PskMode, Version, key_share_ending};
use reprise_wire::extensions::{KeyShareServerHello, SelectedPsk};
use reprise_wire::{ExtensionType, Extensions, ServerHello};

use super::{ClientCertificate, ExpectEncryptedExtensions, Handshake13, HandshakeKeys};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::checks::{Place, check_group, chosen_suite, only_permitted, read};
use crate::handshake::first_flight::ExpectServerHello;
use crate::handshake::{Handshaking, State};
use crate::joiner::Message;
use crate::key_schedule::tls13::EarlySecret;
use crate::key_share::SharedSecret;
use crate::protection::{Opener, Sealer};
use crate::suite::Suite;

const NO_KEY_SHARE: Misbehaviour =
    Misbehaviour::MissingExtension { message: "ServerHello", extension: ExtensionType::KEY_SHARE };

pub(crate) fn accept(
    state: ExpectServerHello,
    core: &mut Core,
    message: &Message<'_>,
    hello: &ServerHello<'_>,
) -> Result<State, Error> {
    let suite = chosen_suite(core, hello, Version::Tls13)?;
    if state.retried.as_ref().is_some_and(|retry| retry.suite != suite) {
        return Err(Misbehaviour::ChangedAfterRetry("the cipher suite").into());
    }
    state.check_echo(hello)?;
    let extensions = hello.extensions.unwrap_or_default();
    only_permitted(core, extensions, Place::ServerHelloTls13)?;
    core.observe_choice(Version::Tls13, suite, state.session_offered);
    let hello_retry =
        state.retried.as_ref().map(|retry| HelloRetry { shared: retry.shared, wanted: retry.group.map(|it| it.0) });
    core.note(|facts| facts.hello_retry = hello_retry);

    let resumed = accept_psk(&state, core, extensions, suite)?;
    if !resumed {
        core.reject_early_data();
    }
    let shared = if resumed && accept_psk_mode(core, extensions)? == PskMode::PskKe {
        None
    } else {
        Some(agree(&state, core, extensions)?)
    };
    let ExpectServerHello { client_random, early, retried, .. } = state;
    let early = match early {
        Some(early) if resumed => early,
        _ => EarlySecret::new(suite.hash, None)?,
    };
    let mut transcript = ExpectServerHello::transcript(retried, core, suite);
    transcript.add(message.raw);
    message.ends_record()?;
    let keys = handshake_keys(core, suite, early, shared, transcript.current().as_ref(), &client_random)?;
    let handshaking = Handshaking { suite, transcript, client_random };
    let handshake = Handshake13 { handshaking, keys, client_certificate: ClientCertificate::NotRequested };
    Ok(State::Tls13EncryptedExtensions(Box::new(ExpectEncryptedExtensions { handshake, resumed })))
}

/// Whether the server took the PSK that was offered.
fn accept_psk(state: &ExpectServerHello, core: &mut Core, extensions: Extensions<'_>, suite: &Suite) -> Result<bool, Error> {
    let Some(selected) = read(extensions, ExtensionType::PRE_SHARED_KEY, SelectedPsk::parse)? else { return Ok(false) };
    match state.offer.psk() {
        Some(psk) if selected.selected_identity == u16::from(core.config.shape.decoys) => {
            if psk.hash() != suite.hash {
                return Err(Misbehaviour::PskOfAnotherHash(suite.id).into());
            }
            core.note(|facts| facts.kind = psk.kind());
            Ok(true)
        }
        _ => Err(Misbehaviour::IllegalPsk.into()),
    }
}

/// The mode in which the PSK is used, which the presence of a key share tells (RFC 9846 §4.3.9).
fn accept_psk_mode(core: &mut Core, extensions: Extensions<'_>) -> Result<PskMode, Error> {
    let offered = &core.config.tls13.psk_modes;
    let mode = match extensions.contains(ExtensionType::KEY_SHARE) {
        true if offered.contains(&PskMode::PskDheKe) => PskMode::PskDheKe,
        true => return Err(Misbehaviour::UnofferedPskMode.into()),
        false if offered.contains(&PskMode::PskKe) => PskMode::PskKe,
        false => return Err(NO_KEY_SHARE.into()),
    };
    core.note(|facts| facts.psk_mode = Some(mode));
    Ok(mode)
}

/// The (EC)DHE secret with the server's share.
fn agree(state: &ExpectServerHello, core: &mut Core, extensions: Extensions<'_>) -> Result<SharedSecret, Error> {
    let theirs = read(extensions, ExtensionType::KEY_SHARE, KeyShareServerHello::parse)?.ok_or(NO_KEY_SHARE)?.server_share;
    let Some(ours) = state.key_shares.iter().find(|share| share.group() == theirs.group) else {
        check_group(core, theirs.group)?;
        let asked = state.retried.as_ref().and_then(|retry| retry.group);
        return Err(match asked {
            Some(_) => Misbehaviour::ChangedAfterRetry("the group").into(),
            None => Misbehaviour::UnofferedGroup(theirs.group).into(),
        });
    };
    core.note(|facts| {
        (facts.group, facts.key_share) = (Some(theirs.group.0), key_share_ending(theirs.key_exchange));
    });
    ours.agree(theirs.key_exchange)
}

/// From here on both sides' handshake messages are encrypted.
fn handshake_keys(
    core: &mut Core,
    suite: &'static Suite,
    early: EarlySecret,
    shared: Option<SharedSecret>,
    transcript: &[u8],
    client_random: &[u8; 32],
) -> Result<HandshakeKeys, Error> {
    let secret = early.handshake(shared.as_ref().map(|shared| &shared[..]))?;
    let client = secret.client_traffic(transcript)?;
    let server = secret.server_traffic(transcript)?;
    core.log_secret("CLIENT_HANDSHAKE_TRAFFIC_SECRET", client_random, client.as_bytes());
    core.log_secret("SERVER_HANDSHAKE_TRAFFIC_SECRET", client_random, server.as_bytes());
    core.receive_under(Opener::tls13(suite, &server)?);
    if !core.early_data.is_unanswered() {
        // Otherwise the keys of the early data stay in force until the server says what becomes of it.
        core.send_under(Sealer::tls13(suite, &client)?);
    }
    Ok(HandshakeKeys { secret, client, server })
}

//! One connection: handshake, what the runner wants to see, the echo, the end.

use std::sync::Arc;

use reprise_engine::{Offer, Session};
use reprise_model::{EarlyData, Kind, Version};
use rustls_pki_types::CertificateDer;

use crate::client;
use crate::expectations;
use crate::exporter::Exporter;
use crate::failure::Failure;
use crate::flags::Address;
use crate::settings::Settings;
use crate::verifier::ToldVerifier;
use crate::wire::{Clock, Incoming, Wire};

/// What one connection leaves for the next.
pub(crate) struct Remembered {
    pub(crate) session: Session,
    /// The chain by which the server authenticated itself when the session was made.
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) group: Option<String>,
    pub(crate) signature: Option<String>,
}

/// Makes the connection; returns the session that it gave, if it gave one. Once early data was rejected, `retry` holds.
pub(crate) fn exchange(
    address: &Address,
    settings: &Settings,
    retry: &Settings,
    remembered: Option<Remembered>,
    clock: Clock,
) -> Result<Option<Remembered>, Failure> {
    let verifier = Arc::new(ToldVerifier::new(settings.verify_peer && settings.verify_fail));
    let exporter = Arc::new(Exporter::default());
    let config = Arc::new(client::config(settings, verifier.clone(), exporter.clone())?);
    let offer = client::offer(settings, remembered.as_ref().map(|remembered| remembered.session.clone()), clock.now());
    let early = matches!(offer, Offer::Early(_));
    if early && settings.expect_no_offer_early_data {
        return Err(Failure::Expectation("no early data to be offered".to_owned()));
    }
    let mut wire = Wire::open(address, config, offer, clock, settings.asynchronous)?;
    let result = match early {
        true => converse_early(&mut wire, settings, retry, remembered, (&verifier, &exporter)),
        false => converse(&mut wire, settings, None, remembered, (&verifier, &exporter)),
    };
    wire.leave();
    result
}

/// Says first what the application has to say, as early data as far as that goes.
fn converse_early(
    wire: &mut Wire,
    settings: &Settings,
    retry: &Settings,
    remembered: Option<Remembered>,
    told: (&ToldVerifier, &Exporter),
) -> Result<Option<Remembered>, Failure> {
    let mut rest = Vec::new();
    for words in first_words(settings) {
        // Once one write does not fit, what follows it waits too.
        let left = if rest.is_empty() { wire.write_early(&words)? } else { &words };
        rest.extend_from_slice(left);
    }
    wire.shake_hands()?;
    let verdict = wire.connection.outcome().and_then(|outcome| outcome.early_data);
    expectations::verdict(settings.expect_early_data, verdict)?;
    match verdict {
        // What was said in vain is not said again, nor is what was to follow it.
        Some(EarlyData::Rejected) => converse(wire, retry, None, remembered, told),
        _ => converse(wire, settings, Some(vec![rest]), remembered, told),
    }
}

/// What the application says before it listens, write by write.
fn first_words(settings: &Settings) -> Vec<Vec<u8>> {
    let count = if settings.shim_writes_first { settings.repeat_shim_initial_write.unwrap_or(1) } else { 0 };
    // The runner's own default.
    vec![settings.shim_initial_write.clone().unwrap_or_else(|| b"hello".to_vec()); count]
}

/// `first` is what is left of the first words, where they could go as early data.
fn converse(
    wire: &mut Wire,
    settings: &Settings,
    first: Option<Vec<Vec<u8>>>,
    remembered: Option<Remembered>,
    told: (&ToldVerifier, &Exporter),
) -> Result<Option<Remembered>, Failure> {
    let (verifier, exporter) = told;
    wire.shake_hands()?;
    let outcome = wire.connection.outcome().ok_or_else(|| Failure::Expectation("an outcome".to_owned()))?;
    let resumed = outcome.kind != Kind::Full;
    // A resumed session keeps what its first handshake established.
    let memory = |made: Option<String>, kept: fn(&Remembered) -> Option<String>| {
        made.or_else(|| remembered.as_ref().filter(|_| resumed).and_then(kept))
    };
    let group = memory(outcome.group.clone(), |remembered| remembered.group.clone());
    let signature = memory(outcome.signature.clone(), |remembered| remembered.signature.clone());
    let chain = match &remembered {
        Some(remembered) if resumed => remembered.chain.clone(),
        _ => verifier.shown(),
    };
    let negotiated = expectations::Negotiated {
        outcome: &outcome,
        group: group.as_deref(),
        signature: signature.as_deref(),
        chain: &chain,
        session_offered: remembered.is_some(),
    };
    negotiated.check(settings)?;

    let mut session = None;
    if outcome.version == Version::Tls12 {
        // A session that is resumed and not renewed is the old one, which the engine gives back.
        session = wire.connection.take_sessions().pop().filter(|_| !resumed || outcome.tickets > 0);
        let due = !settings.expect_no_session && (!resumed || settings.expect_ticket_renewal);
        expectations::session(due, session.is_some())?;
    }

    if settings.export_keying_material > 0 {
        let server_random = wire.server_random().unwrap_or_default();
        let material = exporter.export(settings, &outcome, &server_random)?;
        wire.write(&material)?;
    }
    speak(wire, settings, first)?;

    if outcome.version == Version::Tls13 {
        session = wire.connection.take_sessions().pop();
        // A shim that is the first to leave need not wait for its ticket.
        if !settings.shim_shuts_down {
            expectations::session(!settings.expect_no_session, session.is_some())?;
        }
        if let Some(Session::Tls13(ticket)) = &session {
            expectations::early_data(settings, ticket)?;
        }
    }
    Ok(session.map(|session| Remembered { session, chain, group, signature }))
}

/// The application's part: what it says first, the echo of all that comes, and the end.
fn speak(wire: &mut Wire, settings: &Settings, first: Option<Vec<Vec<u8>>>) -> Result<(), Failure> {
    if settings.write_different_record_sizes {
        for length in [0, 1, 255, 256, 257, 16383, 16384, 16385, 32767, 32768, 32769] {
            wire.write(&vec![0x42; length])?;
        }
        return shut_down(wire, settings, false);
    }
    for words in first.unwrap_or_else(|| first_words(settings)) {
        wire.write(&words)?;
    }
    if settings.shim_shuts_down {
        return shut_down(wire, settings, false);
    }
    loop {
        if settings.key_update_before_read {
            wire.update_keys()?;
        }
        match wire.read()? {
            Incoming::Data(mut data) => {
                if settings.key_update {
                    wire.update_keys()?;
                }
                data.iter_mut().for_each(|byte| *byte ^= 0xff);
                wire.write(&data)?;
            }
            Incoming::Closed => return shut_down(wire, settings, true),
            Incoming::Ended => return shut_down(wire, settings, false),
        }
    }
}

/// With `-check-close-notify` both sides say that they are done; without, the connection simply ends.
fn shut_down(wire: &mut Wire, settings: &Settings, peer_closed: bool) -> Result<(), Failure> {
    if !settings.check_close_notify {
        return Ok(());
    }
    wire.close()?;
    if peer_closed {
        return Ok(());
    }
    match wire.read()? {
        Incoming::Closed => Ok(()),
        Incoming::Ended => Err(Failure::Expectation("a close_notify before the end of the stream".to_owned())),
        Incoming::Data(_) => Err(Failure::Expectation("a close_notify, and no data before it".to_owned())),
    }
}

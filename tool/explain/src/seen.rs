//! The handshakes of a result, as far as their path depends on them.

use reprise_model::document::{Run, Target, TracedConnection};
use reprise_model::{ClientAuthentication, Kind, Phase, Verification, What};
use reprise_speed::Handshake;

use crate::error::ExplainError;
use crate::measured::Measured;

/// A handshake of the result.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) handshake: Handshake,
    pub(crate) round_trip_ns: u64,
    /// `None` where they are the protocol's.
    pub(crate) round_trips: Option<u64>,
    pub(crate) median_ns: u64,
    pub(crate) ci95_ns: Option<[u64; 2]>,
    /// How many there were.
    pub(crate) connections: u64,
}

/// Every handshake of the result whose path is known.
pub(crate) fn seen(result: Measured<'_>, certificates: u64) -> Result<Vec<Seen>, ExplainError> {
    let (target, seen): (&Target, Vec<Seen>) = match result {
        Measured::Measure(document) => {
            (&document.target, document.runs.iter().filter_map(|run| of_run(run, certificates)).collect())
        }
        Measured::Trace(document) => {
            let connections = document.traces.iter().flat_map(|trace| trace.full.iter().chain(&trace.resumed));
            (&document.target, connections.filter_map(|traced| of_trace(traced, certificates)).collect())
        }
        Measured::Load(_) => return Ok(Vec::new()),
    };
    if let Some(between) = target.proxy.as_ref().or(target.starttls.as_ref()) {
        return Err(ExplainError::NotDirect(between.clone()));
    }
    if seen.is_empty() { Err(ExplainError::Nothing) } else { Ok(seen) }
}

fn of_run(run: &Run, certificates: u64) -> Option<Seen> {
    let (tls, connect) = (run.phases.get(&Phase::Tls)?, run.phases.get(&Phase::Connect)?);
    let observed = &run.observed;
    let cipher = observed.cipher.as_deref().unwrap_or_default();
    (run.asked.kind != Kind::Early).then(|| Seen {
        handshake: Handshake {
            key: observed.peer_key.clone(),
            mutual: observed.client_certificate_sent > 0,
            ..Handshake::of(run.asked.tls, run.asked.kind, cipher, observed.group.as_deref(), certificates)
        },
        round_trip_ns: connect.median_ns,
        round_trips: run.round_trips,
        median_ns: tls.median_ns,
        ci95_ns: tls.ci95_ns,
        connections: run.n,
    })
}

fn of_trace(traced: &TracedConnection, certificates: u64) -> Option<Seen> {
    let outcome = &traced.outcome;
    let (connect, tls) = (traced.phases.connect?, traced.phases.tls?);
    let certificates = certificates_of(traced).unwrap_or(certificates);
    (outcome.kind != Kind::Early).then(|| Seen {
        handshake: Handshake {
            key: outcome.peer_key.clone(),
            mutual: outcome.client_authentication == ClientAuthentication::Sent,
            ..Handshake::of(outcome.version, outcome.kind, &outcome.cipher, outcome.group.as_deref(), certificates)
        },
        round_trip_ns: connect.0,
        round_trips: Some(traced.round_trips),
        median_ns: tls.0,
        ci95_ns: None,
        connections: 1,
    })
}

/// Signatures of certificates that the client has verified: one of each certificate, if it verified the chain.
fn certificates_of(traced: &TracedConnection) -> Option<u64> {
    if traced.outcome.verification != Verification::Verified {
        return Some(0);
    }
    let is_certificate = |what: &What| matches!(what, What::Handshake { message } if message.as_ref() == "Certificate");
    let message = traced.events.iter().find(|event| is_certificate(&event.what))?;
    let list = message.fields.iter().find(|field| field.name == "certificate_list")?;
    list.value.split(' ').next()?.parse().ok()
}

/// A handshake under TLS 1.3, for tests.
#[cfg(test)]
pub(crate) fn example(kind: Kind, round_trip_ns: u64, median_ns: u64) -> Seen {
    let is_full = kind == Kind::Full;
    let handshake = Handshake {
        version: reprise_model::Version::Tls13,
        kind,
        key: is_full.then(|| "rsa-2048".to_owned()),
        group: Some("x25519".to_owned()),
        hash: "sha-256",
        certificates: 1,
        mutual: false,
    };
    Seen {
        handshake,
        round_trip_ns,
        round_trips: Some(1),
        median_ns,
        ci95_ns: Some([median_ns - 10, median_ns + 10]),
        connections: 1,
    }
}

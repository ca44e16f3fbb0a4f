//! What the reader should know before believing the figures.

use std::collections::BTreeMap;

use reprise_trace::{Kind, Outcome, PskMode, Sample, Verification, Version};

use crate::options::ConnectionReuse;
use crate::tally::Attempts;

/// What the counted connections of a measurement warn of.
pub(crate) fn about(runs: &[Attempts], reuse: ConnectionReuse, psk_modes: &[PskMode]) -> Vec<String> {
    let samples: Vec<&Sample> =
        runs.iter().flat_map(|run| &run.rounds).filter_map(|attempt| attempt.as_ref().ok()).collect();
    unsuccessful_responses(&samples)
        .into_iter()
        .chain(unverified_signature(&samples))
        .chain([Version::Tls12, Version::Tls13].into_iter().filter_map(|version| unlike_each_other(&samples, version)))
        .chain((reuse == ConnectionReuse::KeepAlive).then(|| closed_at_once(&samples)).flatten())
        .chain((psk_modes == [PskMode::PskKe]).then(|| never_alone(&samples)).flatten())
        .collect()
}

/// RFC 8446 §4.2.9: a server neither uses a mode that was not offered nor sends tickets that could not be used. What then looks
/// like its own setting is this client's.
fn never_alone(samples: &[&Sample]) -> Option<String> {
    let mut tls13 = samples.iter().filter(|sample| sample.outcome.version == Version::Tls13).peekable();
    tls13.peek()?;
    let is_used = tls13.any(|sample| sample.outcome.psk_mode == Some(PskMode::PskKe));
    (!is_used).then(|| {
        "No TLS 1.3 connection used psk_ke, and nothing else was offered: a server without it gives no ticket or refuses it \
         (RFC 8446, section 4.2.9); --psk-mode both lets it choose"
            .to_owned()
    })
}

/// Servers that differ behind one address: one median of both tells of neither. A resumed handshake shows no key.
fn unlike_each_other(samples: &[&Sample], version: Version) -> Option<String> {
    let full = samples.iter().map(|sample| &sample.outcome);
    let full: Vec<&Outcome> = full.filter(|it| it.version == version && it.kind == Kind::Full).collect();
    let part = |of: fn(&Outcome) -> Option<&str>| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        full.iter().filter_map(|outcome| of(outcome)).for_each(|name| *counts.entry(name).or_default() += 1);
        let counted: Vec<String> = counts.iter().map(|(name, count)| format!("{name} on {count}")).collect();
        (counts.len() > 1).then(|| counted.join(", "))
    };
    let parts: Vec<String> =
        [part(|it| it.peer_key.as_deref()), part(|it| Some(&it.cipher)), part(|it| it.group.as_deref())]
            .into_iter()
            .flatten()
            .collect();
    (!parts.is_empty()).then(|| format!("Full {version} handshakes were not all alike: {}", parts.join("; ")))
}

/// What was asked for and not measured must not be missing in silence.
fn closed_at_once(samples: &[&Sample]) -> Option<String> {
    let closed = samples.iter().filter(|sample| sample.next_request.is_none()).count();
    let all = samples.len();
    (closed > 0).then(|| {
        format!("The server ends {closed} of {all} connections with the first response: there is no next request on them")
    })
}

/// An error page or a redirection is seldom what was to be measured.
fn unsuccessful_responses(samples: &[&Sample]) -> Option<String> {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for status in samples.iter().filter_map(|sample| sample.http_status).filter(|status| !(200..300).contains(status)) {
        *statuses.entry(status).or_default() += 1;
    }
    let statuses: Vec<String> = statuses.iter().map(|(status, count)| format!("{status} on {count}")).collect();
    let all = samples.len();
    (!statuses.is_empty()).then(|| {
        format!("HTTP status {} of {all} connections: --path, --method and --header change the request", statuses.join(", "))
    })
}

fn unverified_signature(samples: &[&Sample]) -> Option<String> {
    let unverified = |sample: &&&Sample| sample.outcome.verification == Verification::SignatureUnverified;
    let key = samples.iter().find(unverified)?.outcome.peer_key.as_deref().unwrap_or("unknown");
    Some(format!("The server's signature is unverified: its {key} key is too weak for the crypto library"))
}

#[cfg(test)]
mod tests {
    use reprise_trace::Asked;

    use super::*;
    use crate::example::sample;

    fn warnings(reuse: ConnectionReuse, samples: Vec<Sample>) -> Vec<String> {
        let asked = Asked { tls: Version::Tls13, kind: Kind::Full };
        about(&[Attempts { asked, rounds: samples.into_iter().map(Ok).collect() }], reuse, &[])
    }

    #[test]
    fn a_mode_that_no_server_took_is_told_as_what_was_offered() {
        let warnings = |mode| {
            let mut resumed = sample(Kind::Ticket, Kind::Ticket, 1);
            resumed.outcome.psk_mode = mode;
            let asked = Asked { tls: Version::Tls13, kind: Kind::Ticket };
            let runs = [Attempts { asked, rounds: vec![Ok(sample(Kind::Full, Kind::Full, 1)), Ok(resumed)] }];
            about(&runs, ConnectionReuse::Close, &[PskMode::PskKe])
        };
        assert_eq!(warnings(Some(PskMode::PskKe)), [""; 0]);
        assert!(warnings(None)[0].starts_with("No TLS 1.3 connection used psk_ke"));
        let tls12 = about(&[], ConnectionReuse::Close, &[PskMode::PskKe]);
        assert_eq!(tls12, [""; 0]);
    }

    #[test]
    fn keys_that_change_between_connections_are_counted() {
        let mut other = sample(Kind::Full, Kind::Full, 1);
        other.outcome.peer_key = Some("rsa-2048".to_owned());
        let alike = || sample(Kind::Full, Kind::Full, 1);
        let resumed = sample(Kind::Ticket, Kind::Ticket, 1);
        assert_eq!(warnings(ConnectionReuse::Close, vec![alike(), alike(), resumed.clone()]), [""; 0]);
        assert_eq!(
            warnings(ConnectionReuse::Close, vec![alike(), other, alike(), resumed]),
            ["Full TLS 1.3 handshakes were not all alike: p-256 on 2, rsa-2048 on 1"]
        );
    }

    #[test]
    fn a_next_request_that_was_asked_for_is_not_missing_in_silence() {
        let closed = || vec![sample(Kind::Full, Kind::Full, 1)];
        assert_eq!(warnings(ConnectionReuse::Close, closed()), [""; 0]);
        let [warning] = warnings(ConnectionReuse::KeepAlive, closed()).try_into().unwrap();
        assert!(warning.starts_with("The server ends 1 of 1 connections"), "{warning}");
    }
}

//! What the reader should know before believing the figures.

use std::collections::BTreeMap;

use reprise_trace::{Sample, Verification};

use crate::tally::Attempts;

/// What the counted connections of a measurement warn of.
pub(crate) fn about(runs: &[Attempts]) -> Vec<String> {
    let samples: Vec<&Sample> =
        runs.iter().flat_map(|run| &run.rounds).filter_map(|attempt| attempt.as_ref().ok()).collect();
    unsuccessful_responses(&samples).into_iter().chain(unverified_signature(&samples)).collect()
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

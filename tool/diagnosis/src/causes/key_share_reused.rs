//! `key-share-reused`: the server's ephemeral key comes more than once.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Observation, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    security_severity: Some("3.7"),
    measured: Some(Rule { rank: 29, find: MeasuredRule::EachVersion(of_measurement) }),
    ..page!("key-share-reused")
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let mut shares: BTreeMap<[u8; 8], Vec<&Observation>> = BTreeMap::new();
    for seen in case.observations {
        if let Some(share) = seen.facts().filter(|facts| facts.version == version).and_then(|facts| facts.key_share) {
            shares.entry(share).or_default().push(seen);
        }
    }
    let all: usize = shares.values().map(Vec::len).sum();
    let most = shares.values().filter(|seen| seen.len() > 1).max_by_key(|seen| seen.len())?;
    let ports: Vec<String> = most.iter().take(NAMED).filter_map(|it| it.local_port()).map(|port| port.to_string()).collect();
    let title = format!("{version}: the server uses an ephemeral key for more than one handshake");
    let evidence = [
        format!("{} keys in {all} handshakes, one of them {} times (ports {})", shares.len(), most.len(), ports.join(", ")),
        "It saves the server one multiplication a handshake; forward secrecy begins when the key is discarded, not with the \
            connection's end"
            .to_owned(),
    ];
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because(evidence))
}

/// So many connections are named.
const NAMED: usize = 3;

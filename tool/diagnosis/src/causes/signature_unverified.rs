//! `signature-unverified`: verification was skipped on request, and the signature could not be checked either.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, PeerKey, Verification};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 24, find: MeasuredRule::Once(of_measurement) }),
    ..page!("signature-unverified")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let is_unverified = |facts: &&Facts| facts.verification == Verification::SignatureUnverified;
    let unverified: Vec<&Facts> = case.samples().map(|(_, facts)| facts).filter(is_unverified).collect();
    let key = unverified.first()?.peer_key.unwrap_or(PeerKey::Unknown);
    let title = format!("The server's signature is unverified: its {key} key is too weak for the crypto library");
    let count = connections(unverified.len() as u64);
    let finding = CAUSE.finding(Severity::Risk, Confidence::Certain, title);
    Some(finding.because([format!("Unverified on {count}: anyone on the path could have answered")]))
}

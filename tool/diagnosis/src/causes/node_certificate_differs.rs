//! `node-certificate-differs`: full handshakes of one version show different certificates, as of nodes behind one address. One
//! median of them all tells of none of them.
//!
//! `node-certificate-differs`: tickets under one key are refused where another certificate answers than the one that they were
//! given beside: servers on OpenSSL bind sessions to it. To share the ticket key does not help: it is shared.

use std::collections::{BTreeMap, BTreeSet};

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Asked, ClientAuthentication, Facts, Kind, TicketKeyName, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use reprise_probe::fleet::MECHANISMS;

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::diagnose::examined::{Examined, ResumptionOutcome, came, cite};
use crate::figures::connections;
use crate::fleet::{FleetCase, FleetFinding};
use crate::series::{MeasuredCase, differing};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 7, find: MeasuredRule::EachVersion(of_measurement) }),
    examined: Some(Rule { rank: 10, find: ExaminedRule::EachVersion(of_experiments) }),
    fleet: Some(Rule { rank: 8, find: of_fleet }),
    ..page!("node-certificate-differs")
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    // A resumed handshake shows none.
    let full = case.full_handshakes(version);
    let keys = differing(full.iter().filter_map(|facts| facts.peer_key).map(|key| key.to_string()));
    let leaves = differing(full.iter().filter_map(|facts| facts.leaf.as_ref()).map(beginning));
    let leaves = leaves.map(|leaves| format!("SHA-256 of the certificates: {leaves}"));
    case.found_unlike(&CAUSE, version, "the server's certificates differ", [keys, leaves])
}

/// As much of a fingerprint as tells certificates apart.
fn beginning(leaf: &[u8; 32]) -> String {
    leaf.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>() + "…"
}

/// So many refusals, each where the certificate had changed, are no coincidence.
const ENOUGH: usize = 3;

fn of_experiments(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let all: Vec<&ProbeRecord> = examined.examination.runs.iter().flat_map(ExperimentRun::all).collect();
    let leaves: BTreeMap<u32, [u8; 32]> =
        all.iter().filter_map(|seen| Some((seen.observation.index, leaf(seen)?))).collect();
    let facts = all.iter().filter_map(|seen| seen.observation.facts()).filter(|facts| facts.version == version);
    let keys: BTreeSet<TicketKeyName> =
        facts.flat_map(|it| it.tickets.iter().map(|it| it.key_name).collect::<Vec<_>>()).collect();
    let asked = Asked { tls: version, kind: Kind::Ticket };
    let plain = examined.plain(asked).into_iter().chain(examined.chosen(asked));
    let refused: Vec<&ProbeRecord> = plain.filter(|seen| came(seen) == Some(ResumptionOutcome::Refused)).collect();
    // Of a session that a resumed connection gave, nobody saw the certificate.
    let compared: Vec<(&ProbeRecord, bool)> = refused
        .into_iter()
        .filter_map(|seen| Some((seen, leaves.get(&seen.observation.offered?.origin?.index)? != &leaf(seen)?)))
        .collect();
    if let Some(finding) = of_client_certificates(examined, version) {
        return Some(finding);
    }
    if keys.len() != 1 || compared.is_empty() || compared.iter().any(|(_, differs)| !differs) {
        return None;
    }
    let title = format!(
        "{version} tickets are refused where another certificate is presented: nodes with different \
        certificates"
    );
    let counted = format!(
        "{} refusals, each by another certificate than the one that the ticket was given beside; all tickets come under one key",
        compared.len()
    );
    let confidence = if compared.len() < ENOUGH { Confidence::Possible } else { Confidence::Likely };
    let cited = compared.into_iter().take(2).map(|(seen, _)| cite(seen));
    let finding = CAUSE.finding(Severity::Risk, confidence, title);
    Some(finding.because(std::iter::once(counted).chain(cited)))
}

/// Client certificates are asked for on some connections, and not on others with the same offer.
fn of_client_certificates(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let all = examined.examination.runs.iter().flat_map(ExperimentRun::all).filter_map(|seen| seen.observation.facts());
    let full = all.filter(|facts| (facts.version, facts.kind) == (version, Kind::Full));
    let asks = |facts: &&Facts| facts.client_authentication != ClientAuthentication::NotRequested;
    let (asking, others): (Vec<&Facts>, Vec<&Facts>) = full.partition(asks);
    if asking.is_empty() || others.is_empty() {
        return None;
    }
    let title = format!(
        "{version}: some full handshakes ask for a client certificate, others do not: nodes of different configuration"
    );
    let counted = format!("Asked for on {} of {}", asking.len(), connections((asking.len() + others.len()) as u64));
    Some(CAUSE.finding(Severity::Risk, Confidence::Likely, title).because([counted]))
}

/// The certificate that was shown: in full handshakes alone.
fn leaf(seen: &ProbeRecord) -> Option<[u8; 32]> {
    let shows = |facts: &&Facts| facts.kind == Kind::Full;
    seen.observation.facts().filter(shows)?.leaf
}

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let unlike = case.unlike_the_most(|node| (!node.leaves.is_empty()).then(|| node.leaves.clone()));
    let (one, other) = (*unlike.nodes.first()?, *unlike.most.first()?);
    let is_for_it = |asked: Asked| {
        unlike.pairs().filter(move |pair| case.refuses_under_one_key(asked, *pair)).map(move |pair| (asked, pair))
    };
    let refused: Vec<(Asked, (usize, usize))> = MECHANISMS.into_iter().flat_map(is_for_it).collect();
    let severity = if refused.is_empty() { Severity::Note } else { Severity::Risk };
    let title = match refused.is_empty() {
        true => format!("{} shows another certificate than the others", case.list(&unlike.nodes)),
        false => format!("Tickets are refused between nodes of different certificates: {}", case.list(&unlike.nodes)),
    };
    let leaf = |node: usize| case.nodes.get(node).and_then(|it| it.leaves.first()).map(beginning).unwrap_or_default();
    let shown = format!("SHA-256 of {}: {}; of {}: {}", case.list(&[one]), leaf(one), case.list(&[other]), leaf(other));
    let cited = refused.iter().take(3).map(|(asked, pair)| case.cite(*asked, *pair));
    let finding = CAUSE.finding(severity, Confidence::Likely, title).because(std::iter::once(shown).chain(cited));
    Some(FleetFinding { finding, nodes: unlike.nodes, reason: "another certificate" })
}

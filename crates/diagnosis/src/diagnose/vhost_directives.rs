//! `vhost-directives`: the name's own virtual host refuses what the default one accepts: the settings of sessions stand in a
//! server block that is not the listener's default.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::examined::{Counts, Examined, by_outcome, evidence, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    examined.runs("no-sni-at-all").filter_map(|run| finding(examined, run)).collect()
}

fn finding(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let resumes_without = examined.gains(run);
    let plain = examined.plain(run.asked);
    let with = Counts::of(plain.iter().copied());
    // Connections that fail have another cause.
    if with.failed > 0 {
        return None;
    }
    // Given by the block of the name, and looked up in that of the listener.
    let is_given_with_alone =
        with.refused > 0 && !run.seen.is_empty() && run.seen.iter().all(|seen| gives_nothing(seen, run));
    let (what, confidence) = match (resumes_without, is_given_with_alone) {
        (Some(confidence), _) => ("works without server_name and not with it", confidence),
        (None, true) => ("is given with server_name and never accepted, and not given without it", Confidence::Likely),
        (None, false) => return None,
    };
    let title = format!("{} {what}: virtual hosts differ", mechanism(run.asked));
    let refused = by_outcome(plain).map(|line| format!("With server_name, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    let others = examined.runs("resume").filter(|other| other.asked.tls == run.asked.tls && other.asked != run.asked);
    // Where another mechanism of the version resumes, most clients lose nothing.
    let severity = match others.map(|other| Counts::of(examined.plain(other.asked)).resumed).sum() {
        0_usize => Severity::Fault,
        _ => Severity::Note,
    };
    Some(Finding::new("vhost-directives", severity, confidence, title).because(refused.chain(without)))
}

/// Whether this full handshake gave nothing by this mechanism.
fn gives_nothing(seen: &ProbeRecord, run: &ExperimentRun) -> bool {
    seen.observation.facts().is_some_and(|facts| match run.asked.kind {
        Kind::Id => !facts.session_id_given,
        _ => facts.tickets.count == 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn a_default_host_that_resumes_where_the_named_one_does_not() {
        let without = |kind| Scene::refusing(TLS13).run("no-sni-at-all", TLS13, &[Kind::Full, kind]);
        assert_eq!(only(findings, &without(TICKET)).unwrap().evidence.len(), 2);
        assert_eq!(only(findings, &without(Kind::Full).key_names(&[1; 10])), None);
    }

    #[test]
    fn a_session_given_only_with_the_name_is_told() {
        let given = Scene::refusing(TLS13).run("no-sni-at-all", TLS13, &[Kind::Full]).key_names(&[1; 8]);
        assert!(only(findings, &given).unwrap().title.contains("not given without it"));
    }
}

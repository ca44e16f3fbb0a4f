//! `session-too-large`: sessions without a client certificate are kept, and those with it are not: it is part of the session, and a
//! cache takes sessions up to some size (nginx: 4 kB).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::examined::{Examined, by_outcome, evidence, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    examined
        .runs("no-certificate-at-all")
        .filter(|run| examined.gains(run).is_some())
        .map(|run| finding(examined, run))
        .collect()
}

fn finding(examined: &Examined<'_>, run: &ExperimentRun) -> Finding {
    let title = format!("{} works without a client certificate and not with it", mechanism(run.asked));
    let with = by_outcome(examined.plain(run.asked)).map(|line| format!("With it, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Fault };
    let finding = Finding::new("session-too-large", severity, Confidence::Possible, title).by_design();
    finding.because(with.chain(without).chain([OTHERWISE.to_owned()]))
}

const OTHERWISE: &str = "A server that resumes no client with a certificate looks the same (isolated-by-design): a smaller \
    certificate distinguishes them";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{ID, Scene, TLS12_ID, only};
    use reprise_model::Kind;

    #[test]
    fn what_resumes_without_a_certificate_alone_is_too_large() {
        let without = |kind| Scene::refusing(TLS12_ID).run("no-certificate-at-all", TLS12_ID, &[Kind::Full, kind]);
        assert_eq!(only(findings, &without(ID)).unwrap().severity, Severity::Fault);
        assert_eq!(only(findings, &without(Kind::Full)), None);
    }
}

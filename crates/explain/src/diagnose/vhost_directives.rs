//! `vhost-directives`: the name's own virtual host refuses what the default one accepts: the settings of sessions stand in a
//! server block that is not the listener's default.

use reprise_trace::document::{Confidence, Finding, Severity};

use super::examined::{Came, Examined, came, cite, mechanism};

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    let resumed =
        |run: &&reprise_probe::diagnose::ExperimentRun| run.seen.iter().any(|seen| came(seen) == Some(Came::Resumed));
    let finding = |run: &reprise_probe::diagnose::ExperimentRun| {
        let title = format!("{} works without server_name and not with it: virtual hosts differ", mechanism(run.asked));
        let refused =
            examined.plain(run.asked).into_iter().take(2).map(cite).map(|cited| format!("With server_name, {cited}"));
        let without = run.seen.iter().map(cite).map(|cited| format!("Without, {cited}"));
        Finding::new("vhost-directives", Severity::Fault, Confidence::Likely, title).because(refused.chain(without))
    };
    examined.runs("no-sni-at-all").filter(resumed).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_trace::Kind;

    #[test]
    fn a_default_host_that_resumes_where_the_named_one_does_not() {
        let without = |kind| Scene::refusing(TLS13).run("no-sni-at-all", TLS13, &[Kind::Full, kind]);
        assert_eq!(only(findings, &without(TICKET)).unwrap().evidence.len(), 4);
        assert_eq!(only(findings, &without(Kind::Full)), None);
    }
}

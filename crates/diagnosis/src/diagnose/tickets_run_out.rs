//! `tickets-run-out`: one client makes more connections at once than it holds tickets, each of which serves once (RFC 8446 §C.4).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord, Step};

use super::examined::{Counts, Examined, by_outcome, is_tls13, mechanism};
use crate::figures::connections;

pub(super) fn findings(examined: &Examined<'_>) -> Vec<Finding> {
    examined.runs("burst").filter(|run| examined.always_resumes(run.asked)).filter_map(finding).collect()
}

fn finding(run: &ExperimentRun) -> Option<Finding> {
    let burst: Vec<&ProbeRecord> = run.seen.iter().filter(|seen| seen.step == Step::Burst).collect();
    let completed = burst.iter().filter(|seen| seen.fault.is_none()).count();
    let counts = Counts::of(burst.iter().copied());
    let at_once = connections(burst.len() as u64);
    let is_lost = |seen: &[ProbeRecord]| {
        let counts = Counts::of(seen.iter().filter(|seen| seen.step == Step::Burst));
        counts.refused > 0 || counts.failed > 0
    };
    if Examined::each_time(run, is_lost).is_some() {
        // Of what was offered, less was resumed: that is the server's doing.
        let title =
            format!("{} of {at_once} at once resume, where each alone does: {}", counts.resumed, mechanism(run.asked));
        let lost = burst.iter().copied().filter(|seen| seen.observation.offered.is_some());
        let lost = lost.filter(|seen| Counts::of([*seen]).resumed == 0);
        let finding = Finding::new("tickets-run-out", Severity::Risk, Confidence::Possible, title);
        return Some(finding.because(by_outcome(lost)));
    }
    if !is_tls13(run.asked) || counts.offered() >= completed || completed < burst.len() {
        return None;
    }
    let held = counts.offered();
    let title = format!("A connection gives {held} {}: of {at_once} at once, the others cannot resume", tickets(held));
    let evidence = [format!("{} offered a ticket and resumed, {} had none left", counts.resumed, completed - held)];
    Some(Finding::new("tickets-run-out", Severity::Note, Confidence::Certain, title).because(evidence).by_design())
}

fn tickets(count: usize) -> &'static str {
    if count == 1 { "ticket" } else { "tickets" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::scene::{Scene, TICKET, TLS13, only};
    use reprise_model::Kind;

    #[test]
    fn tickets_that_do_not_suffice_are_a_note() {
        let scene = Scene::resuming(TLS13).burst(TLS13, &[TICKET, TICKET], 6);
        let finding = only(findings, &scene).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.title, "A connection gives 2 tickets: of 8 connections at once, the others cannot resume");
        assert_eq!(only(findings, &Scene::resuming(TLS13).burst(TLS13, &[TICKET; 8], 0)), None);
    }

    #[test]
    fn a_refusal_in_a_burst_counts_against_the_server() {
        let scene = Scene::resuming(TLS13).burst(TLS13, &[TICKET, Kind::Full], 6);
        assert_eq!(only(findings, &scene).unwrap().severity, Severity::Risk);
    }
}

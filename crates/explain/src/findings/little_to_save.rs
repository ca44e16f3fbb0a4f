//! `little-to-save`: resumed, and still not much faster. The arithmetic is shown. Without an interval, under six samples, nothing
//! is said.

use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};
use reprise_trace::{Phase, PskMode, Version};

use crate::figures::{connections, from_to, means, percent, ratio_and_interval, span};
use crate::observation::{Saving, resumptions, saving, versions};

/// Below this share of the full handshake, a saving is little.
const LITTLE: f64 = 0.10;

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let resumed = versions(document).into_iter().flat_map(|version| resumptions(document, version));
    resumed
        .filter_map(|run| Some((run, saving(document, run, Phase::Tls)?)))
        .filter(|(_, saving)| saving.ci95.is_some() && (saving.share() < LITTLE || saving.undecided()))
        .map(|(run, saving)| finding(run, saving))
        .collect()
}

fn finding(run: &Run, saving: Saving) -> Finding {
    let mut evidence = vec![arithmetic(run, saving)];
    if let Some(ci95) = saving.ci95 {
        let reading = if saving.undecided() { ": either may be the faster" } else { "" };
        let (ratio, interval) = ratio_and_interval(saving.ratio, ci95);
        evidence.push(format!("Full to resumed {ratio} (95 % interval {interval}){reading}"));
    }
    if let Some(what_remains) = what_remains(run) {
        evidence.push(what_remains.to_owned());
    }
    let little = saving.share() < LITTLE;
    let title = if little {
        format!("Resuming {} by {} saves little of the handshake", run.asked.tls, means(run.asked.kind))
    } else {
        let n = connections(run.n);
        format!("{n} do not tell whether resuming {} by {} saves anything", run.asked.tls, means(run.asked.kind))
    };
    Finding {
        id: "little-to-save".to_owned(),
        severity: Severity::Note,
        confidence: if little && !saving.undecided() { Confidence::Likely } else { Confidence::Possible },
        title,
        evidence,
        cost_ns: None,
        remedy: (!little).then(|| Remedy { software: None, text: "Measure more connections: --count".to_owned() }),
    }
}

/// "Full 3.42, ticket 3.31 ms: saves 110.0 µs, 3 % of the full handshake".
fn arithmetic(run: &Run, saving: Saving) -> String {
    let (full, resumed) = from_to(saving.full_ns, saving.resumed_ns);
    let verdict = match saving.full_ns.checked_sub(saving.resumed_ns) {
        Some(saved) => format!("saves {}, {} of the full handshake", span(saved), percent(saving.share())),
        None => format!("costs {} more, {} of the full handshake", span(saving.lost().0), percent(-saving.share())),
    };
    format!("Full {full}, {} {resumed}: {verdict}", run.asked.kind)
}

/// RFC 8446 §2.2: a resumption with psk_dhe_ke repeats the key exchange.
fn what_remains(run: &Run) -> Option<&'static str> {
    let fresh_exchange = run.asked.tls == Version::Tls13 && run.observed.psk_mode == Some(PskMode::PskDheKe);
    fresh_exchange
        .then_some("TLS 1.3 resumes with a fresh key exchange (psk_dhe_ke): only certificate and signature are saved")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use reprise_trace::Kind;

    fn resumed(tls_us: u64) -> Example {
        Example::new().run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, tls_us)
    }

    #[test]
    fn a_saving_below_a_tenth_shows_its_arithmetic() {
        let document = resumed(388).interval([1.01, 1.05]).observed(|it| it.psk_mode = Some(PskMode::PskDheKe)).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Note, Confidence::Likely));
        assert_eq!(finding.evidence[0], "Full 400, ticket 388 µs: saves 12.0 µs, 3 % of the full handshake");
        assert_eq!(finding.evidence[1], "Full to resumed 1.03 (95 % interval 1.01–1.05)");
        assert!(finding.evidence[2].contains("fresh key exchange"));
    }

    #[test]
    fn a_resumption_that_costs_more_says_so() {
        let document = resumed(440).interval([0.85, 0.95]).document();
        assert_eq!(
            findings(&document)[0].evidence[0],
            "Full 400, ticket 440 µs: costs 40.0 µs more, 10 % of the full handshake"
        );
    }

    #[test]
    fn an_interval_around_one_asks_for_more_connections() {
        let document = resumed(200).interval([0.7, 5.0]).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!(finding.confidence, Confidence::Possible);
        assert!(finding.title.starts_with("100 connections do not tell"));
        assert!(finding.evidence[1].ends_with("either may be the faster"));
        assert!(finding.remedy.unwrap().text.contains("--count"));
    }

    #[test]
    fn of_too_few_samples_for_an_interval_nothing_is_said() {
        assert_eq!(findings(&resumed(398).without_intervals("1.3", Kind::Ticket).document()), []);
    }

    #[test]
    fn a_tenth_and_more_is_not_little() {
        assert_eq!(findings(&resumed(350).interval([1.1, 1.2]).document()), []);
    }
}

//! `little-to-save`: resumed, and still not much faster. The arithmetic is shown. Without an interval, under six samples, nothing
//! is said.

use reprise_model::document::{Confidence, Finding, Remedy, Run, Severity};
use reprise_model::{Kind, Phase, PskMode, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::{connections, from_to, means, percent, ratio_and_interval, span};
use crate::savings::{Saving, saving};
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 9, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..page!("little-to-save")
};

/// Below this share of the full handshake, a saving is little.
const LITTLE: f64 = 0.10;

fn of_measurement(case: &MeasuredCase<'_>, series: &KindSeries<'_>) -> Option<Finding> {
    let run = case.figures.run(series.asked.tls, series.asked.kind).filter(|run| run.asked.kind != Kind::Full)?;
    let saving = saving(case.figures, run, Phase::Tls)?;
    if saving.ci95.is_none() || (saving.share() >= LITTLE && !saving.undecided()) {
        return None;
    }
    let mut evidence = vec![arithmetic(run, saving)];
    if let Some(ci95) = saving.ci95 {
        let reading = if saving.undecided() { ": either may be faster" } else { "" };
        let (ratio, interval) = ratio_and_interval(saving.ratio, ci95);
        evidence.push(format!("Full to resumed {ratio} (95 % interval {interval}){reading}"));
    }
    if let Some(what_remains) = what_remains(series) {
        evidence.push(what_remains.to_owned());
    }
    let little = saving.share() < LITTLE;
    // An examination makes as many connections as its own questions need.
    if !little && !case.judgements.is_empty() {
        return None;
    }
    let title = if little {
        format!("Resuming {} by {} saves little of the handshake", run.asked.tls, means(run.asked.kind))
    } else {
        let n = connections(run.n);
        format!("{n} are too few to show whether resuming {} by {} saves anything", run.asked.tls, means(run.asked.kind))
    };
    let confidence = if little && !saving.undecided() { Confidence::Likely } else { Confidence::Possible };
    let finding = CAUSE.finding(Severity::Note, confidence, title).because(evidence);
    Some(if little {
        finding.by_design()
    } else {
        finding.fixed_by(vec![Remedy::general("Measure more connections: `reprise measure --count N`")])
    })
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

/// RFC 9846 §2.2: a resumption with psk_dhe_ke repeats the key exchange.
fn what_remains(series: &KindSeries<'_>) -> Option<&'static str> {
    let exchanges = series.with(|facts| facts.psk_mode == Some(PskMode::PskDheKe));
    (series.asked.tls == Version::Tls13 && exchanges > 0)
        .then_some("TLS 1.3 resumes with a fresh key exchange (psk_dhe_ke): only certificate and signature are saved")
}

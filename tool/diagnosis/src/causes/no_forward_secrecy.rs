//! `no-forward-secrecy`: a PSK was used without a key exchange.
//!
//! RFC 9846 §2.2: with psk_ke the application data are as secret as the PSK is, for as long as anyone has recorded them.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, PskMode};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 15, find: MeasuredRule::Once(of_measurement) }),
    ..page!("no-forward-secrecy")
};

fn uses_psk_alone(facts: &Facts) -> bool {
    facts.psk_mode == Some(PskMode::PskKe)
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let all = case.every_series();
    let uses: Vec<&KindSeries<'_>> = all.iter().filter(|series| series.with(uses_psk_alone) > 0).collect();
    let of = |series: &&KindSeries<'_>| {
        let (asked, all) = (series.asked, connections(series.count()));
        format!("{asked}: psk_ke on {} of {all}", series.with(uses_psk_alone))
    };
    let psk = if uses.iter().all(|series| series.asked.kind == Kind::Psk) { "external PSK" } else { "ticket's key" };
    let title = format!("The server accepts psk_ke: a later leak of the {psk} decrypts recorded traffic");
    let finding = case.found(&CAUSE, Severity::Risk, Confidence::Certain, title);
    (!uses.is_empty()).then(|| finding.because(uses.iter().map(of)))
}

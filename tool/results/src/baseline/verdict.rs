//! What the changes of `tls` come to: is TLS slower, or the machine, or the network?

use reprise_model::Phase;
use reprise_model::document::{BaselineVerdict, Change, ChangeCause, Control, ControlChange, PhaseChange};
use reprise_stats::Ratio;

/// Of everything that was compared; `None` where there is no `tls` in both results.
pub(super) fn verdict(phases: &[PhaseChange], controls: &[ControlChange]) -> Option<BaselineVerdict> {
    let all: Vec<&PhaseChange> = phases.iter().filter(|it| it.phase == Phase::Tls).collect();
    all.first()?;
    let raw = |it: &&PhaseChange| Ratio { median: it.ratio.unwrap_or(1.0), ci95: it.ci95 };
    let raw = reprise_stats::beyond_chance(&all.iter().map(raw).collect::<Vec<_>>());
    let own = beyond_chance(&all);
    let causes: Vec<ChangeCause> =
        all.iter().zip(own.into_iter().zip(raw)).map(|(it, is_beyond)| cause_of(it, is_beyond)).collect();
    let of = |cause: ChangeCause| -> Vec<&PhaseChange> {
        all.iter().zip(&causes).filter(|(_, its)| **its == cause).map(|(it, _)| *it).collect()
    };
    // TLS where anything is TLS's; the rest in the order in which it is the less certain.
    let order =
        [ChangeCause::Tls, ChangeCause::Machine, ChangeCause::Network, ChangeCause::MachineOrNetwork, ChangeCause::None];
    let cause = order.into_iter().find(|cause| !of(*cause).is_empty()).unwrap_or(ChangeCause::Unknown);
    Some(BaselineVerdict { cause, text: sentence(cause, &of(cause), controls) })
}

/// Which of these changes, as far as the controls do not explain them, are more than chance makes of as many.
pub(crate) fn beyond_chance(changes: &[&PhaseChange]) -> Vec<bool> {
    let judged = changes.iter().map(|it| it.judged());
    let ratios: Vec<Ratio> = judged.map(|(ratio, ci95, _)| Ratio { median: ratio.unwrap_or(1.0), ci95 }).collect();
    reprise_stats::beyond_chance(&ratios)
}

/// One row of many lies outside its interval by chance: `is_beyond` says whether what the controls leave of the change, and the
/// change itself, are more than that.
fn cause_of(change: &PhaseChange, is_beyond: (bool, bool)) -> ChangeCause {
    match (change.own.map(|own| own.cause), change.change) {
        (Some(ChangeCause::Tls), _) if !is_beyond.0 => ChangeCause::None,
        (Some(ChangeCause::Machine | ChangeCause::Network | ChangeCause::MachineOrNetwork), _) if !is_beyond.1 => {
            ChangeCause::None
        }
        (Some(cause), _) => cause,
        (None, Change::None) => ChangeCause::None,
        (None, _) => ChangeCause::Unknown,
    }
}

fn sentence(cause: ChangeCause, which: &[&PhaseChange], controls: &[ControlChange]) -> String {
    let names: Vec<String> = which.iter().map(|it| format!("{} {}", it.tls.number(), it.kind)).collect();
    let names = names.join(", ");
    let ratio = |it: &PhaseChange| if cause == ChangeCause::Tls { it.own.map(|own| own.ratio) } else { it.ratio };
    let is_slower = which.iter().any(|it| ratio(it).is_some_and(|ratio| ratio > 1.0));
    let is_faster = which.iter().any(|it| ratio(it).is_some_and(|ratio| ratio < 1.0));
    let how = match (is_slower, is_faster) {
        (true, true) => "different",
        (false, true) => "faster",
        _ => "slower",
    };
    let moved = |control: Control| {
        let it = controls.iter().find(|it| it.control == control);
        it.map_or_else(String::new, |it| format!(" ({:+.0} %)", (it.ratio - 1.0) * 100.0))
    };
    match cause {
        ChangeCause::Tls => format!("TLS is {how}: {names} changed by more than the calibration and connect."),
        ChangeCause::Machine if controls.iter().any(|it| it.control == Control::Calibration) => format!(
            "The machine is {how} now, not TLS: its calibration{} changed as {names} did.",
            moved(Control::Calibration)
        ),
        ChangeCause::Machine => {
            format!("The machine is {how} now, not TLS: connect{} changed as {names} did.", moved(Control::Connect))
        }
        ChangeCause::Network => format!(
            "The network is {how} now, not TLS: connect{} changed as {names} did; the machine's calibration{} did not.",
            moved(Control::Connect),
            moved(Control::Calibration)
        ),
        ChangeCause::MachineOrNetwork => {
            format!(
                "The machine or the network is {how} now, not TLS: connect{} changed as {names} did.",
                moved(Control::Connect)
            )
        }
        ChangeCause::None => "TLS is unchanged: no handshake changed by more than unchanged runs differ by.".to_owned(),
        ChangeCause::Unknown => "Whether TLS changed is unknown: there are no intervals, or they are too wide.".to_owned(),
    }
}

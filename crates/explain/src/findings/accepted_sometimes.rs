//! What `hidden-nodes` and `id-cache-per-process` share: sessions are accepted now and then, as by nodes that do not share them.

use reprise_trace::{Kind, Nanos, Phase};

use crate::figures::{connections, percent};
use crate::savings::{Saving, saving};
use crate::series::{Case, FEWEST, Series};

/// The connections that offered a session of this kind, where some were resumed and some refused.
pub(super) fn accepted_sometimes<'a>(case: &Case<'a>, kind: Kind) -> Vec<Series<'a>> {
    let sometimes = |series: &Series<'_>| series.asked.kind == kind && series.as_asked() > 0 && series.refusals() > 0;
    case.conclusive_series().into_iter().filter(sometimes).collect()
}

/// "48 of 100 connections that offered one resumed (48 %)", and how many nodes would do that.
pub(super) fn evidence(series: &Series<'_>) -> Vec<String> {
    let (resumed, offered) = (series.as_asked(), series.offered());
    let share = percent(resumed as f64 / offered as f64);
    vec![format!("{resumed} of {} that offered one resumed ({share})", connections(offered)), as_many_nodes(series)]
}

fn as_many_nodes(series: &Series<'_>) -> String {
    if series.as_asked() < FEWEST {
        return format!("Under {FEWEST} resumed: too few to tell how many nodes without shared state would do it");
    }
    match (series.offered() as f64 / series.as_asked() as f64).round() as u64 {
        0 | 1 => "Rarer than two nodes without shared state would: a small cache or a change of keys may do it".to_owned(),
        nodes => format!("About 1 in {nodes}, as {nodes} nodes without shared state would"),
    }
}

/// What the refusals cost a connection on average, where it is shown that resuming saves anything.
pub(super) fn average_cost(case: &Case<'_>, series: &Series<'_>) -> Option<Nanos> {
    let run = case.figures.run(series.asked.tls, series.asked.kind)?;
    let saved = saving(case.figures, run, Phase::Tls).filter(Saving::is_shown)?.saved();
    let refused = series.refusals() as f64 / series.count() as f64;
    Some(Nanos((saved.0 as f64 * refused).round() as u64))
}

//! A sweep: a load for each of several shares of resumed connections, and what a full and a resumed connection cost the server.

use std::io;

use reprise_model::Kind;
use reprise_model::document::{LoadCosts, LoadDocument, LoadShare, LoadSweep, Provenance, Target};
use reprise_stats::{LeastSquaresLine, Point, Ratio, shuffle};

use crate::load::{LoadObserver, LoadOutcome, run};
use crate::options::LoadOptions;

/// What came of a sweep.
pub struct Sweep {
    /// Of the highest share that was measured.
    pub outcome: LoadOutcome,
    /// Its options.
    pub options: LoadOptions,
    /// Whether the target was gone when the last one ended.
    pub target_is_gone: bool,
    /// What was measured of each share.
    pub measured: LoadSweep,
}

impl Sweep {
    /// The document of this sweep: that of [`Sweep::outcome`], with every share that was measured.
    pub fn document(&self, target: Target, interrupted: bool, provenance: Provenance) -> LoadDocument {
        let mut document = self.outcome.document(&self.options, target, interrupted, provenance);
        document.sweep = Some(self.measured.clone());
        document
    }
}

/// Makes the load of `options` once for each share, in per cent, of connections that offer a session: of the kinds that its mix names, or
/// else by ticket. What drifts meanwhile must not look like an effect of the share, so the order is random, by the seed of the options.
/// `None` where it was stopped before anything was measured.
///
/// # Errors
/// As [`run`].
pub fn sweep(
    options: &LoadOptions,
    shares: &[u32],
    stop: &(dyn Fn() -> bool + Sync),
    observer: &dyn LoadObserver,
) -> io::Result<Option<Sweep>> {
    let mut order = shares.to_vec();
    shuffle(&mut order, options.seed);
    let mut measured = LoadSweep::default();
    let mut best: Option<((bool, u32), LoadOutcome, LoadOptions)> = None;
    let mut target_is_gone = false;
    for share in order {
        if stop() || target_is_gone {
            break;
        }
        let options = LoadOptions { mix: mix(&options.mix, share), ..options.clone() };
        observer.offers(share);
        let outcome = run(&options, stop, observer)?;
        target_is_gone = outcome.target_is_gone();
        let row = row(&outcome, &options, share);
        let is_nothing = row.connections == 0;
        if is_nothing && best.is_some() && (stop() || target_is_gone) {
            break;
        }
        measured.shares.push(row);
        let processors = outcome.server_processors();
        measured.server_processors = measured.server_processors.into_iter().chain(processors).reduce(f64::max);
        // One of which nothing completed tells of nothing.
        let rank = (!is_nothing, share);
        if best.as_ref().is_none_or(|(highest, ..)| rank > *highest) {
            best = Some((rank, outcome, options));
        }
    }
    measured.shares.sort_by(|one, other| one.asked.total_cmp(&other.asked));
    measured.costs = line(&measured).and_then(costs);
    Ok(best.map(|(_, outcome, options)| Sweep { outcome, options, target_is_gone, measured }))
}

/// The server's processor time for a connection over the share that resumed; `None` where the server was not named, or the shares do not
/// differ.
pub(crate) fn line(sweep: &LoadSweep) -> Option<LeastSquaresLine> {
    let point = |share: &LoadShare| {
        Some(Point { x: share.resumed?, y: share.server_cpu_ns? as f64, weight: share.connections as f64 })
    };
    LeastSquaresLine::through(&sweep.shares.iter().filter_map(point).collect::<Vec<_>>())
}

/// The ends of the line; `None` where one of them is no cost.
fn costs(line: LeastSquaresLine) -> Option<LoadCosts> {
    let ns = |value: f64| value.max(0.0).round() as u64;
    let ends = |cost: Ratio| cost.ci95.map(|ends| ends.map(ns));
    let (full, resumed) = (line.at(0.0), line.at(1.0));
    (full.median > 0.0 && resumed.median > 0.0).then(|| LoadCosts {
        full_ns: ns(full.median),
        full_ci95_ns: ends(full),
        resumed_ns: ns(resumed.median),
        resumed_ci95_ns: ends(resumed),
    })
}

/// Of a hundred connections, so many offer a session of the kinds of this mix.
fn mix(asked: &[(Kind, u32)], share: u32) -> Vec<(Kind, u32)> {
    let mut resumed: Vec<(Kind, u32)> = asked.iter().copied().filter(|(kind, _)| kind.is_resumption()).collect();
    if resumed.is_empty() {
        resumed.push((Kind::Ticket, 1));
    }
    let all = resumed.iter().fold(0_u32, |sum, (_, weight)| sum.saturating_add(*weight));
    let full = (Kind::Full, all.saturating_mul(100_u32.saturating_sub(share)));
    let resumed = resumed.into_iter().map(|(kind, weight)| (kind, weight.saturating_mul(share)));
    std::iter::once(full).chain(resumed).filter(|(_, weight)| *weight > 0).collect()
}

fn row(outcome: &LoadOutcome, options: &LoadOptions, share: u32) -> LoadShare {
    let summary = &outcome.summary;
    let connections = summary.completed() + summary.late + summary.warmup;
    let of_all = |count: f64| (connections > 0).then(|| count / connections as f64);
    let server = outcome.used.server.as_ref().map(|used| used.total().as_nanos() as f64);
    LoadShare {
        asked: f64::from(share) / 100.0,
        resumed: of_all(summary.resumed as f64),
        connections,
        failed: summary.faults.by_name().values().chain(summary.warmup_faults.by_name().values()).sum(),
        rate: summary.completed() as f64 / outcome.loaded(options).as_secs_f64().max(1e-9),
        server_cpu_ns: server.and_then(of_all).map(|ns| ns.round() as u64),
        bottleneck: outcome.reason(options).verdict(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_divided_among_the_kinds_that_resume() {
        let asked = [(Kind::Full, 7), (Kind::Id, 1), (Kind::Ticket, 3)];
        assert_eq!(mix(&asked, 25), [(Kind::Full, 300), (Kind::Id, 25), (Kind::Ticket, 75)]);
        assert_eq!(mix(&[(Kind::Full, 1)], 100), [(Kind::Ticket, 100)]);
        assert_eq!(mix(&asked, 0), [(Kind::Full, 400)]);
    }
}

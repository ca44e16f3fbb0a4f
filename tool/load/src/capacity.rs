//! What capacity a rate needs, today and after a restart that loses all sessions, by what connections cost the server.

use std::time::Duration;

use reprise_model::document::{LoadPlan, LoadSweep};
use reprise_stats::Ratio;

use crate::sweep::line;

/// What is planned for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanTarget {
    /// Connections each second.
    pub rate: f64,
    /// The share that resumes, 0 to 1; `None` for the measured one of the load in which the most connections offered a session.
    pub share: Option<f64>,
    /// Processors that the server is to have; `None` for those that the measured server could use.
    pub processors: Option<f64>,
    /// The time between two connections of one client.
    pub gap: Option<Duration>,
}

/// The capacity that this needs. `None` where the sweep does not say what connections cost.
///
/// The model: a connection costs the server what the line through the shares says. N = rate × gap clients each connect once in a gap, and
/// have no session after the restart: in the first gap all handshakes are full, N of them, and then the share resumes as before. Where
/// the server lacks the processors, connections wait, none gives up, and the backlog is worked off by what the server has beyond the rate:
///
/// ```text
/// recovery = max(gap, N · (cost of a full one − cost at the share) / (processors − rate · cost at the share))
/// ```
pub fn plan(sweep: &LoadSweep, target: PlanTarget) -> Option<LoadPlan> {
    sweep.costs?;
    let line = line(sweep)?;
    let measured = sweep.shares.last().and_then(|share| share.resumed);
    let share = target.share.or(measured)?;
    let server_processors = target.processors.or(sweep.server_processors)?;
    let [now, restart] = [line.at(share), line.at(0.0)].map(|cost| processors(target.rate, cost));
    let clients = target.gap.map(|gap| target.rate * gap.as_secs_f64());
    let recovery = target.gap.and_then(|gap| {
        let (excess, spare) = (restart.0 - now.0, server_processors - now.0);
        let seconds = gap.as_secs_f64();
        let needed = if excess > 0.0 { seconds.max(seconds * excess / spare) } else { 0.0 };
        (spare > 0.0).then_some(needed)
    });
    Some(LoadPlan {
        rate: target.rate,
        share,
        share_is_measured: target.share.is_none(),
        processors: now.0,
        processors_ci95: now.1,
        restart_processors: restart.0,
        restart_processors_ci95: restart.1,
        server_processors,
        server_processors_are_given: target.processors.is_some(),
        gap_ns: target.gap.map(|gap| (gap.as_secs_f64() * 1e9) as u64),
        clients: clients.map(|clients| clients.round() as u64),
        recovery_ns: recovery.map(|seconds| (seconds * 1e9).round() as u64),
    })
}

/// Processors that so many connections a second use, each at this cost in nanoseconds.
fn processors(rate: f64, cost: Ratio) -> (f64, Option<[f64; 2]>) {
    let of = |ns: f64| rate * ns.max(0.0) / 1e9;
    (of(cost.median), cost.ci95.map(|ends| ends.map(of)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::document::{LoadCosts, LoadShare, Verdict};

    /// A full connection costs 1 ms, a resumed one 0.2 ms.
    fn sweep() -> LoadSweep {
        let share = |share: f64| LoadShare {
            asked: share,
            resumed: Some(share),
            connections: 1000,
            failed: 0,
            rate: 100.0,
            server_cpu_ns: Some((1e6 - 8e5 * share) as u64),
            bottleneck: Verdict::Server,
        };
        let costs = LoadCosts { full_ns: 1_000_000, full_ci95_ns: None, resumed_ns: 200_000, resumed_ci95_ns: None };
        LoadSweep { shares: [0.0, 0.5, 1.0].map(share).to_vec(), server_processors: Some(1.0), costs: Some(costs) }
    }

    fn target(rate: f64, share: Option<f64>, processors: Option<f64>) -> PlanTarget {
        PlanTarget { rate, share, processors, gap: Some(Duration::from_secs(10)) }
    }

    fn recovery(target: PlanTarget) -> Option<f64> {
        Some(plan(&sweep(), target)?.recovery_ns? as f64 / 1e9)
    }

    #[test]
    fn processors_follow_from_costs() {
        let found = plan(&sweep(), target(10_000.0, Some(0.5), Some(8.0))).unwrap();
        let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 1e-6;
        assert!(near(found.processors, 6.0) && near(found.restart_processors, 10.0), "{found:?}");
        assert_eq!((found.clients, found.share_is_measured), (Some(100_000), false));
        let measured = plan(&sweep(), PlanTarget { gap: None, ..target(10_000.0, None, None) }).unwrap();
        assert!(near(measured.processors, 2.0) && measured.share_is_measured && near(measured.server_processors, 1.0));
        assert_eq!((measured.clients, measured.recovery_ns), (None, None));
    }

    #[test]
    fn a_backlog_prolongs_the_recovery() {
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() / wanted - 1.0).abs() < 1e-6;
        // All that the storm needs: each client has connected once after a gap.
        assert!(near(recovery(target(1000.0, Some(1.0), Some(1.0))), 10.0));
        assert!(near(recovery(target(1000.0, Some(1.0), Some(4.0))), 10.0));
        // 2 processors are needed and 1 is there: 20,000 full ones, 16 s more than resumed ones would take, by the 0.6 that are left.
        assert!(near(recovery(target(2000.0, Some(1.0), Some(1.0))), 16.0 / 0.6));
        assert_eq!(recovery(target(6000.0, Some(1.0), Some(1.0))), None, "not even resumed ones");
        assert_eq!(recovery(target(900.0, Some(0.0), Some(1.0))), Some(0.0), "nothing is lost");
    }

    #[test]
    fn without_costs_there_is_no_plan() {
        let unknown = LoadSweep { costs: None, ..sweep() };
        assert_eq!(plan(&unknown, target(1.0, None, None)), None);
    }
}

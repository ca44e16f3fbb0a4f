//! A handshake laid out in time: when each step begins, how long it takes, and what is left.

use reprise_model::document::{CompareSide, ExplainPath, ExplainSide, ExplainStep, SpeedCost, SpeedDocument};
use reprise_speed::{Handshake, Step, Work};

use crate::seen::Seen;

/// What operations cost at each side.
pub(crate) struct Costs<'a> {
    pub(crate) speed: &'a SpeedDocument,
    pub(crate) client: &'a str,
    pub(crate) server: &'a str,
}

/// A path, and the square of half its interval; `None` where an operation has no interval.
type Laid = (ExplainPath, Option<f64>);

impl Costs<'_> {
    /// All the times of it.
    fn of(&self, work: &Work) -> Option<SpeedCost> {
        let stack = if work.side == CompareSide::Client { self.client } else { self.server };
        reprise_speed::Costs::of(&self.speed.rows, stack).in_handshake(work)
    }

    /// All operations of both sides, on the path or not.
    pub(crate) fn of_all(&self, handshake: &Handshake) -> Option<f64> {
        let works = handshake.steps().into_iter().filter_map(Step::work);
        works.map(|work| Some(self.of(&work)?.median_ns)).sum()
    }

    pub(crate) fn measured(&self, seen: &Seen) -> ExplainPath {
        let (mut path, _) = self.lay(seen, Vec::new());
        path.measured_ns = Some(seen.median_ns);
        path.unexplained_ns = seen.median_ns as f64 - path.path_ns;
        path
    }

    /// `error_ns` is how far the model is off for what the change touches; `None` where it is not known.
    pub(crate) fn changed(&self, base: &Seen, changed: &Seen, words: Vec<String>, error_ns: Option<f64>) -> ExplainPath {
        let (of_base, base_variance) = self.lay(base, Vec::new());
        let (mut path, variance) = self.lay(changed, words);
        path.unexplained_ns = base.median_ns as f64 - of_base.path_ns;
        let predicted = (path.path_ns + path.unexplained_ns).max(0.0);
        path.predicted_ns = Some(predicted);
        let measured = base.ci95_ns.map(|[low, high]| (high.saturating_sub(low) as f64 / 2.0).powi(2));
        path.predicted_ci95_ns = measured.zip(base_variance).zip(variance).map(|((measured, base), changed)| {
            let half = (measured + base + changed + error_ns.unwrap_or_default().powi(2)).sqrt();
            [(predicted - half).max(0.0), predicted + half]
        });
        path.model_error_ns = error_ns;
        path
    }

    /// Lays everything out in time.
    fn lay(&self, seen: &Seen, changes: Vec<String>) -> Laid {
        let handshake = &seen.handshake;
        let mut list = handshake.steps();
        let halves = list.iter().filter(|step| matches!(step, Step::Network { .. })).count() as u64;
        // A HelloRetryRequest, or a server that waits for another turn.
        let round_trips = seen.round_trips.unwrap_or(halves / 2).max(halves / 2);
        let more = (round_trips * 2 - halves) as usize;
        list.splice(0..0, std::iter::repeat_n(Step::Network { message: "one more turn" }, more));
        let (mut at, mut variance, mut steps) = (0.0, Some(0.0), Vec::new());
        for step in list {
            let (step, half) = self.step(step, seen, at);
            if step.on_path {
                at += step.took_ns;
                variance = variance.zip(half).map(|(sum, half): (f64, f64)| sum + half * half);
            }
            steps.push(step);
        }
        let path = ExplainPath {
            tls: handshake.version,
            kind: handshake.kind,
            key: handshake.key.clone(),
            group: handshake.group.clone(),
            changes,
            round_trip_ns: seen.round_trip_ns,
            round_trips,
            steps,
            path_ns: at,
            measured_ns: None,
            unexplained_ns: 0.0,
            predicted_ns: None,
            predicted_ci95_ns: None,
            model_error_ns: None,
        };
        (path, variance)
    }

    /// A step that begins now, and half its interval.
    fn step(&self, step: Step, seen: &Seen, begin_ns: f64) -> (ExplainStep, Option<f64>) {
        let work = match step {
            Step::Network { message } => {
                let step = ExplainStep {
                    side: ExplainSide::Network,
                    operation: None,
                    algorithm: None,
                    times: 1,
                    message: message.to_owned(),
                    begin_ns,
                    took_ns: seen.round_trip_ns as f64 / 2.0,
                    on_path: true,
                };
                // Its spread is in the handshake's too.
                return (step, Some(0.0));
            }
            Step::Operation(work) => work,
        };
        let cost = self.of(&work);
        let half = cost.map_or(Some(0.0), |cost| cost.ci95_ns.map(|[low, high]| (high - low) / 2.0));
        let step = ExplainStep {
            side: if work.side == CompareSide::Client { ExplainSide::Client } else { ExplainSide::Server },
            operation: Some(work.operation),
            algorithm: Some(work.algorithm),
            times: work.times,
            message: work.after.to_owned(),
            begin_ns,
            took_ns: cost.map_or(0.0, |cost| cost.median_ns),
            on_path: !work.overlaps,
        };
        (step, half)
    }

    /// Operations without a figure, each once.
    pub(crate) fn missing(&self, works: &[Work]) -> Vec<String> {
        let mut warnings = Vec::new();
        for work in works.iter().filter(|work| self.of(work).is_none()) {
            let stack = if work.side == CompareSide::Client { self.client } else { self.server };
            let warning = format!("{stack} has no figure of {} {}: it counts as nothing", work.operation, work.algorithm);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::seen::example;
    use reprise_model::document::SpeedRow;
    use reprise_model::{Kind, Operation};
    use reprise_speed::{Primitive, catalogue};

    /// Every operation of one stack takes this long.
    fn speed(cost: impl Fn(&Primitive) -> f64) -> SpeedDocument {
        // Those that stand for others within a handshake would hide what is laid out here.
        let is_plain = |it: &Primitive| it.operation < Operation::Exchange;
        let row = |primitive: Primitive| SpeedRow {
            stack: "it".to_owned(),
            operation: primitive.operation,
            algorithm: primitive.algorithm.to_owned(),
            bytes: None,
            instructions: true,
            n: 20,
            batch: 1,
            once: SpeedCost {
                median_ns: cost(&primitive),
                ci95_ns: Some([cost(&primitive) - 1.0, cost(&primitive) + 1.0]),
                min_ns: cost(&primitive),
            },
        };
        SpeedDocument { rows: catalogue().into_iter().filter(is_plain).map(row).collect(), ..SpeedDocument::default() }
    }

    fn signing_costs_most(primitive: &Primitive) -> f64 {
        match (primitive.operation, primitive.algorithm) {
            (Operation::Sign, "rsa-2048") => 1000.0,
            (Operation::Sign, _) => 50.0,
            (Operation::Hkdf, _) => 0.0,
            _ => 10.0,
        }
    }

    fn change(text: &str) -> Change {
        Change::read(text, |_| Ok(std::time::Duration::from_micros(1))).unwrap()
    }

    #[test]
    fn a_path_is_the_round_trip_and_what_is_waited_for() {
        let speed = speed(signing_costs_most);
        let costs = Costs { speed: &speed, client: "it", server: "it" };
        let path = costs.measured(&example(Kind::Full, 200, 2000));
        // A pair, 200 of network, a pair and a secret, the signature, a secret, two verifications.
        assert_eq!(path.path_ns, 10.0 + 200.0 + 20.0 + 1000.0 + 10.0 + 20.0);
        assert_eq!(path.unexplained_ns, 2000.0 - path.path_ns);
        assert_eq!(path.share_of(ExplainSide::Network), 200.0);
        assert_eq!(path.share_of(ExplainSide::Server), 1020.0);
        let overlaps: Vec<_> = path.steps.iter().filter(|step| !step.on_path).map(|step| step.operation).collect();
        assert_eq!(overlaps, [Some(Operation::Hkdf)], "the server's secrets of application data");
    }

    #[test]
    fn a_change_keeps_what_is_unexplained() {
        let speed = speed(signing_costs_most);
        let costs = Costs { speed: &speed, client: "it", server: "it" };
        let base = example(Kind::Full, 200, 2000);
        let asked = change("key=p-256,rtt=1us");
        assert_eq!(asked.words(), ["key=p-256", "rtt=1.0 µs"]);
        let path = costs.changed(&base, &asked.of(&base), asked.words(), Some(0.0));
        assert_eq!(path.predicted_ns, Some(2000.0 - 950.0 + 800.0));
        let [low, high] = path.predicted_ci95_ns.unwrap();
        assert!(low < 1850.0 && high > 1850.0 && high - low < 60.0, "{low} to {high}");
        let off = costs.changed(&base, &asked.of(&base), asked.words(), Some(40.0));
        let [lower, higher] = off.predicted_ci95_ns.unwrap();
        assert!(lower < 1810.0 && higher > 1890.0 && lower > low - 40.0 && off.model_error_ns == Some(40.0), "{off:?}");
        let ticket = change("kind=ticket");
        let path = costs.changed(&base, &ticket.of(&base), ticket.words(), None);
        assert_eq!(path.key, None);
        assert!(path.steps.iter().all(|step| step.operation != Some(Operation::Sign)));
    }

    #[test]
    fn one_more_turn_is_on_the_path() {
        let speed = speed(|_| 0.0);
        let costs = Costs { speed: &speed, client: "it", server: "it" };
        let retried = Seen { round_trips: Some(2), ..example(Kind::Full, 200, 2000) };
        assert_eq!(costs.measured(&retried).path_ns, 400.0);
    }
}

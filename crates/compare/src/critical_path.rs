//! The critical path of a handshake that was measured: round trips and operations in the order of time, what they leave unexplained,
//! and what a change of key, group, round trip or kind would bring.
//!
//! No constant comes from the handshake that is explained: operations are measured one by one, now, and a round trip is `connect`. What a
//! change predicts keeps what the handshake that it is derived from leaves unexplained.

use std::time::Duration;

use reprise_lab::LabError;
use reprise_model::document::{
    CompareSide, ExplainDocument, ExplainPath, ExplainSide, ExplainStep, MeasureDocument, Provenance, Run, SpeedCost,
    SpeedDocument, TraceDocument, TracedConnection,
};
use reprise_model::{ClientAuthentication, Kind, Nanos, Operation, Phase, Verification, Version, What};

use crate::comparison::{Audience, Effort};
use crate::speed::{Handshake, Primitive, SpeedPlan, Step, Work, catalogue, speed};
use crate::stacks::FoundStack;
use crate::worker::Launcher;

/// The result that is explained.
#[derive(Clone, Copy)]
pub enum Measured<'a> {
    /// Of `measure`.
    Measure(&'a MeasureDocument),
    /// Of `trace`.
    Trace(&'a TraceDocument),
}

/// What is asked of a result.
pub struct ExplainPlan<'a> {
    /// The result.
    pub result: Measured<'a>,
    /// What is to be other.
    pub change: Option<&'a Change>,
    /// Whose operations stand for the client's: our engine is built on AWS-LC.
    pub client: &'a FoundStack,
    /// Whose operations stand for the server's.
    pub server: &'a FoundStack,
    /// Whether nobody said so.
    pub server_assumed: bool,
    /// Signatures of certificates that the client verifies, where the result does not say.
    pub certificates: u64,
    /// How much is measured of each operation.
    pub effort: Effort,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}

/// What is to be other than it was measured: `key=p-256,group=x25519mlkem768,rtt=80ms,kind=ticket,tls=1.3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    key: Option<String>,
    group: Option<String>,
    round_trip: Option<Duration>,
    kind: Option<Kind>,
    version: Option<Version>,
}

impl Change {
    /// From `NAME=VALUE,…`; `duration` reads a round trip.
    ///
    /// # Errors
    /// What is no such change, in words.
    pub fn read(text: &str, duration: impl Fn(&str) -> Result<Duration, String>) -> Result<Self, String> {
        let mut change = Self::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("invalid change '{part}': use NAME=VALUE"))?;
            match name {
                "key" => change.key = Some(algorithm(value, |it| it.key.is_some())?),
                "group" => change.group = Some(algorithm(value, |it| it.operation == Operation::KeyPair)?),
                "rtt" => change.round_trip = Some(duration(value)?),
                "kind" => change.kind = Some(kind(value)?),
                "tls" => change.version = Some(value.parse()?),
                _ => return Err(format!("unknown change '{name}'; known: key, group, rtt, kind, tls")),
            }
        }
        Ok(change)
    }
}

fn algorithm(name: &str, fits: impl Fn(&Primitive) -> bool) -> Result<String, String> {
    let mut known: Vec<&str> = catalogue().iter().filter(|it| fits(it)).map(|it| it.algorithm).collect();
    known.dedup();
    let name = name.to_lowercase();
    if known.contains(&name.as_str()) { Ok(name) } else { Err(format!("unknown '{name}'; known: {}", known.join(", "))) }
}

/// Early data has no path of its own: it is sent at once.
fn kind(name: &str) -> Result<Kind, String> {
    let known = [Kind::Full, Kind::Id, Kind::Ticket, Kind::Psk];
    known
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| format!("unknown kind '{name}'; known: {}", known.map(Kind::name).join(", ")))
}

impl Change {
    /// As it was asked for, one by one.
    fn words(&self) -> Vec<String> {
        let round_trip = self.round_trip.map(|it| format!("rtt={}", Nanos::from(it)));
        let parts = [
            self.version.map(|it| format!("tls={}", it.number())),
            self.kind.map(|it| format!("kind={it}")),
            self.key.as_ref().map(|it| format!("key={it}")),
            self.group.as_ref().map(|it| format!("group={it}")),
            round_trip,
        ];
        parts.into_iter().flatten().collect()
    }

    /// A handshake with it.
    fn of(&self, base: &Seen) -> Seen {
        let mut changed = base.clone();
        let handshake = &mut changed.handshake;
        handshake.version = self.version.unwrap_or(handshake.version);
        handshake.kind = self.kind.unwrap_or(handshake.kind);
        if handshake.kind == Kind::Full {
            handshake.key = self.key.clone().or(handshake.key.take());
        } else {
            // Who resumes or has a PSK sends no certificate, and under TLS 1.2 there is no key exchange either.
            handshake.key = None;
            handshake.mutual = false;
        }
        let has_exchange = handshake.version == Version::Tls13 || !handshake.kind.is_resumption();
        handshake.group = self.group.clone().or(handshake.group.take()).filter(|_| has_exchange);
        if let Some(round_trip) = self.round_trip {
            changed.round_trip_ns = round_trip.as_nanos() as u64;
        }
        if (self.version, self.kind) != (None, None) {
            changed.round_trips = None;
        }
        changed
    }
}

/// A handshake of the result.
#[derive(Clone, Debug)]
struct Seen {
    handshake: Handshake,
    round_trip_ns: u64,
    /// `None` where they are the protocol's.
    round_trips: Option<u64>,
    median_ns: u64,
    ci95_ns: Option<[u64; 2]>,
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// `connect` is no round trip of TLS.
    #[error("connections went through {0}: `connect` is no round trip of TLS, so the path is not known")]
    NotDirect(String),
    /// There is no handshake in it.
    #[error("the result has no handshake that was completed")]
    Nothing,
    /// A key could not be made.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// Measures the operations that the handshakes of the result need, and lays them out in time.
///
/// # Errors
/// Where the result has no handshake whose path is known.
pub fn explain(
    plan: &ExplainPlan<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> Result<ExplainDocument, ExplainError> {
    let seen = seen(plan)?;
    let changed = plan.change.map(|change| (base(&seen, change), change));
    let changed = changed.and_then(|(base, change)| Some((base?, change.of(base?), change.words())));
    let all = seen.iter().chain(changed.as_ref().map(|(_, changed, _)| changed));
    let works: Vec<Work> = all.flat_map(|seen| seen.handshake.steps()).filter_map(Step::work).collect();
    let is_needed =
        |it: &Primitive| works.iter().any(|work| work.operation == it.operation && work.algorithm == it.algorithm);
    let primitives: Vec<Primitive> = catalogue().into_iter().filter(is_needed).collect();
    let stacks =
        if plan.client == plan.server { vec![plan.server.clone()] } else { vec![plan.client.clone(), plan.server.clone()] };
    let speed_plan = SpeedPlan {
        primitives: &primitives,
        stacks: &stacks,
        effort: plan.effort,
        without_instructions: false,
        floor: false,
        seed: plan.seed,
    };
    let speed = speed(&speed_plan, launcher, provenance.clone(), audience)?;
    let costs = Costs { speed: &speed, client: &plan.client.name, server: &plan.server.name };
    let mut paths: Vec<ExplainPath> = seen.iter().map(|seen| costs.measured(seen)).collect();
    paths.extend(changed.map(|(base, changed, words)| costs.changed(base, &changed, words)));
    let (target, of) = match plan.result {
        Measured::Measure(it) => (&it.target, &it.schema),
        Measured::Trace(it) => (&it.target, &it.schema),
    };
    Ok(ExplainDocument {
        schema: ExplainDocument::SCHEMA.to_owned(),
        target: format!("{}:{}", target.host, target.port),
        of: of.clone(),
        client_stack: plan.client.name.clone(),
        server_stack: plan.server.name.clone(),
        server_assumed: plan.server_assumed,
        paths,
        warnings: costs.missing(&works),
        interrupted: audience.stops(),
        provenance,
    })
}

/// Every handshake of the result whose path is known.
fn seen(plan: &ExplainPlan<'_>) -> Result<Vec<Seen>, ExplainError> {
    let target = match plan.result {
        Measured::Measure(it) => &it.target,
        Measured::Trace(it) => &it.target,
    };
    if let Some(between) = target.proxy.as_ref().or(target.starttls.as_ref()) {
        return Err(ExplainError::NotDirect(between.clone()));
    }
    let seen: Vec<Seen> = match plan.result {
        Measured::Measure(document) => document.runs.iter().filter_map(|run| of_run(run, plan.certificates)).collect(),
        Measured::Trace(document) => {
            let connections = document.traces.iter().flat_map(|trace| trace.full.iter().chain(&trace.resumed));
            connections.filter_map(|traced| of_trace(traced, plan.certificates)).collect()
        }
    };
    if seen.is_empty() { Err(ExplainError::Nothing) } else { Ok(seen) }
}

fn of_run(run: &Run, certificates: u64) -> Option<Seen> {
    let (tls, connect) = (run.phases.get(&Phase::Tls)?, run.phases.get(&Phase::Connect)?);
    let observed = &run.observed;
    (run.asked.kind != Kind::Early).then(|| Seen {
        handshake: Handshake {
            version: run.asked.tls,
            kind: run.asked.kind,
            key: observed.peer_key.clone(),
            group: observed.group.as_deref().map(str::to_lowercase),
            hash: hash(observed.cipher.as_deref().unwrap_or_default()),
            certificates,
            mutual: observed.client_certificate_sent > 0,
        },
        round_trip_ns: connect.median_ns,
        round_trips: run.round_trips,
        median_ns: tls.median_ns,
        ci95_ns: tls.ci95_ns,
    })
}

fn of_trace(traced: &TracedConnection, certificates: u64) -> Option<Seen> {
    let outcome = &traced.outcome;
    let (connect, tls) = (traced.phases.connect?, traced.phases.tls?);
    (outcome.kind != Kind::Early).then(|| Seen {
        handshake: Handshake {
            version: outcome.version,
            kind: outcome.kind,
            key: outcome.peer_key.clone(),
            group: outcome.group.as_deref().map(str::to_lowercase),
            hash: hash(&outcome.cipher),
            certificates: certificates_of(traced).unwrap_or(certificates),
            mutual: outcome.client_authentication == ClientAuthentication::Sent,
        },
        round_trip_ns: connect.0,
        round_trips: Some(traced.round_trips),
        median_ns: tls.0,
        ci95_ns: None,
    })
}

/// Signatures of certificates that the client has verified: one of each certificate, if it verified the chain.
fn certificates_of(traced: &TracedConnection) -> Option<u64> {
    if traced.outcome.verification != Verification::Verified {
        return Some(0);
    }
    let is_certificate = |what: &What| matches!(what, What::Handshake { message } if message.as_ref() == "Certificate");
    let message = traced.events.iter().find(|event| is_certificate(&event.what))?;
    let list = message.fields.iter().find(|field| field.name == "certificate_list")?;
    list.value.split(' ').next()?.parse().ok()
}

fn hash(cipher: &str) -> &'static str {
    if cipher.ends_with("SHA384") { "sha-384" } else { "sha-256" }
}

/// The handshake that a change is derived from: that of the version and kind that is asked for, else the full one of that version, else of any.
fn base<'a>(seen: &'a [Seen], change: &Change) -> Option<&'a Seen> {
    let newest = seen.iter().map(|it| it.handshake.version).max();
    let version = change.version.or(newest);
    let of = |version: Option<Version>, kind: Kind| {
        seen.iter().find(|it| Some(it.handshake.version) == version && it.handshake.kind == kind)
    };
    let wanted = of(version, change.kind.unwrap_or(Kind::Full));
    wanted.or_else(|| of(version, Kind::Full)).or_else(|| of(newest, Kind::Full)).or(seen.first())
}

/// What operations cost at each side.
struct Costs<'a> {
    speed: &'a SpeedDocument,
    client: &'a str,
    server: &'a str,
}

/// A path, and the square of half its interval; `None` where an operation has no interval.
type Laid = (ExplainPath, Option<f64>);

impl Costs<'_> {
    fn of(&self, work: &Work) -> Option<SpeedCost> {
        let stack = if work.side == CompareSide::Client { self.client } else { self.server };
        self.speed.row(stack, work.operation, &work.algorithm, true).map(|row| row.once)
    }

    fn measured(&self, seen: &Seen) -> ExplainPath {
        let (mut path, _) = self.lay(seen, Vec::new());
        path.measured_ns = Some(seen.median_ns);
        path.unexplained_ns = seen.median_ns as f64 - path.path_ns;
        path
    }

    fn changed(&self, base: &Seen, changed: &Seen, words: Vec<String>) -> ExplainPath {
        let (of_base, base_variance) = self.lay(base, Vec::new());
        let (mut path, variance) = self.lay(changed, words);
        path.unexplained_ns = base.median_ns as f64 - of_base.path_ns;
        let predicted = (path.path_ns + path.unexplained_ns).max(0.0);
        path.predicted_ns = Some(predicted);
        let measured = base.ci95_ns.map(|[low, high]| (high.saturating_sub(low) as f64 / 2.0).powi(2));
        path.predicted_ci95_ns = measured.zip(base_variance).zip(variance).map(|((measured, base), changed)| {
            let half = (measured + base + changed).sqrt();
            [(predicted - half).max(0.0), predicted + half]
        });
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
        let (cost, times) = (self.of(&work), work.times as f64);
        let half = cost.map_or(Some(0.0), |cost| cost.ci95_ns.map(|[low, high]| times * (high - low) / 2.0));
        let step = ExplainStep {
            side: if work.side == CompareSide::Client { ExplainSide::Client } else { ExplainSide::Server },
            operation: Some(work.operation),
            algorithm: Some(work.algorithm),
            times: work.times,
            message: work.after.to_owned(),
            begin_ns,
            took_ns: cost.map_or(0.0, |cost| cost.median_ns * times),
            on_path: !work.overlaps,
        };
        (step, half)
    }

    /// Operations without a figure, each once.
    fn missing(&self, works: &[Work]) -> Vec<String> {
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

impl Step {
    fn work(self) -> Option<Work> {
        match self {
            Self::Network { .. } => None,
            Self::Operation(work) => Some(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::document::SpeedRow;

    fn seen(kind: Kind, round_trip_ns: u64, median_ns: u64) -> Seen {
        let is_full = kind == Kind::Full;
        let handshake = Handshake {
            version: Version::Tls13,
            kind,
            key: is_full.then(|| "rsa-2048".to_owned()),
            group: Some("x25519".to_owned()),
            hash: "sha-256",
            certificates: 1,
            mutual: false,
        };
        Seen { handshake, round_trip_ns, round_trips: Some(1), median_ns, ci95_ns: Some([median_ns - 10, median_ns + 10]) }
    }

    /// Every operation of one stack takes this long.
    fn speed(cost: impl Fn(&Primitive) -> f64) -> SpeedDocument {
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
        SpeedDocument { rows: catalogue().into_iter().map(row).collect(), ..SpeedDocument::default() }
    }

    fn signing_costs_most(primitive: &Primitive) -> f64 {
        match (primitive.operation, primitive.algorithm) {
            (Operation::Sign, "rsa-2048") => 1000.0,
            (Operation::Sign, _) => 50.0,
            (Operation::Hkdf, _) => 0.0,
            _ => 10.0,
        }
    }

    fn duration(text: &str) -> Result<Duration, String> {
        if text == "1us" { Ok(Duration::from_micros(1)) } else { Err(format!("no duration: {text}")) }
    }

    fn change(text: &str) -> Change {
        Change::read(text, duration).unwrap()
    }

    #[test]
    fn a_path_is_the_round_trip_and_every_operation_that_is_waited_for() {
        let speed = speed(signing_costs_most);
        let costs = Costs { speed: &speed, client: "it", server: "it" };
        let path = costs.measured(&seen(Kind::Full, 200, 2000));
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
        let base = seen(Kind::Full, 200, 2000);
        let asked = change("key=p-256,rtt=1us");
        assert_eq!(asked.words(), ["key=p-256", "rtt=1.0 µs"]);
        let path = costs.changed(&base, &asked.of(&base), asked.words());
        assert_eq!(path.predicted_ns, Some(2000.0 - 950.0 + 800.0));
        let [low, high] = path.predicted_ci95_ns.unwrap();
        assert!(low < 1850.0 && high > 1850.0 && high - low < 60.0, "{low} to {high}");
        let ticket = change("kind=ticket");
        let path = costs.changed(&base, &ticket.of(&base), ticket.words());
        assert_eq!(path.key, None);
        assert!(path.steps.iter().all(|step| step.operation != Some(Operation::Sign)));
    }

    #[test]
    fn one_more_turn_is_on_the_path() {
        let speed = speed(|_| 0.0);
        let costs = Costs { speed: &speed, client: "it", server: "it" };
        let retried = Seen { round_trips: Some(2), ..seen(Kind::Full, 200, 2000) };
        assert_eq!(costs.measured(&retried).path_ns, 400.0);
    }

    #[test]
    fn a_change_that_is_none_has_a_clear_error() {
        for (text, words) in [
            ("p-256", "invalid change 'p-256': use NAME=VALUE"),
            ("colour=red", "unknown change 'colour'; known: key, group, rtt, kind, tls"),
            ("key=dsa", "unknown 'dsa'; known: rsa-2048"),
            ("group=p-256", "unknown 'p-256'; known: x25519"),
            ("rtt=fast", "no duration: fast"),
            ("kind=early", "unknown kind 'early'; known: full, id, ticket, psk"),
            ("tls=1.1", "unknown"),
        ] {
            let error = Change::read(text, duration).unwrap_err();
            assert!(error.starts_with(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_change_is_derived_from_the_nearest_handshake() {
        let both = [seen(Kind::Full, 200, 2000), seen(Kind::Ticket, 200, 500)];
        let of = |text: &str| base(&both, &change(text)).unwrap().handshake.kind;
        assert_eq!((of("rtt=1us"), of("kind=ticket"), of("kind=psk")), (Kind::Full, Kind::Ticket, Kind::Full));
    }
}

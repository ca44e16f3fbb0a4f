//! `nagle`: a server without TCP_NODELAY sends in two writes, and the second waits for an acknowledgement that the client's system
//! delays: within the handshake's flight, behind the tickets of TLS 1.3, or within each response.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Nanos, Observation, Version};
use reprise_probe::diagnose::{ProbeRecord, Step, Variation};

use super::{Cause, ExaminedRule, MeasuredRule, Rule};
use crate::diagnose::examined::Examined;
use crate::figures::{connections, span};
use crate::series::{MeasuredCase, of_each_version};

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["quick-acknowledgement", "keep-alive"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 9, find: ExaminedRule::Several(of_experiments) }),
    measured: Some(Rule { rank: 41, find: MeasuredRule::Once(of_measurement) }),
    ..page!("nagle")
};

/// Linux delays an acknowledgement by 40 ms, others by up to 200.
const DELAYED: std::ops::Range<u64> = 35_000_000..250_000_000;

/// What acknowledging at once saves of it: what takes some milliseconds more or less all the same is left out of it.
const SAVED: std::ops::Range<u64> = 25_000_000..250_000_000;

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let tried = |version| {
        let (mut plain, mut at_once) = (Vec::new(), Vec::new());
        for trial in case.trials.iter().filter(|trial| trial.observation.asked.tls == version) {
            if trial.at_once { at_once.push(&trial.observation) } else { plain.push(&trial.observation) }
        }
        Answers::of(version, &plain, &at_once)
    };
    of_answers(&of_each_version(tried))
}

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let flights = of_each_version(|version| of_flight(examined, version));
    let answers = of_each_version(|version| {
        let of = |name, step: fn(Step) -> bool| -> Vec<&Observation> {
            let runs = examined.runs(name).filter(move |run| run.asked.tls == version);
            runs.flat_map(|run| &run.seen).filter(move |seen| step(seen.step)).map(|seen| &seen.observation).collect()
        };
        let at_once = of("quick-acknowledgement", is_at_once);
        let answers = Answers::of(version, &of("quick-acknowledgement", |step| !is_at_once(step)), &at_once)?;
        // One that is slow at times was not slow just where nothing was acknowledged at once: it was before, too.
        let before = of("keep-alive", |_| true);
        let is_slow = |delay: Option<Delay>, answer| delay.is_none_or(|delay: Delay| delay.is_slow(&before, answer));
        (is_slow(answers.first, first_answer) && is_slow(answers.next, next_answer)).then_some(answers)
    });
    flights.into_iter().chain(of_answers(&answers)).collect()
}

fn is_at_once(step: Step) -> bool {
    step == Step::Prime(Variation::AcknowledgesAtOnce)
}

/// How much later answers come where the client's system delays its acknowledgements.
struct Answers {
    version: Version,
    first: Option<Delay>,
    next: Option<Delay>,
    /// The second request, where it does not wait.
    prompt_ns: Option<u64>,
}

/// One answer of a connection: medians, in nanoseconds.
#[derive(Clone, Copy)]
struct Delay {
    plain_ns: u64,
    at_once_ns: u64,
    connections: u64,
}

/// From the request to the last byte of the response.
fn first_answer(seen: &Observation) -> Option<u64> {
    Some(seen.phases.wait?.0.saturating_add(seen.phases.receive.unwrap_or_default().0))
}

fn next_answer(seen: &Observation) -> Option<u64> {
    seen.next_request.map(|next| next.wait.0.saturating_add(next.receive.0))
}

/// Which answer of a connection.
type Answer = fn(&Observation) -> Option<u64>;

impl Answers {
    fn of(version: Version, plain: &[&Observation], at_once: &[&Observation]) -> Option<Self> {
        let delay = |answer| Delay::of(plain, at_once, answer);
        let (first, next) = (delay(first_answer), delay(next_answer));
        let later: Vec<u64> = plain.iter().filter_map(|seen| next_answer(seen)).collect();
        let prompt_ns = reprise_stats::median(&later).filter(|_| next.is_none() && later.len() >= ENOUGH);
        (first.is_some() || next.is_some()).then_some(Self { version, first, next, prompt_ns })
    }

    /// What a connection of one request waits; of connections on which only later ones wait, what each of those does.
    fn cost_ns(&self) -> u64 {
        self.first.or(self.next).map_or(0, Delay::saved_ns)
    }

    fn in_words(&self) -> Vec<String> {
        let tell = |what: &str, delay: Delay| {
            let (plain, at_once) = (span(delay.plain_ns), span(delay.at_once_ns));
            format!(
                "{}: {what} takes {plain} on {} (median), {at_once} on those in between, of which each segment was acknowledged at once",
                self.version,
                connections(delay.connections),
            )
        };
        let prompt = |ns| format!("A second one on the same connection takes {}: by then nothing else waits", span(ns));
        let first = self.first.map(|delay| tell("a first response", delay));
        let next = self.next.map(|delay| tell("a second one on the same connection", delay));
        [first, next, self.prompt_ns.map(prompt)].into_iter().flatten().collect()
    }
}

impl Delay {
    fn of(plain: &[&Observation], at_once: &[&Observation], answer: Answer) -> Option<Self> {
        let of = |all: &[&Observation]| all.iter().filter_map(|seen| answer(seen)).collect::<Vec<u64>>();
        let (plains, quick) = (of(plain), of(at_once));
        let (plain_ns, at_once_ns) = (reprise_stats::median(&plains)?, reprise_stats::median(&quick)?);
        let delay = Self { plain_ns, at_once_ns, connections: plains.len() as u64 };
        let slow_at_once = quick.iter().filter(|ns| delay.is_late(**ns)).count();
        let is_it = plains.len() >= ENOUGH
            && quick.len() >= ENOUGH
            && SAVED.contains(&delay.saved_ns())
            && delay.is_slow(plain, answer)
            // A machine that is busy may hold one of them up.
            && slow_at_once * 6 <= quick.len();
        is_it.then_some(delay)
    }

    fn saved_ns(self) -> u64 {
        self.plain_ns.saturating_sub(self.at_once_ns)
    }

    /// Later than what is acknowledged at once by half of what that saves.
    fn is_late(self, ns: u64) -> bool {
        ns >= self.at_once_ns + self.saved_ns() / 2
    }

    /// Whether two thirds of these came late.
    fn is_slow(self, all: &[&Observation], answer: Answer) -> bool {
        let all: Vec<u64> = all.iter().filter_map(|seen| answer(seen)).collect();
        3 * all.iter().filter(|ns| self.is_late(**ns)).count() >= 2 * all.len()
    }
}

fn of_answers(all: &[Answers]) -> Option<Finding> {
    let worst = all.iter().max_by_key(|answers| answers.cost_ns())?;
    let waits = span(worst.cost_ns());
    let title = match (worst.first, worst.next, worst.version) {
        (_, Some(_), _) => {
            format!("Each response waits {waits} for an acknowledgement: it leaves in two writes, without TCP_NODELAY")
        }
        (Some(_), None, Version::Tls13) if worst.prompt_ns.is_some() => {
            format!(
                "The first response waits {waits} for an acknowledgement of the tickets before it: the server lacks TCP_NODELAY"
            )
        }
        _ => format!(
            "The first response waits {waits} for an acknowledgement of what was sent before it, without TCP_NODELAY"
        ),
    };
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title);
    let finding = finding.because(all.iter().rev().flat_map(Answers::in_words)).costing(Some(Nanos(worst.cost_ns())));
    Some(finding.fixed_by(CAUSE.remedies(None)))
}

fn of_flight(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let is_of = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|it| it.version == version);
    let tried: Vec<&ProbeRecord> = examined.runs("quick-acknowledgement").flat_map(|run| &run.seen).filter(is_of).collect();
    let (at_once, plain): (Vec<&ProbeRecord>, Vec<&ProbeRecord>) = tried.into_iter().partition(|seen| is_at_once(seen.step));
    let stalls: Vec<u64> = plain.iter().filter_map(|seen| stall(seen)).collect();
    let at_once: Vec<u64> = at_once.iter().map(|seen| seen.stall.unwrap_or_default().0).collect();
    // A server that computes for as long does not wait for acknowledgements, and one that warms up does so on both.
    let (median, median_at_once) = (reprise_stats::median(&stalls)?, reprise_stats::median(&at_once)?);
    if stalls.len() < ENOUGH
        || 3 * stalls.len() < 2 * plain.len()
        || at_once.len() < ENOUGH
        || median_at_once >= stalls.iter().min()? / 2
    {
        return None;
    }
    let title =
        format!("A full {version} handshake stalls for {}: Nagle's algorithm and delayed acknowledgements", span(median));
    let evidence = [
        format!(
            "On {} of {}, two messages of one flight of the server came {} apart (median)",
            stalls.len(),
            connections(plain.len() as u64),
            span(median),
        ),
        format!(
            "On {} in between, of which each segment was acknowledged at once, {}",
            connections(at_once.len() as u64),
            span(median_at_once)
        ),
    ];
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title);
    Some(finding.because(evidence).costing(Some(Nanos(median))))
}

/// So many of each kind.
const ENOUGH: usize = 3;

/// How long the handshake stood still, if that may be for an acknowledgement. On a slow path a wait as long may be a packet that
/// was lost.
fn stall(seen: &ProbeRecord) -> Option<u64> {
    let Nanos(round_trip) = seen.observation.phases.connect.unwrap_or_default();
    let Nanos(stall) = seen.stall?;
    (DELAYED.contains(&stall) && stall > 4 * round_trip).then_some(stall)
}

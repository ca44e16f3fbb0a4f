//! What is seen of one connection of an experiment, and the connections in which nothing was varied.

use reprise_connection::Fault;
use reprise_model::{Direction, Event, Nanos, Observation, What};

use super::experiment::FIRST_SHARE;
use super::{ExperimentRun, Spent, Step, Variation};
use crate::connection_plan::ConnectionRecord;
use crate::hello_retry::RetryComparison;
use crate::series::Series;

/// One connection of an experiment.
#[derive(Clone, Debug)]
pub struct ProbeRecord {
    /// What it was in the experiment.
    pub step: Step,
    /// Everything that was seen of it.
    pub observation: Observation,
    /// Why it did not complete, where it did not.
    pub fault: Option<Fault>,
    /// The longest that the server let wait between two messages of one flight of its handshake.
    pub stall: Option<Nanos>,
    /// The processor time that it took; nothing is known of connections that were made at once.
    pub spent: Spent,
}

impl ProbeRecord {
    pub(super) fn of(step: Step, record: &ConnectionRecord, spent: Spent) -> Self {
        let stall = stall(&record.messages.messages);
        Self { step, observation: record.observation, fault: record.fault.clone(), stall, spent }
    }
}

/// The connections in which nothing was varied, as a measurement has them.
pub(super) fn series(runs: &[ExperimentRun]) -> Vec<Series> {
    let plain = [Step::Prime(Variation::Plain), Step::Resume(Variation::Plain)];
    let seen = runs.iter().filter(|run| run.experiment.is_plain()).flat_map(|run| &run.seen);
    let seen = seen.filter(|seen| plain.contains(&seen.step));
    // Early data has no experiment in which nothing is varied: its own says what becomes of it.
    let early = runs.iter().flat_map(|run| &run.seen).filter(|seen| seen.step == EARLY);
    by_asked(seen.chain(early))
}

/// The connections whose times are any client's: full handshakes of every experiment, and sessions that were offered as they were given.
pub(super) fn timed(runs: &[ExperimentRun]) -> Vec<Series> {
    let is_timed = |run: &ExperimentRun, step| match step {
        Step::Prime(Variation::Plain) | Step::Chosen | EARLY => true,
        Step::Resume(Variation::Plain) => run.experiment.is_plain(),
        _ => false,
    };
    by_asked(runs.iter().flat_map(|run| run.seen.iter().filter(move |seen| is_timed(run, seen.step))))
}

const EARLY: Step = Step::Early(Variation::Plain);

fn by_asked<'r>(seen: impl Iterator<Item = &'r ProbeRecord>) -> Vec<Series> {
    let mut seen: Vec<&ProbeRecord> = seen.collect();
    seen.sort_by_key(|seen| (seen.observation.asked, seen.observation.index));
    let mut all: Vec<Series> = Vec::new();
    for seen in seen {
        let asked = seen.observation.asked;
        match all.last_mut().filter(|series| series.asked == asked) {
            Some(series) => series.observations.push(seen.observation),
            None => all.push(Series { asked, observations: vec![seen.observation] }),
        }
    }
    all
}

/// The connections of the experiment that shares the group that the server asks for, and those beside them.
pub(super) fn retries(runs: &[ExperimentRun]) -> Option<RetryComparison> {
    let run = runs.iter().find(|run| run.experiment.name == FIRST_SHARE)?;
    let share = Step::Prime(Variation::SharesWantedGroup);
    let (at_once, plain) = run.seen.iter().partition::<Vec<_>, _>(|seen| seen.step == share);
    let of = |seen: Vec<&ProbeRecord>| seen.into_iter().map(|seen| seen.observation).collect();
    Some(RetryComparison { plain: of(plain), at_once: of(at_once) })
}

/// The longest wait between two messages that the server sent one after the other, its Finished the last of them: it had
/// everything that it needed for the second when it sent the first.
fn stall(events: &[Event]) -> Option<Nanos> {
    let end = events.iter().position(is_finished_of_server).map_or(events.len(), |finished| finished + 1);
    let pairs = events.get(..end).unwrap_or_default().windows(2).filter_map(|pair| match pair {
        [one, other] if one.direction == Direction::Received && other.direction == Direction::Received => {
            Some(other.at.since(one.at))
        }
        _ => None,
    });
    pairs.max()
}

fn is_finished_of_server(event: &Event) -> bool {
    event.direction == Direction::Received
        && matches!(&event.what, What::Handshake { message } if message.as_ref() == "Finished")
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::Bytes;

    #[test]
    fn a_wait_before_the_finished_is_one_within_the_flight() {
        let at = |ms: u64, direction, what| Event::new(Nanos(ms * 1_000_000), direction, what, Bytes(1), false);
        let message = |name: &'static str| What::Handshake { message: name.into() };
        let events = [
            at(0, Direction::Sent, message("ClientHello")),
            at(60, Direction::Received, message("ServerHello")),
            at(61, Direction::Received, message("ServerHelloDone")),
            at(62, Direction::Sent, message("Finished")),
            at(63, Direction::Received, What::ChangeCipherSpec),
            at(103, Direction::Received, message("Finished")),
            at(203, Direction::Received, message("NewSessionTicket")),
        ];
        assert_eq!(stall(&events), Some(Nanos(40_000_000)));
        assert_eq!(stall(&events[..5]), Some(Nanos(1_000_000)));
        assert_eq!(stall(&[]), None);
    }
}

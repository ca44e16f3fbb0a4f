//! Makes the experiments, one step after the other, within the limits.

use std::sync::Arc;
use std::time::Duration;

use reprise_attempt::{Fault, Target};
use reprise_engine::Config;
use reprise_trace::{
    Asked, Direction, Event, Facts, FailureClass, FaultName, Kind, Nanos, Observation, Purpose, Version, What,
};

use super::experiment::{EXPERIMENTS, Experiment, Needs, Step};
use super::variation::Variation;
use super::{Ending, Examination, ExperimentRun, Limits, NotMade, Seen, Why, burst};
use crate::connector::Connector;
use crate::failed::Failed;
use crate::interrupt::Interrupt;
use crate::manner::Manner;
use crate::observer::Observer;
use crate::offers::{Offers, VersionPlan};
use crate::options::Options;
use crate::series::Series;
use crate::stock::{HeldSession, Stock, Taken, offer_of};
use crate::survey;
use crate::trial::{Trial, Tried};

/// As long as Linux delays an acknowledgement, and a little less; others delay it longer.
const DELAYED: Nanos = Nanos(35_000_000);
/// So many connections of one experiment may hang.
const HANGS: u32 = 2;
/// Once one has hung, nobody waits longer than this for the next.
const SHORTER: Duration = Duration::from_secs(2);

/// So many full handshakes in a row that fail, after others have completed, mean that the target does not want any more.
const BLOCKED: u32 = 3;

/// So often a version is asked for again that was refused.
const OTHER_NODES: u32 = 3;

/// Makes the experiments on `target`. Never fails outright: what ended it stands beside what was seen until then.
pub fn diagnose(
    target: &Target,
    options: &Options,
    limits: Limits,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Examination {
    let mut examination = Examination::begun(limits);
    let (connector, offers) =
        match Connector::new(target, options, interrupt).and_then(|it| Ok((it, Offers::new(target, options)?))) {
            Ok(ready) => ready,
            Err(fault) => {
                examination.ended_by = Some(Ending::Unreachable(fault.into()));
                return examination;
            }
        };
    let mut examiner = Examiner::new(connector, limits, observer, examination);
    let ended = examiner.examine(&offers.versions);
    examiner.finish(ended.err(), &offers.versions)
}

struct Examiner<'a> {
    connector: Connector,
    limits: Limits,
    observer: &'a dyn Observer,
    found: Examination,
    begun: Nanos,
    planned: u64,
    /// Full handshakes that failed since one completed.
    failed_in_a_row: u32,
    any_completed: bool,
}

impl<'a> Examiner<'a> {
    fn new(mut connector: Connector, limits: Limits, observer: &'a dyn Observer, found: Examination) -> Self {
        connector.keep_messages();
        let begun = connector.now();
        let most = |it: &Experiment| it.connections(limits.fill, limits.burst) * it.under.len() as u32;
        let is_usual =
            |it: &&Experiment| !matches!(it.needs, Needs::SomeRefusal | Needs::Refusal | Needs::NoResumption | Needs::Stall);
        let usual = EXPERIMENTS.iter().filter(is_usual);
        let planned = usual.map(most).sum::<u32>().min(limits.connections).into();
        Self { connector, limits, observer, found, begun, planned, failed_in_a_row: 0, any_completed: false }
    }

    fn examine(&mut self, plans: &[VersionPlan]) -> Result<(), Ending> {
        for experiment in EXPERIMENTS {
            for &asked in experiment.under {
                let Some(plan) = plans.iter().find(|plan| plan.version == asked.tls) else { continue };
                if self.is_refused(asked.tls) {
                    continue;
                }
                let why = self.why_not(experiment, asked, plan);
                match why {
                    Some(why) => self.found.not_made.push(NotMade { experiment, asked, why }),
                    None => self.make(experiment, asked, plan)?,
                }
            }
            if self.found.runs.iter().all(|run| run.seen.iter().all(|seen| seen.fault.is_some())) {
                break;
            }
        }
        Ok(())
    }

    fn is_refused(&self, version: Version) -> bool {
        self.found.refused.iter().any(|(refused, _)| *refused == version)
    }

    fn why_not(&self, experiment: &Experiment, asked: Asked, plan: &VersionPlan) -> Option<Why> {
        let resumptions = self.plain_resumptions(asked);
        let accepted = resumptions.iter().filter(|seen| seen.kind() == Some(asked.kind)).count();
        let holds = match experiment.needs {
            Needs::Nothing => true,
            Needs::Resumption => accepted > 0,
            Needs::SomeRefusal => resumptions.iter().any(|seen| seen.is_refusal()),
            Needs::Refusal => accepted == 0 && resumptions.iter().any(|seen| seen.is_refusal()),
            Needs::NoResumption => accepted == 0 && self.chosen(asked.tls).is_some(),
            Needs::EarlyData => {
                let length = self.connector.early_request_length();
                let allowed = resumptions.iter().filter_map(|seen| seen.max_early_data()).max();
                accepted > 0 && length.zip(allowed).is_some_and(|(length, allowed)| length <= allowed as usize)
            }
            Needs::Stall => {
                let stalls: Vec<u64> = self.plain_stalls(asked.tls);
                cfg!(target_os = "linux") && reprise_stats::median(&stalls).is_some_and(|stall| stall >= DELAYED.0)
            }
            Needs::Patience => accepted > 0 && self.limits.patience.is_some(),
        };
        if !holds {
            return Some(Why::Needs(experiment.needs));
        }
        let chosen = self.chosen(asked.tls);
        let varies = |step: &Step| variation_of(*step).is_none_or(|it| it.of(&plan.config, chosen.as_ref()).is_some());
        if !experiment.steps.iter().all(varies) {
            return Some(Why::NothingToVary);
        }
        let needed = experiment.connections(self.limits.fill, self.limits.burst);
        let is_over = self.connector.begun() + needed > self.limits.connections || self.time_left() == Duration::ZERO;
        is_over.then_some(Why::NoTimeLeft)
    }

    /// What the server negotiates where nothing is varied.
    fn chosen(&self, version: Version) -> Option<Facts> {
        let plain = self.found.runs.iter().filter(|run| run.experiment.name == "resume" && run.asked.tls == version);
        plain.flat_map(|run| &run.seen).find_map(|seen| seen.observation.facts().copied())
    }

    fn plain_resumptions(&self, asked: Asked) -> Vec<&Observation> {
        let plain = self.found.runs.iter().filter(|run| run.experiment.name == "resume" && run.asked == asked);
        let offered = plain.flat_map(|run| &run.seen).filter(|seen| seen.step == Step::Resume(Variation::Plain));
        offered.map(|seen| &seen.observation).collect()
    }

    fn plain_stalls(&self, version: Version) -> Vec<u64> {
        let full = self.found.runs.iter().filter(|run| run.asked.tls == version).flat_map(|run| &run.seen);
        let plain = full.filter(|seen| seen.step == Step::Prime(Variation::Plain));
        plain.filter_map(|seen| seen.stall).map(|stall| stall.0).collect()
    }

    fn make(&mut self, experiment: &'static Experiment, asked: Asked, plan: &VersionPlan) -> Result<(), Ending> {
        self.found.runs.push(ExperimentRun { experiment, asked, seen: Vec::new() });
        let chosen = self.chosen(asked.tls);
        let config =
            |variation: Variation| variation.of(&plan.config, chosen.as_ref()).map_or(plan.config.clone(), Arc::new);
        let (mut stock, mut last) = (Stock::default(), None);
        let mut hung = 0;
        for &step in experiment.steps {
            if hung >= HANGS {
                break;
            }
            match step {
                Step::Prime(variation) => {
                    let mut connect = || {
                        let nothing = Taken::nothing(asked);
                        let tried = self.connect(step, config(variation), variation.manner(), asked, nothing)?;
                        Ok((self.settle_full(&tried)?, tried))
                    };
                    let (mut fault, mut tried) = connect()?;
                    // Behind one address another node may speak it.
                    for _ in 0..OTHER_NODES {
                        if !fault.as_ref().is_some_and(refuses_version) {
                            break;
                        }
                        (fault, tried) = connect()?;
                    }
                    if let Some(fault) = fault {
                        // What cannot be done without a session shows nothing of sessions.
                        return self.give_up(asked.tls, fault, tried);
                    }
                    stock = Stock::default();
                    stock.keep(tried.sessions);
                }
                // What hangs once is not offered again before a full handshake has shown that the target is still there.
                Step::Resume(_) if hung > 0 && !stock.holds_any() => {}
                Step::Resume(variation) => {
                    let Some(taken) = stock.take_offer(asked, self.connector.now(), usize::MAX, None) else { continue };
                    last.clone_from(&taken.held);
                    let held = taken.held.clone();
                    let mut tried = self.connect(step, config(variation), variation.manner(), asked, taken)?;
                    if is_silence(tried.fault.as_ref()) {
                        hung += 1;
                        stock = Stock::default();
                        self.connector.timeout = self.connector.timeout.min(SHORTER);
                    } else {
                        stock.settle(held, &mut tried);
                    }
                }
                Step::Early(variation) => {
                    let early = Asked { kind: Kind::Early, ..asked };
                    let length = self.connector.early_request_length().unwrap_or(usize::MAX);
                    let Some(taken) = stock.take_offer(early, self.connector.now(), length, None) else { continue };
                    let held = taken.held.clone();
                    let mut tried = self.connect(step, config(variation), variation.manner(), early, taken)?;
                    hung += u32::from(is_silence(tried.fault.as_ref()));
                    stock.settle(held, &mut tried);
                }
                Step::Again => {
                    let Some(held) = last.clone() else { break };
                    let taken = again(held, asked);
                    self.connect(step, plan.config.clone(), Manner::default(), asked, taken)?;
                }
                Step::Interpose => {
                    for _ in 0..self.limits.fill {
                        let tried =
                            self.connect(step, plan.config.clone(), Manner::default(), asked, Taken::nothing(asked))?;
                        self.settle_full(&tried)?;
                    }
                }
                Step::Wait => {
                    let patience = self.limits.patience.unwrap_or_default();
                    self.connector.wait_until(self.connector.now() + Nanos::from(patience));
                }
                Step::Burst => self.burst(&plan.config, asked, &mut stock),
            }
        }
        Ok(())
    }

    /// A full handshake has ended: whether the target still wants to be asked.
    fn settle_full(&mut self, tried: &Tried) -> Result<Option<Fault>, Ending> {
        let Some(fault) = &tried.fault else {
            self.failed_in_a_row = 0;
            self.any_completed = true;
            return Ok(None);
        };
        // It answers, and says no to this version alone.
        if !refuses_version(fault) {
            self.failed_in_a_row += 1;
        }
        if self.any_completed && (self.failed_in_a_row >= BLOCKED || fault.class == FailureClass::Connect) {
            return Err(Ending::Blocked { after: self.connector.begun(), fault: fault.clone() });
        }
        Ok(Some(fault.clone()))
    }

    /// The first connection of an experiment failed: of a version that never completed, there will be no other.
    fn give_up(&mut self, version: Version, fault: Fault, tried: Tried) -> Result<(), Ending> {
        let is_first = self.chosen(version).is_none();
        let failed = Failed { observation: Some(Box::new(tried.observation)), ..fault.into() };
        if is_first && failed.is_of_the_version() {
            self.found.refused.push((version, failed));
        } else if is_first && !self.any_completed {
            return Err(Ending::Unreachable(failed));
        }
        Ok(())
    }

    fn connect(
        &mut self,
        step: Step,
        config: Arc<Config>,
        manner: Manner,
        asked: Asked,
        taken: Taken,
    ) -> Result<Tried, Ending> {
        self.pace()?;
        let is_full = taken.held.is_none();
        // A full handshake is one, whatever mechanism it is made for: its figures are those of all.
        let shown = if is_full { Asked { kind: Kind::Full, ..asked } } else { asked };
        let (purpose, origin) = (Purpose::Sample, taken.origin());
        let trial = Trial { config, asked: shown, purpose, offer: taken.offer, origin, manner };
        let tried = self.connector.connect(trial);
        self.observer.proceeded(u64::from(self.connector.begun()), self.planned.max(self.connector.begun().into()));
        self.note(step, &tried)?;
        Ok(tried)
    }

    fn note(&mut self, step: Step, tried: &Tried) -> Result<(), Ending> {
        if tried.fault.as_ref().is_some_and(|fault| fault.name == FaultName::Interrupted) {
            return Err(Ending::Interrupted);
        }
        if self.found.software.is_none() {
            self.found.software.clone_from(&tried.software);
        }
        let seen = Seen {
            step,
            observation: tried.observation,
            fault: tried.fault.clone(),
            stall: stall(&tried.messages.messages),
        };
        if let Some(run) = self.found.runs.last_mut() {
            run.seen.push(seen);
        }
        Ok(())
    }

    /// Many at once, each on a thread of its own.
    fn burst(&mut self, config: &Arc<Config>, asked: Asked, stock: &mut Stock) {
        let now = self.connector.now();
        let mut offers = Vec::new();
        for _ in 0..self.limits.burst {
            let taken = stock.take_offer(asked, now, usize::MAX, None);
            if asked.tls == Version::Tls12 {
                // It serves any number of connections.
                stock.keep(taken.iter().filter_map(|taken| taken.held.clone()));
            }
            offers.push(taken.unwrap_or_else(|| Taken::nothing(asked)));
        }
        let trials = offers.into_iter().map(|taken| Trial {
            config: config.clone(),
            asked,
            purpose: Purpose::Sample,
            origin: taken.origin(),
            offer: taken.offer,
            manner: Manner::default(),
        });
        for tried in burst::connect_at_once(&mut self.connector, trials.collect()) {
            let _ = self.note(Step::Burst, &tried);
        }
    }

    /// Waits until the next connection may be begun.
    fn pace(&mut self) -> Result<(), Ending> {
        if self.connector.is_interrupted() {
            return Err(Ending::Interrupted);
        }
        if self.connector.begun() >= self.limits.connections || self.time_left() == Duration::ZERO {
            return Err(Ending::Limit);
        }
        let interval = 1_000_000_000 / u64::from(self.limits.rate.max(1));
        let due = Nanos(self.begun.0 + interval * u64::from(self.connector.begun()));
        self.connector.wait_until(due);
        Ok(())
    }

    fn time_left(&self) -> Duration {
        self.limits.time.saturating_sub(self.connector.now().since(self.begun).into())
    }

    fn finish(mut self, ended: Option<Ending>, plans: &[VersionPlan]) -> Examination {
        let mut found = self.found;
        found.ended_by = ended;
        if !self.any_completed && found.ended_by.is_none() {
            let refused = found.refused.clone();
            let failed = survey::recognise(&mut self.connector, plans, refused, |_| ());
            found.ended_by = Some(Ending::Unreachable(failed));
        }
        found.series = series(&found.runs, plans);
        found.address = self.connector.target_address();
        found.dead_addresses = self.connector.take_dead_addresses();
        found.connections = self.connector.begun();
        found.took = self.connector.now().since(self.begun);
        found
    }
}

/// The connections in which nothing was varied, as a measurement has them.
fn series(runs: &[ExperimentRun], plans: &[VersionPlan]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    let plain = [Step::Prime(Variation::Plain), Step::Resume(Variation::Plain)];
    let is_plain = |run: &&ExperimentRun| run.experiment.name.starts_with("resume");
    let mut seen: Vec<&Seen> = runs.iter().filter(is_plain).flat_map(|run| &run.seen).collect();
    seen.retain(|seen| plain.contains(&seen.step));
    // Early data has no experiment in which nothing is varied: its own says what becomes of it.
    let early = runs.iter().flat_map(|run| &run.seen).filter(|seen| seen.step == Step::Early(Variation::Plain));
    seen.extend(early);
    seen.sort_by_key(|seen| (seen.observation.asked, seen.observation.index));
    for seen in seen {
        let asked = seen.observation.asked;
        match all.last_mut().filter(|series| series.asked == asked) {
            Some(series) => series.observations.push(seen.observation),
            None => {
                let Some(plan) = plans.iter().find(|plan| plan.version == asked.tls) else { continue };
                all.push(Series::of_observations(asked, vec![seen.observation], plan.config.clone()));
            }
        }
    }
    all
}

fn variation_of(step: Step) -> Option<Variation> {
    match step {
        Step::Prime(variation) | Step::Resume(variation) | Step::Early(variation) => Some(variation),
        Step::Again | Step::Interpose | Step::Wait | Step::Burst => None,
    }
}

/// The same session once more.
fn again(held: HeldSession, asked: Asked) -> Taken {
    Taken { offer: offer_of(held.session.clone(), asked.kind, usize::MAX), held: Some(held) }
}

/// RFC 8446 §6.2: protocol_version.
fn refuses_version(fault: &Fault) -> bool {
    fault.name == FaultName::Alert(70)
}

/// Whether nothing came until the time was up.
fn is_silence(fault: Option<&Fault>) -> bool {
    fault.is_some_and(|fault| fault.name == FaultName::Timeout)
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
    use reprise_trace::Bytes;

    #[test]
    fn a_wait_before_the_finished_is_one_within_the_flight() {
        let at = |ms: u64, direction, what| Event {
            at: Nanos(ms * 1_000_000),
            direction,
            what,
            size: Bytes(1),
            encrypted: false,
        };
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

//! Chooses the experiments, one after the other, and makes again what may have been chance.

use std::cmp::Reverse;

use reprise_connection::Target;
use reprise_connection::prologue::StartTls;
use reprise_model::document::{AnswerDifference, Confidence};
use reprise_model::{Answer, AnsweredConnection, Asked, EarlyData, Facts, Kind, Observation, Version, answers_that_differ};

use super::data_channel::try_transfers;
use super::experiment::{CONTROL, EXPERIMENTS, Experiment, Gravity, Needs, Step};
use super::history::History;
use super::probe_record::{retries, series, timed};
use super::rate_limited_connector::RateLimitedConnector;
use super::steps::{Given, Steps};
use super::variation::Variation;
use super::{DiagnoseLimits, EarlyEnd, Examination, ExperimentRun, NotMade, ProbeRecord, ServerClock, Why};
use crate::acknowledgement::{first_answer, may_wait_for_one, next_answer};
use crate::connector::Connector;
use crate::failed::FailedConnection;
use crate::fleet::MECHANISMS;
use crate::interrupt::Interrupt;
use crate::observer::Observer;
use crate::options::Options;
use crate::plan::{Plan, VersionPlan};
use crate::survey;

/// So often an experiment is made again if its outcome may have been chance: one node of several does not know a session, or a
/// server refuses one of ten.
pub const REPEATS: usize = 2;

/// Makes the experiments on `target`, whose processor time `server_clock` tells. Never fails outright: what ended it stands beside what was seen until then.
pub fn diagnose(
    target: &Target,
    options: &Options,
    limits: DiagnoseLimits,
    observer: &dyn Observer,
    server_clock: ServerClock<'_>,
    interrupt: &Interrupt,
) -> Examination {
    let mut examination = Examination { limits, ..Examination::default() };
    let (connector, plan) =
        match Connector::new(target, options, interrupt).and_then(|it| Ok((it, Plan::new(target, options)?))) {
            Ok(ready) => ready,
            Err(fault) => {
                examination.ended_by = Some(EarlyEnd::Unreachable(fault.into()));
                return examination;
            }
        };
    let limited = RateLimitedConnector::new(connector, limits, planned(limits), observer, server_clock);
    let mut examiner = Examiner { limited, plan: &plan, found: examination, given: Given::new() };
    let ended = examiner.examine(options).and_then(|()| examiner.repeat()).and_then(|()| examiner.ask_again_what_fails());
    examiner.finish(ended.err())
}

/// What a healthy server is asked for.
fn planned(limits: DiagnoseLimits) -> u32 {
    let of_faults = [
        Needs::Refusal,
        Needs::NoResumption,
        Needs::FailedOffer,
        Needs::Eviction,
        Needs::Stall,
        Needs::Retry,
        Needs::OtherAnswers,
    ];
    let is_usual = |it: &&Experiment| !of_faults.contains(&it.needs);
    let most = |it: &Experiment| it.connections(limits.fill, limits.burst) * it.under.len() as u32;
    EXPERIMENTS.iter().filter(is_usual).map(most).sum()
}

/// Whether the judge concludes from it, and nothing is varied.
fn is_of_the_judge(experiment: &Experiment) -> bool {
    experiment.is_plain() || experiment.is_chosen()
}

struct Examiner<'a> {
    limited: RateLimitedConnector<'a>,
    plan: &'a Plan,
    found: Examination,
    /// The sessions of the experiment that was made last.
    given: Given,
}

impl<'a> Examiner<'a> {
    fn examine(&mut self, options: &Options) -> Result<(), EarlyEnd> {
        // The judge counts connections: none of another mechanism may stand between those of one.
        for asked in MECHANISMS {
            for experiment in EXPERIMENTS.iter().filter(|it| is_of_the_judge(it)) {
                self.make_if_it_shows(experiment, asked)?;
            }
        }
        // Before the connections are used up by what is varied and repeated.
        self.try_data_channel(options)?;
        for experiment in EXPERIMENTS.iter().filter(|it| !is_of_the_judge(it)) {
            for &asked in experiment.under {
                self.make_if_it_shows(experiment, asked)?;
            }
            if self.found.runs.iter().all(|run| run.seen.iter().all(|seen| seen.fault.is_some())) {
                break;
            }
        }
        Ok(())
    }

    fn make_if_it_shows(&mut self, experiment: &'static Experiment, asked: Asked) -> Result<(), EarlyEnd> {
        let Some(plan) = self.plan(asked.tls) else { return Ok(()) };
        if self.is_refused(asked.tls) {
            return Ok(());
        }
        match self.why_not(experiment, asked, plan) {
            Some(why) => self.found.not_made.push(NotMade { experiment, asked, why }),
            None if experiment.is_chosen() => return self.ask_the_judge(experiment, asked, plan),
            None => {
                let (seen, ended) = self.make(experiment, asked, plan);
                self.found.runs.push(ExperimentRun { experiment, asked, seen, repeats: Vec::new() });
                if let Some(failed) = ended? {
                    self.give_up(asked.tls, failed)?;
                }
            }
        }
        Ok(())
    }

    /// Lets the judge choose the connections of this experiment, after those in which nothing was varied.
    fn ask_the_judge(&mut self, experiment: &'static Experiment, asked: Asked, plan: &VersionPlan) -> Result<(), EarlyEnd> {
        let before = self.found.runs.iter().filter(|run| run.asked == asked).flat_map(|run| &run.seen);
        let (before, mut seen) = (before.cloned().collect::<Vec<_>>(), Vec::new());
        let given = std::mem::take(&mut self.given);
        let history = History { limited: &mut self.limited, plan, asked, seen: &mut seen, given, forgotten: Vec::new() };
        let (judgement, ended) = history.examine(&before);
        self.found.judgements.push(judgement);
        self.found.runs.push(ExperimentRun { experiment, asked, seen, repeats: Vec::new() });
        ended
    }

    /// What was seen, and the full handshake that failed or what ended all.
    fn make(
        &mut self,
        experiment: &Experiment,
        asked: Asked,
        plan: &VersionPlan,
    ) -> (Vec<ProbeRecord>, Result<Option<FailedConnection>, EarlyEnd>) {
        let (chosen, mut seen) = (self.chosen(asked.tls), Vec::new());
        self.given.clear();
        let steps = Steps::new(&mut self.limited, plan, asked, chosen, &mut seen, &mut self.given);
        let ended = { steps }.carry_out(experiment.steps);
        (seen, ended)
    }

    /// The first connection of an experiment failed: of a version that never completed, there will be no other.
    fn give_up(&mut self, version: Version, failed: FailedConnection) -> Result<(), EarlyEnd> {
        let is_first = self.chosen(version).is_none();
        if is_first && failed.is_of_the_version() {
            self.found.refused.push((version, failed));
        } else if is_first && !self.limited.any_completed() {
            return Err(EarlyEnd::Unreachable(failed));
        }
        Ok(())
    }

    /// Once others have completed: a version that the server chooses, and of which no connection completed at first.
    fn ask_again_what_fails(&mut self) -> Result<(), EarlyEnd> {
        for version in [Version::Tls13, Version::Tls12] {
            let is_it = |(refused, failed): &&(Version, FailedConnection)| *refused == version && failed.is_after_choice();
            let (Some(_), Some(plan)) = (self.found.refused.iter().find(is_it), self.plan(version)) else { continue };
            if !self.limited.any_completed() {
                continue;
            }
            let asked = Asked { tls: version, kind: Kind::Ticket };
            let (seen, ended) = self.make(&CONTROL, asked, plan);
            self.found.runs.push(ExperimentRun { experiment: &CONTROL, asked, seen, repeats: Vec::new() });
            ended?;
        }
        Ok(())
    }

    /// Makes experiments again that show a difference, the gravest first, each beside plain offers. A difference that is chance
    /// does not come out each time.
    fn repeat(&mut self) -> Result<(), EarlyEnd> {
        for _ in 0..REPEATS {
            let mut doubtful: Vec<usize> = (0..self.found.runs.len()).filter(|place| self.is_doubtful(*place)).collect();
            doubtful.sort_by_key(|place| Reverse(self.found.runs.get(*place).map(|run| run.experiment.gravity)));
            for place in doubtful {
                self.repeat_one(place)?;
            }
        }
        Ok(())
    }

    fn repeat_one(&mut self, place: usize) -> Result<(), EarlyEnd> {
        let Some(&ExperimentRun { experiment, asked, .. }) = self.found.runs.get(place) else { return Ok(()) };
        let Some(plan) = self.plan(asked.tls) else { return Ok(()) };
        let limits = self.limited.limits;
        let needed = [&CONTROL, experiment].map(|it| it.connections(limits.fill, limits.burst));
        // Once it is known that the mechanism does not behave the same each time, no repetition adds to that.
        if self.is_unstable(asked) || !self.limited.allows(needed.iter().sum()) {
            return Ok(());
        }
        let (seen, ended) = self.make(&CONTROL, asked, plan);
        match self.found.runs.iter_mut().find(|run| run.asked == asked && std::ptr::eq(run.experiment, &CONTROL)) {
            Some(run) => run.seen.extend(seen),
            None => self.found.runs.push(ExperimentRun { experiment: &CONTROL, asked, seen, repeats: Vec::new() }),
        }
        ended?;
        // What does not come to its end shows nothing.
        let (seen, ended) = self.make(experiment, asked, plan);
        ended?;
        if let Some(run) = self.found.runs.get_mut(place) {
            run.repeats.push(seen);
        }
        Ok(())
    }

    /// Whether some sessions of this mechanism were resumed and some were not, though nothing was varied.
    fn is_unstable(&self, asked: Asked) -> bool {
        let plain = self.plain_resumptions(asked);
        !self.is_steady(asked) || plain.iter().any(|seen| seen.is_refusal()) && plain.iter().any(|seen| is_resumed(seen))
    }

    fn is_steady(&self, asked: Asked) -> bool {
        self.found.judgements.iter().all(|judgement| judgement.asked != asked || judgement.is_steady())
    }

    /// Whether this run shows a difference, each time until now, that could be chance.
    fn is_doubtful(&self, place: usize) -> bool {
        let Some(run) = self.found.runs.get(place) else { return false };
        let differs = |seen: &Vec<ProbeRecord>| match run.experiment.needs {
            Needs::Refusal | Needs::NoResumption => seen.iter().any(|seen| is_resumed(&seen.observation)),
            Needs::EarlyData if loses_early_data(seen) => true,
            _ => seen.iter().any(|seen| seen.observation.is_refusal() || seen.fault.is_some()),
        };
        let is_grave = run.experiment.gravity > Gravity::Nothing;
        is_grave && differs(&run.seen) && run.repeats.iter().all(differs)
    }

    /// Transfers under each version that is spoken. A proxy would have to reach the server's other ports.
    fn try_data_channel(&mut self, options: &Options) -> Result<(), EarlyEnd> {
        if options.starttls != Some(StartTls::Ftp) || options.proxy.is_some() {
            return Ok(());
        }
        let spoken = |plan: &&VersionPlan| self.chosen(plan.version).is_some();
        let plans: Vec<&VersionPlan> = self.plan.versions.iter().filter(spoken).collect();
        if plans.is_empty() {
            return Ok(());
        }
        let login = options.ftp_login.clone().unwrap_or_default();
        let (found, ended) = try_transfers(&mut self.limited, &plans, &login);
        self.found.data_channel = Some(found);
        ended
    }

    fn plan(&self, version: Version) -> Option<&'a VersionPlan> {
        self.plan.versions.iter().find(|plan| plan.version == version)
    }

    fn is_refused(&self, version: Version) -> bool {
        self.found.refused.iter().any(|(refused, _)| *refused == version)
    }

    fn why_not(&self, experiment: &Experiment, asked: Asked, plan: &VersionPlan) -> Option<Why> {
        let resumptions = self.plain_resumptions(asked);
        let accepted = resumptions.iter().filter(|seen| seen.kind() == Some(asked.kind)).count();
        let holds = match experiment.needs {
            Needs::Nothing => true,
            Needs::Resumption => accepted > 0 && self.is_steady(asked),
            Needs::Session => !self.given.is_empty(),
            Needs::Fill => accepted > 0 && self.limited.limits.fill > 0,
            Needs::Refusal => accepted == 0 && resumptions.iter().any(|seen| seen.is_refusal()),
            Needs::Eviction => self.found.offers_after_ends(asked).are_evicted(),
            Needs::FailedOffer => self.has_failed_offers(asked),
            Needs::NoResumption => accepted == 0 && self.chosen(asked.tls).is_some(),
            Needs::EarlyData => {
                let length = self.limited.connector.early_request_length();
                let allowed = resumptions.iter().filter_map(|seen| seen.max_early_data()).max();
                accepted > 0 && length.zip(allowed).is_some_and(|(length, allowed)| length <= allowed as usize)
            }
            Needs::Request => !self.limited.connector.settings.application.is_silent(),
            Needs::Stall => self.may_wait_for_acknowledgements(asked.tls),
            Needs::OtherAnswers => {
                let answered = self.found.answered();
                let is_certain = |it: &AnswerDifference| it.confidence == Confidence::Certain;
                accepted > 0 && has_other_answers(&answered, asked) && !answers_that_differ(&answered).iter().any(is_certain)
            }
            Needs::Retry => self.chosen(asked.tls).and_then(|facts| facts.hello_retry?.groups()).is_some(),
            Needs::Patience => accepted > 0 && self.limited.limits.patience.is_some_and(|patience| !patience.is_zero()),
        };
        if !holds {
            return Some(Why::Needs(experiment.needs));
        }
        let chosen = self.chosen(asked.tls);
        let varies = |step: &Step| variation_of(*step).is_none_or(|it| it.of(&plan.config, chosen.as_ref()).is_some());
        if !experiment.steps.iter().all(varies) {
            return Some(Why::NothingToVary);
        }
        let limits = self.limited.limits;
        (!self.limited.allows(experiment.connections(limits.fill, limits.burst))).then_some(Why::NoTimeLeft)
    }

    /// What the server negotiates where nothing is varied, on a connection that was retried where one was.
    fn chosen(&self, version: Version) -> Option<Facts> {
        let plain = self.found.runs.iter().filter(|run| run.experiment.name == "resume" && run.asked.tls == version);
        let mut facts = plain.flat_map(|run| &run.seen).filter_map(|seen| seen.observation.facts());
        let first = facts.clone().next();
        facts.find(|facts| facts.hello_retry.is_some()).or(first).copied()
    }

    fn plain_resumptions(&self, asked: Asked) -> Vec<&Observation> {
        let plain = self.found.runs.iter().filter(|run| run.experiment.is_plain() && run.asked == asked);
        let offered = plain.flat_map(|run| &run.seen).filter(|seen| seen.step == Step::Resume(Variation::Plain));
        offered.map(|seen| &seen.observation).collect()
    }

    /// Whether connections of this mechanism failed that offered a session, though nothing was varied.
    fn has_failed_offers(&self, asked: Asked) -> bool {
        let runs = self.found.runs.iter().filter(|run| run.asked == asked && is_of_the_judge(run.experiment));
        runs.flat_map(|run| &run.seen).any(|seen| seen.observation.is_failed_offer())
    }

    /// Whether full handshakes, or the answers on their connections, take as long as an acknowledgement is delayed.
    fn may_wait_for_acknowledgements(&self, version: Version) -> bool {
        let of_step = |step| {
            let seen = self.found.runs.iter().filter(|run| run.asked.tls == version).flat_map(|run| &run.seen);
            seen.filter(move |seen| seen.step == step)
        };
        let [plain, again] = [Variation::Plain, Variation::AsksAgain].map(Step::Prime);
        let stalls = of_step(plain).filter_map(|seen| seen.stall).map(|stall| stall.0);
        may_wait_for_one(stalls)
            || may_wait_for_one(of_step(again).filter_map(|seen| first_answer(&seen.observation)))
            || may_wait_for_one(of_step(again).filter_map(|seen| next_answer(&seen.observation)))
    }

    fn finish(self, ended: Option<EarlyEnd>) -> Examination {
        let Self { limited, plan, mut found, .. } = self;
        found.took = limited.took();
        found.ended_by = ended;
        let (any_completed, software) = (limited.any_completed(), limited.software);
        let mut connector = limited.connector;
        if !any_completed && found.ended_by.is_none() {
            let failed = survey::recognise(&mut connector, plan, found.refused.clone(), |_| ());
            found.ended_by = failed.map(EarlyEnd::Unreachable);
        }
        found.series = series(&found.runs);
        found.retries = retries(&found.runs);
        found.timed = timed(&found.runs);
        found.software = software;
        found.address = connector.target_address();
        found.other_addresses = connector.other_addresses();
        found.dead_addresses = connector.take_dead_addresses();
        found.connections = connector.begun();
        found
    }
}

fn variation_of(step: Step) -> Option<Variation> {
    match step {
        Step::Prime(variation) | Step::Control(variation) | Step::Resume(variation) | Step::Early(variation) => {
            Some(variation)
        }
        Step::Chosen | Step::Replay | Step::Interpose | Step::Wait | Step::Burst => None,
    }
}

/// Whether early data was accepted on one connection and rejected on another.
fn loses_early_data(seen: &[ProbeRecord]) -> bool {
    let came = |verdict| seen.iter().any(|it| it.observation.facts().is_some_and(|facts| facts.early_data == Some(verdict)));
    came(EarlyData::Accepted) && came(EarlyData::Rejected)
}

/// Whether a connection of this kind was answered as no full handshake of its version was.
fn has_other_answers(answered: &[AnsweredConnection], asked: Asked) -> bool {
    let of_kind = |kind| answered.iter().filter(move |it| (it.tls, it.kind) == (asked.tls, kind)).map(|it| it.answer);
    let differs = |answer: Answer| of_kind(Kind::Full).all(|full| full.is_unlike(&answer));
    of_kind(Kind::Full).next().is_some() && of_kind(asked.kind).any(differs)
}

fn is_resumed(seen: &Observation) -> bool {
    seen.kind().is_some_and(|kind| kind != Kind::Full)
}

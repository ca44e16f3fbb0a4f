//! Small examinations for tests, built by hand.

use std::time::Duration;

use reprise_connection::Fault;
use reprise_judge::{Conclusion, JudgedCause as Concluded};
use reprise_model::document::Confidence;
use reprise_model::document::Finding;
use reprise_model::{
    Asked, Ended, Facts, FaultName, Kind, Nanos, NextRequest, Observation, Offered, Origin, Phases, Purpose, Ticket,
    TicketKeyName, Version,
};
use reprise_probe::diagnose::{
    CONTROL, DataChannel, DataTransfer, EXPERIMENTS, Examination, ExperimentRun, Judgement, ProbeRecord, Spent, Step,
    Variation,
};

use super::StoredSession;
use super::examined::Examined;
use crate::causes::Cause;
use crate::example::Example;
use crate::series::MeasuredCase;

pub(crate) const TICKET: Kind = Kind::Ticket;
pub(crate) const ID: Kind = Kind::Id;
pub(crate) const TLS13: Asked = Asked { tls: Version::Tls13, kind: Kind::Ticket };
pub(crate) const TLS12: Asked = Asked { tls: Version::Tls12, kind: Kind::Ticket };
pub(crate) const TLS12_ID: Asked = Asked { tls: Version::Tls12, kind: Kind::Id };

/// An examination in the making.
pub(crate) struct Scene(Examination);

impl Scene {
    /// The only finding of the cause's rule; `None` where there is none.
    pub(crate) fn only(&self, cause: &Cause) -> Option<Finding> {
        let judges = cause.judged.is_some();
        self.with_examined(|examined| {
            let measured = || cause.measured.map(|rule| rule.find.findings(&examined.case));
            let found = cause.examined.map(|rule| rule.find.findings(examined)).or_else(measured).unwrap_or_default();
            let judged = if judges { crate::judged::findings(&examined.case) } else { Vec::new() };
            let mut findings: Vec<Finding> = found;
            findings.extend(judged.into_iter().filter(|finding| finding.id == cause.slug));
            assert!(findings.len() < 2, "{findings:?}");
            findings.pop()
        })
    }

    /// What this makes of it.
    pub(crate) fn with_examined<T>(&self, make: impl FnOnce(&Examined<'_>) -> T) -> T {
        let Self(examination) = self;
        let figures = Example::new().document();
        let runs = examination.runs.iter().filter(|run| run.experiment.is_plain()).flat_map(|run| &run.seen);
        let observations: Vec<Observation> = runs.map(|seen| seen.observation).collect();
        let case = MeasuredCase {
            observations: &observations,
            figures: &figures,
            keeps_alive: false,
            psk_modes: &[],
            cpu_costs: &[],
            judgements: &examination.judgements,
            trials: &[],
        };
        make(&Examined { case, examination, session: StoredSession::of(&case, None) })
    }

    /// The findings of all rules, the worst first.
    pub(crate) fn found(&self) -> Vec<String> {
        self.with_examined(|examined| super::findings(examined).into_iter().map(|finding| finding.id).collect())
    }

    /// Every session that is offered as it was given resumes.
    pub(crate) fn resuming(asked: Asked) -> Self {
        Self(empty()).and_resuming(asked)
    }

    pub(crate) fn and_resuming(self, asked: Asked) -> Self {
        let kind = asked.kind;
        self.run("resume", asked, &[Kind::Full, kind, kind, kind, Kind::Full, kind, kind, kind])
    }

    /// The judge concludes this.
    pub(crate) fn judged(self, asked: Asked, cause: Concluded) -> Self {
        self.concluding(asked, vec![Conclusion { cause, confidence: Confidence::Likely, odds: 1e6 }])
    }

    /// The judge has looked and concludes nothing.
    pub(crate) fn judged_steady(self, asked: Asked) -> Self {
        self.concluding(asked, Vec::new())
    }

    fn concluding(mut self, asked: Asked, conclusions: Vec<Conclusion>) -> Self {
        let observations = self.all().map(|seen| seen.observation).collect();
        let (unknown, never_accepted, nodes) = (0.0, 0.0, None);
        self.0.judgements.push(Judgement { asked, conclusions, unknown, never_accepted, nodes, observations });
        self
    }

    /// None does.
    pub(crate) fn refusing(asked: Asked) -> Self {
        Self::of("resume", asked, &[Kind::Full; 8])
    }

    pub(crate) fn of(name: &str, asked: Asked, kinds: &[Kind]) -> Self {
        Self(empty()).run(name, asked, kinds)
    }

    /// An experiment whose connections came to these kinds; what its steps offer is what they say.
    pub(crate) fn run(mut self, name: &str, asked: Asked, kinds: &[Kind]) -> Self {
        let experiment = EXPERIMENTS.iter().find(|it| it.name == name).unwrap();
        let connecting = experiment.steps.iter().filter(|step| **step != Step::Wait);
        let mut steps: Vec<Step> = connecting.copied().collect();
        // An interposed step is as many connections as there are kinds.
        while let Some(place) = steps.iter().position(|step| *step == Step::Interpose)
            && steps.len() < kinds.len()
        {
            steps.insert(place, Step::Interpose);
        }
        let seen = steps.into_iter().zip(kinds).map(|(step, kind)| self.seen(step, asked, *kind)).collect();
        self.0.runs.push(ExperimentRun { experiment, asked, seen, repeats: Vec::new() });
        self
    }

    /// The experiment that was made last, made once more.
    pub(crate) fn again(mut self, kinds: &[Kind]) -> Self {
        let run = self.0.runs.pop().unwrap();
        let mut scene = self.run(run.experiment.name, run.asked, kinds);
        let again = scene.0.runs.pop().unwrap().seen;
        let repeats = run.repeats.iter().cloned().chain([again]).collect();
        scene.0.runs.push(ExperimentRun { repeats, ..run });
        scene
    }

    /// The same, with the same outcome.
    pub(crate) fn repeated(mut self) -> Self {
        let last = self.0.runs.last_mut().unwrap();
        last.repeats.push(last.seen.clone());
        self
    }

    /// Sessions offered as they were given, between the repetitions.
    pub(crate) fn control(mut self, asked: Asked, kinds: &[Kind]) -> Self {
        let seen = CONTROL.steps.iter().zip(kinds).map(|(step, kind)| self.seen(*step, asked, *kind)).collect();
        self.0.runs.push(ExperimentRun { experiment: &CONTROL, asked, seen, repeats: Vec::new() });
        self
    }

    /// A burst: these offered a session, and so many more had none to offer.
    pub(crate) fn burst(mut self, asked: Asked, kinds: &[Kind], without: usize) -> Self {
        let experiment = EXPERIMENTS.iter().find(|it| it.name == "burst").unwrap();
        let mut seen: Vec<ProbeRecord> = kinds.iter().map(|kind| self.seen(Step::Burst, asked, *kind)).collect();
        for _ in 0..without {
            let mut other = self.seen(Step::Burst, asked, Kind::Full);
            other.observation.offered = None;
            seen.push(other);
        }
        self.0.runs.push(ExperimentRun { experiment, asked, seen, repeats: Vec::new() });
        self
    }

    fn seen(&mut self, step: Step, asked: Asked, kind: Kind) -> ProbeRecord {
        let index = self.0.connections;
        self.0.connections += 1;
        let offers = !matches!(step, Step::Prime(_) | Step::Control(_) | Step::Interpose);
        let origin = Origin { index: index.saturating_sub(1), was_resumed: false, is_last: true };
        let offered = Offered { kind: asked.kind, age: Nanos(1_000_000), origin: Some(origin), key_name: None, leaf: None };
        let asked = if offers { asked } else { Asked { kind: Kind::Full, ..asked } };
        let mut facts = Facts::of_choice(asked.tls, 0x1301);
        facts.kind = kind;
        facts.session_offered = offers;
        let phases = Phases { connect: Some(Nanos(50_000)), ..Phases::default() };
        let observation = Observation {
            client: Some(([127, 0, 0, 1], 40_000).into()),
            offered: offers.then_some(offered),
            outcome: Ok(facts),
            phases,
            ..Observation::begun(index, Nanos(u64::from(index) * 20_000_000), Purpose::Sample, asked)
        };
        ProbeRecord { step, observation, fault: None, stall: None, spent: Spent::default() }
    }

    /// The processor time of full handshakes and of resumed ones, of the client and of the server; a little more each time.
    pub(crate) fn spending(mut self, client: [u64; 2], server: [u64; 2]) -> Examination {
        for seen in self.all() {
            let place = usize::from(seen.observation.kind() != Some(Kind::Full));
            seen.spent = Spent { client: Some(Nanos(client[place])), server: Some(Nanos(server[place])) };
        }
        self.0
    }

    /// Transfers over FTP's data channel under TLS 1.3, with the control connection's session and without: whether it was resumed, and
    /// whether the listing was complete.
    pub(crate) fn transfers(mut self, with: [(bool, bool); 2], without: [bool; 2]) -> Self {
        let transfer = |offers_session, is_resumed, is_complete| DataTransfer {
            tls: Version::Tls13,
            offers_session,
            is_resumed: Some(is_resumed),
            is_complete,
            reply: if is_complete { "226 done" } else { "522 refused" }.to_owned(),
        };
        let with = with.map(|(is_resumed, is_complete)| transfer(true, is_resumed, is_complete));
        let transfers = with.into_iter().chain(without.map(|is_complete| transfer(false, false, is_complete))).collect();
        self.0.data_channel = Some(DataChannel { transfers, ended_by: None });
        self
    }

    pub(crate) fn examination(self) -> Examination {
        self.0
    }

    fn all(&mut self) -> impl Iterator<Item = &mut ProbeRecord> {
        self.0.runs.iter_mut().flat_map(|run| &mut run.seen)
    }

    /// Changes what was negotiated on all.
    pub(crate) fn facts(mut self, change: impl Fn(&mut Facts)) -> Self {
        self.all().filter_map(|seen| seen.observation.outcome.as_mut().ok()).for_each(change);
        self
    }

    /// The last connection failed.
    pub(crate) fn last_fails(mut self, name: FaultName) -> Self {
        fail(self.all().last().unwrap(), name);
        self
    }

    /// The connections of these places failed.
    pub(crate) fn failing(mut self, places: &[usize], name: FaultName) -> Self {
        let failed = self.all().enumerate().filter(|(place, _)| places.contains(place));
        failed.for_each(|(_, seen)| fail(seen, name));
        self
    }

    /// What the last connection varies, once more without a session.
    pub(crate) fn controlled(mut self, failing: Option<FaultName>) -> Self {
        let last = self.0.runs.last().unwrap();
        let asked = last.asked;
        let Some(Step::Resume(variation)) = last.seen.last().map(|seen| seen.step) else { panic!("it offers nothing") };
        let mut control = self.seen(Step::Control(variation), asked, Kind::Full);
        failing.into_iter().for_each(|name| fail(&mut control, name));
        self.0.runs.last_mut().unwrap().seen.push(control);
        self
    }

    /// Sessions were accepted in the connections that failed.
    pub(crate) fn accepted(mut self) -> Self {
        self.all().for_each(|seen| seen.observation.accepted = seen.fault.is_some());
        self
    }

    /// Each that offered a session failed.
    pub(crate) fn resumptions_fail(mut self, name: FaultName) -> Self {
        self.all().filter(|seen| seen.observation.offered.is_some()).for_each(|seen| fail(seen, name));
        self
    }

    pub(crate) fn everything_fails_from(mut self, place: usize, name: FaultName) -> Self {
        self.all().skip(place).for_each(|seen| fail(seen, name));
        self
    }

    /// The server let wait so long in each handshake.
    pub(crate) fn stalls(mut self, stall: Nanos) -> Self {
        self.all().for_each(|seen| seen.stall = Some(stall));
        self
    }

    /// The server ended each in this way.
    pub(crate) fn ended(mut self, ended: Ended) -> Self {
        self.all().for_each(|seen| seen.observation.ended = ended);
        self
    }

    /// Each was answered, and a second request too or not.
    pub(crate) fn answered(mut self, twice: bool) -> Self {
        for seen in self.all() {
            seen.observation.http_status = Some(200);
            seen.observation.next_request = twice.then_some(NextRequest { wait: Nanos(1), receive: Nanos(1) });
        }
        self
    }

    /// The first answer and the next took so many milliseconds, in these steps.
    pub(crate) fn answers_in(mut self, step: Step, [first, next]: [u64; 2]) -> Self {
        for seen in self.all().filter(|seen| seen.step == step) {
            seen.observation.phases.wait = Some(Nanos(first * 1_000_000));
            seen.observation.next_request = Some(NextRequest { wait: Nanos(next * 1_000_000), receive: Nanos(0) });
        }
        self
    }

    /// Each connection shows the certificate of its number.
    pub(crate) fn leaves(mut self, leaf: impl Fn(u32) -> [u8; 32]) -> Self {
        for seen in self.all() {
            let index = seen.observation.index;
            seen.observation.outcome.as_mut().unwrap().leaf = Some(leaf(index));
        }
        self
    }

    /// The same in these steps alone.
    pub(crate) fn stall_in(mut self, step: Step, stall: Nanos) -> Self {
        self.all().filter(|seen| seen.step == step).for_each(|seen| seen.stall = Some(stall));
        self
    }

    /// Each connection was given a ticket under the key of this name; none for 0.
    pub(crate) fn key_names(mut self, names: &[u8]) -> Self {
        for (seen, name) in self.all().zip(names).filter(|(_, name)| **name > 0) {
            let ticket = Ticket { key_name: TicketKeyName([*name; 16]), ..ticket_of(7_200) };
            seen.observation.outcome.as_mut().unwrap().tickets.add(ticket);
        }
        self
    }

    /// Each is a full handshake that offered nothing.
    pub(crate) fn primes(mut self) -> Self {
        for seen in self.all() {
            seen.step = Step::Prime(Variation::Plain);
            seen.observation.offered = None;
        }
        self
    }
}

fn fail(seen: &mut ProbeRecord, name: FaultName) {
    seen.observation.outcome = Err(name);
    seen.fault = Some(Fault::new(name));
}

fn empty() -> Examination {
    Examination { took: Duration::from_secs(1).into(), ..Examination::default() }
}

pub(crate) fn ticket_of(lifetime_s: u32) -> Ticket {
    Ticket { at: Nanos(0), length: 200, key_name: TicketKeyName::default(), lifetime_s, max_early_data: None }
}

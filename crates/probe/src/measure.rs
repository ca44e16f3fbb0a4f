//! Measures one target: discover, make connections in turns, tally.

use std::sync::Arc;

use reprise_engine::Config;
use reprise_trace::document::{AllConnections, MeasureDocument, Provenance};
use reprise_trace::{Asked, Failure, FailureClass, Kind, Version};

use crate::approach::{configs, recognise, record, visitor};
use crate::discover::{Offering, count, discover};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::route::Route;
use crate::sessions::{Sessions, full};
use crate::tally::{self, Attempts};
use crate::target::Target;
use crate::visit::{Visit, Visitor};
use crate::warnings;

/// So many failures in a row mean that the target has died.
const FAILURES_IN_A_ROW: u32 = 5;

/// What a measurement came to: the document always, with whatever could be measured.
pub struct Measurement {
    /// The result; its findings are left to be filled by whoever explains.
    pub document: MeasureDocument,
    /// What ended the measurement before its time, if anything did.
    pub failure: Option<Failure>,
}

/// Is told how a measurement proceeds.
pub trait Observer {
    /// `done` of `planned` connections have been made.
    fn proceeded(&self, done: u64, planned: u64);
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn proceeded(&self, _done: u64, _planned: u64) {}
}

/// Measures `target`. Fails never outright: what ended it stands beside what was measured until then.
pub fn measure(
    target: &Target,
    options: &Options,
    provenance: Provenance,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Measurement {
    let mut campaign = Campaign {
        seed: options.seed,
        document: empty_document(target, options, provenance),
        runs: Vec::new(),
        all: AllConnections::default(),
        cut_short: false,
    };
    let failure = campaign.carry_out(target, options, observer, interrupt).err();
    Measurement { document: campaign.into_document(failure.as_ref()), failure }
}

/// A measurement under way: whatever ends it, what it has so far is kept.
struct Campaign {
    seed: u64,
    document: MeasureDocument,
    runs: Vec<Attempts>,
    all: AllConnections,
    /// Whether it ended before every connection was made.
    cut_short: bool,
}

/// One version and kind while it is being measured.
struct Lane {
    config: Arc<Config>,
    asked: Asked,
    sessions: Sessions,
}

impl Campaign {
    fn carry_out(
        &mut self,
        target: &Target,
        options: &Options,
        observer: &dyn Observer,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let route = Route::plan(target, options, interrupt)?;
        self.document.target.address = route.target_address.map(|address| address.ip().to_string());
        let mut visitor = visitor(target, options, route, interrupt)?;
        let configs = configs(target, options)?;

        let survey = configs.survey.clone();
        let discovery = discover(&mut visitor, configs.by_version, &mut self.all);
        let named = !options.versions.is_empty();
        if discovery.offerings.is_empty() || (named && !discovery.failures.is_empty()) {
            let failure = discovery.failures.into_iter().next().map(|(_, failure)| failure);
            let failure = failure.unwrap_or_else(failure::interrupted);
            return Err(recognise(&mut visitor, &survey, failure, &mut self.all));
        }
        for (version, failure) in &discovery.failures {
            self.document.warnings.push(format!("{version} is not measured: {failure}"));
        }

        let mut lanes = plan(discovery.offerings, &options.kinds);
        self.runs = lanes.iter().map(|lane| Attempts { asked: lane.asked, rounds: Vec::new() }).collect();
        self.cut_short = true;
        self.make_connections(&mut visitor, &mut lanes, options.count, observer)?;
        self.cut_short = false;
        self.all_were_measured()
    }

    /// One connection of each lane in turn, so that what drifts, drifts for all (A B C, B C A, …).
    fn make_connections(
        &mut self,
        visitor: &mut Visitor,
        lanes: &mut [Lane],
        count: u32,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        let planned = u64::from(count) * lanes.len() as u64;
        let mut done = 0;
        let mut failures_in_a_row = 0;
        for round in 0..count as usize {
            for turn in 0..lanes.len() {
                let index = (round + turn) % lanes.len();
                let (Some(lane), Some(run)) = (lanes.get_mut(index), self.runs.get_mut(index)) else { continue };
                let attempt = lane.connect(visitor, &mut self.all);
                match &attempt {
                    Ok(_) => failures_in_a_row = 0,
                    Err(failure) if failure.class == FailureClass::Interrupted => return Err(failure.clone()),
                    Err(failure) => {
                        failures_in_a_row += 1;
                        if failures_in_a_row >= FAILURES_IN_A_ROW {
                            let failure = failure.clone();
                            run.rounds.push(attempt);
                            return Err(failure);
                        }
                    }
                }
                run.rounds.push(attempt);
                done += 1;
                observer.proceeded(done, planned);
                if visitor.interrupt.is_raised() {
                    return Err(failure::interrupted());
                }
            }
        }
        Ok(())
    }

    /// A run without a single connection is no measurement, even if the target did not live to fail five times in a row.
    fn all_were_measured(&self) -> Result<(), Failure> {
        let unmeasured = self.runs.iter().find(|run| run.rounds.iter().all(Result::is_err));
        match unmeasured.and_then(|run| run.rounds.last()) {
            Some(Err(failure)) => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    fn into_document(self, ended_by: Option<&Failure>) -> MeasureDocument {
        let mut document = self.document;
        document.runs = self.runs.iter().map(|attempts| tally::run(attempts, self.seed)).collect();
        document.ratios = tally::ratios(&self.runs, self.seed);
        document.samples = tally::records(&self.runs);
        document.all_connections = self.all;
        document.warnings.extend(warnings::about(&self.runs));
        let by_hand = ended_by.is_some_and(|failure| failure.class == FailureClass::Interrupted);
        document.interrupted = self.cut_short || by_hand;

        let failures = self.runs.iter().flat_map(|run| &run.rounds).filter_map(|attempt| attempt.as_ref().err());
        for failure in failures.chain(ended_by.filter(|failure| failure.class != FailureClass::Interrupted)) {
            if !document.failures.iter().any(|known| known.name == failure.name && known.message == failure.message) {
                document.failures.push(failure.clone());
            }
        }
        document
    }
}

impl Lane {
    /// One counted connection. Where it lacks something to offer, a full connection that is not counted comes first.
    fn connect(&mut self, visitor: &mut Visitor, all: &mut AllConnections) -> Result<reprise_trace::Sample, Failure> {
        let offer = match self.sessions.take_offer(self.asked, visitor.clock.now()) {
            Some(offer) => offer,
            None => {
                let priming = self.visit(visitor, full(self.asked), all);
                priming.attempt?;
                // A server that gives nothing is asked all the same: the sample will say what was observed.
                self.sessions.take_offer(self.asked, visitor.clock.now()).unwrap_or_else(|| full(self.asked))
            }
        };
        self.visit(visitor, offer, all).attempt
    }

    fn visit(&mut self, visitor: &mut Visitor, offer: reprise_engine::Offer, all: &mut AllConnections) -> Visit {
        let mut visit = visitor.visit(&self.config, self.asked, offer);
        count(all, &visit);
        if matches!(&visit.attempt, Ok(sample) if sample.outcome.session_offered && sample.outcome.kind == Kind::Full) {
            self.sessions.forget_refused();
        }
        self.sessions.keep(std::mem::take(&mut visit.sessions));
        visit
    }
}

/// One lane for each version and kind: those that were named, or `full` and whatever the target offers.
fn plan(offerings: Vec<Offering>, named: &[Kind]) -> Vec<Lane> {
    let mut lanes = Vec::new();
    for offering in offerings {
        let Offering { version, config, mut ticket, mut id } = offering;
        for kind in Kind::ALL {
            // Under TLS 1.3 there are no session IDs, only echoes of them.
            let exists = kind != Kind::Id || version == Version::Tls12;
            let offered = match kind {
                Kind::Full => true,
                Kind::Id => id.is_some(),
                Kind::Ticket => ticket.is_some(),
                Kind::Psk | Kind::Early => false,
            };
            let wanted = if named.is_empty() { offered } else { named.contains(&kind) };
            if exists && wanted {
                let sessions = match kind {
                    Kind::Ticket => ticket.take(),
                    Kind::Id => id.take(),
                    _ => None,
                };
                let asked = Asked { tls: version, kind };
                lanes.push(Lane { config: config.clone(), asked, sessions: sessions.unwrap_or_default() });
            }
        }
    }
    lanes
}

fn empty_document(target: &Target, options: &Options, provenance: Provenance) -> MeasureDocument {
    MeasureDocument {
        schema: MeasureDocument::SCHEMA.to_owned(),
        label: target.to_string(),
        target: record(target, options),
        runs: Vec::new(),
        ratios: Vec::new(),
        all_connections: AllConnections::default(),
        samples: Vec::new(),
        findings: Vec::new(),
        failures: Vec::new(),
        warnings: Vec::new(),
        interrupted: false,
        baseline: None,
        provenance,
    }
}

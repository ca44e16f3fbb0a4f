//! Measures one target: discover, make connections in turns, tally.

use reprise_trace::document::{AllConnections, MeasureDocument, Provenance};
use reprise_trace::{Failure, FailureClass, Kind, PskMode};

use crate::approach::{self, Configs, configs, recognise, record, ticket_request, visitor};
use crate::discover::{Discovery, Offering, discover};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::lane::{Lane, Plan};
use crate::options::{ConnectionReuse, Options};
use crate::saved::Left;
use crate::tally::{self, Attempts};
use crate::visitor::Visitor;
use crate::warnings;
use reprise_attempt::Target;

/// So many failures in a row mean that the target has died.
const FAILURES_IN_A_ROW: u32 = 5;

/// What a measurement came to: the document always, with whatever could be measured.
pub struct Measurement {
    /// The result; its findings are left to be filled by whoever explains.
    pub document: MeasureDocument,
    /// What ended the measurement before its time, if anything did.
    pub failure: Option<Failure>,
    /// The sessions that it leaves to another process.
    pub left: Left,
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
        reuse: options.connections,
        psk_modes: options.tls13.psk_modes.clone(),
        document: empty_document(target, options, provenance),
        runs: Vec::new(),
        all: AllConnections::default(),
        cut_short: false,
        left: Left::nothing_yet(target, options),
    };
    let failure = campaign.carry_out(target, options, observer, interrupt).err();
    let (document, left) = campaign.finish(failure.as_ref());
    Measurement { document, failure, left }
}

/// A measurement under way: whatever ends it, what it has so far is kept.
struct Campaign {
    seed: u64,
    reuse: ConnectionReuse,
    psk_modes: Vec<PskMode>,
    document: MeasureDocument,
    runs: Vec<Attempts>,
    all: AllConnections,
    /// Whether it ended before every connection was made.
    cut_short: bool,
    left: Left,
}

impl Campaign {
    fn carry_out(
        &mut self,
        target: &Target,
        options: &Options,
        observer: &dyn Observer,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let route = approach::route(target, options, interrupt)?;
        let mut visitor = visitor(target, options, route, interrupt)?;
        let ended = self.visit_all(&mut visitor, configs(target, options)?, options, observer);
        // Known now: of several addresses, the first that answered.
        self.document.target.address = visitor.route.target_address().map(|address| address.ip().to_string());
        ended
    }

    fn visit_all(
        &mut self,
        visitor: &mut Visitor,
        configs: Configs,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        let survey = configs.survey.clone();
        let left_out = configs
            .without_suite
            .iter()
            .map(|version| format!("{version} is not measured: none of the cipher suites that are to be offered is of it"));
        self.document.warnings.extend(left_out);
        // What a session of another process is of is known: its connection is to be this one's first.
        let loaded = |(version, config): &_| Offering::of_loaded(*version, config, &options.sessions);
        let loaded: Vec<Offering> = configs.by_version.iter().filter_map(loaded).collect();
        let is_unknown = |(version, _): &_| loaded.iter().all(|offering| offering.version != *version);
        let unknown: Vec<_> = configs.by_version.iter().filter(|it| is_unknown(it)).cloned().collect();
        let mut discovery = match options.kinds.as_slice() {
            // Whether it is taken is what is measured, and nothing has to be found out before.
            [Kind::Psk] => Discovery::of_psk(unknown),
            _ => discover(visitor, unknown, &mut self.all),
        };
        discovery.offerings.extend(loaded);
        discovery.offerings.sort_by_key(|offering| offering.version);
        let knows_psks_alone = options.kinds.is_empty() && options.psk.is_some() && discovery.is_all_refused();
        let named = !options.versions.is_empty();
        if (discovery.offerings.is_empty() && !knows_psks_alone) || (named && !discovery.failures.is_empty()) {
            let first = discovery.failures.into_iter().next();
            let failure = first.map(|(version, failure)| failure::of_version(version, &options.groups, failure));
            let failure = failure.unwrap_or_else(failure::interrupted);
            let failure = recognise(visitor, &survey, failure, &mut self.all);
            return Err(if options.psk.is_some() { failure::of_full_beside_psk(failure) } else { failure });
        }
        for (version, failure) in &discovery.failures {
            let what = if knows_psks_alone { format!("A full {version} handshake") } else { version.to_string() };
            let hint = failure::hint_of_groups(*version, &options.groups, failure);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            self.document.warnings.push(format!("{what} is not measured: {failure}{hint}"));
        }
        let offerings = match knows_psks_alone {
            true => Discovery::of_psk(configs.by_version).offerings,
            false => discovery.offerings,
        };

        let kinds = if knows_psks_alone { &[Kind::Psk][..] } else { &options.kinds };
        let mut plan = Plan::of(offerings, kinds, options.psk.as_ref(), visitor.early_data());
        self.runs = plan.lanes.iter().map(|lane| Attempts { asked: lane.asked, rounds: Vec::new() }).collect();
        self.cut_short = true;
        let made = self.make_connections(visitor, &mut plan.lanes, options.count, observer);
        self.left.sessions = plan.into_sessions();
        self.left.at = visitor.clock.now();
        made?;
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
        let first = lanes.iter().rposition(|lane| lane.begins_with_loaded);
        for round in 0..count as usize {
            for turn in 0..lanes.len() {
                let index = (round + turn + first.unwrap_or_default()) % lanes.len();
                let (Some(lane), Some(run)) = (lanes.get_mut(index), self.runs.get_mut(index)) else { continue };
                let attempt = if done == 0 && first.is_some() {
                    lane.connect_first(visitor, &mut self.all).map(|(sample, first)| {
                        self.document.first_connection = Some(first);
                        sample
                    })
                } else {
                    lane.connect(visitor, &mut self.all)
                };
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

    fn finish(self, ended_by: Option<&Failure>) -> (MeasureDocument, Left) {
        let mut document = self.document;
        document.runs = self.runs.iter().map(|attempts| tally::run(attempts, self.seed)).collect();
        document.ratios = tally::ratios(&self.runs, self.seed);
        document.samples = tally::records(&self.runs);
        document.all_connections = self.all;
        document.warnings.extend(warnings::about(&self.runs, self.reuse, &self.psk_modes));
        let by_hand = ended_by.is_some_and(|failure| failure.class == FailureClass::Interrupted);
        document.interrupted = self.cut_short || by_hand;

        let failures = self.runs.iter().flat_map(|run| &run.rounds).filter_map(|attempt| attempt.as_ref().err());
        for failure in failures.chain(ended_by.filter(|failure| failure.class != FailureClass::Interrupted)) {
            if !document.failures.iter().any(|known| known.name == failure.name && known.message == failure.message) {
                document.failures.push(failure.clone());
            }
        }
        (document, self.left)
    }
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
        ticket_request: ticket_request(options),
        first_connection: None,
        findings: Vec::new(),
        failures: Vec::new(),
        warnings: Vec::new(),
        interrupted: false,
        baseline: None,
        conditions: Vec::new(),
        provenance,
    }
}

//! Small documents for tests, built by hand. Times are in microseconds.

use std::collections::BTreeMap;

use crate::causes::Cause;
use crate::series::MeasuredCase;
use reprise_model::document::{
    AnswerDifference, AnswerPart, AnswerRecord, Calibration, CalibrationRun, Confidence, Finding, HelloRetryComparison,
    HelloRetrySummary, MeasureDocument, NextRequestStatistics, Observed, Provenance, Ratio, Run, SampleRecord, Statistics,
    Target, Traffic,
};
use reprise_model::{
    Asked, Bytes, Facts, Kind, KindCounts, Nanos, NextRequest, Observation, Offered, Phase, Phases, PskMode, Purpose,
    Ticket, TicketKeyName, Version,
};

use reprise_probe::AcknowledgementTrial;

/// A document in the making. What concerns one run concerns the last that was added.
pub struct Example {
    document: MeasureDocument,
    observations: Vec<Observation>,
    keeps_alive: bool,
    psk_modes: Vec<PskMode>,
    trials: Vec<AcknowledgementTrial>,
}

impl Example {
    /// A document without runs.
    pub fn new() -> Self {
        let target = Target {
            host: "localhost".to_owned(),
            port: 443,
            address: Some("127.0.0.1".to_owned()),
            path: Some("/".to_owned()),
            ..Target::default()
        };
        let provenance = Provenance {
            version: "0.1.0".to_owned(),
            commit: None,
            command: Vec::new(),
            time: "2026-11-20T12:00:00Z".to_owned(),
            machine: None,
            cpu: None,
            kernel: None,
            libraries: BTreeMap::new(),
        };
        let document = MeasureDocument::begun("localhost".to_owned(), target, provenance);
        Self {
            document,
            observations: Vec::new(),
            keeps_alive: false,
            psk_modes: vec![PskMode::PskDheKe],
            trials: Vec::new(),
        }
    }

    /// Every so many connections of the last run took so much longer in one phase: its samples are in the document, each of a few more
    /// nanoseconds than the one before.
    pub fn slow(mut self, one_in: u32, phase: Phase, step_us: u64) -> Self {
        let run = self.document.runs.last().unwrap();
        for place in 0..run.n as u32 {
            let took = |of: Phase| {
                let step = if of == phase && place % one_in == 0 { step_us * 1_000 } else { 0 };
                run.phases.get(&of).map(|it| Nanos(it.median_ns + u64::from(place) * 100 + step))
            };
            let phases = Phases {
                connect: took(Phase::Connect),
                tls: took(Phase::Tls),
                wait: took(Phase::Wait),
                total: took(Phase::Total),
                ..Phases::default()
            };
            self.document.samples.push(SampleRecord {
                local_port: 40_000,
                asked: run.asked,
                kind: run.asked.kind,
                phases,
                index: Some(place),
                start_ns: Some(u64::from(place)),
                address: Some("127.0.0.1".to_owned()),
                offered: None,
                http_status: Some(200),
                hello_retry: None,
            });
        }
        self
    }

    /// Changes every sample of the document.
    pub fn samples(mut self, change: impl FnMut(&mut SampleRecord)) -> Self {
        self.document.samples.iter_mut().for_each(change);
        self
    }

    /// A hundred connections that all came out as asked, with this handshake; resumed ones had offered a session. Connecting
    /// takes 50 µs, a request 100 µs.
    pub fn run(self, tls: &str, kind: Kind, tls_us: u64) -> Self {
        self.timed_run(tls, kind, [50, tls_us, 100])
    }

    /// The same with connect, tls and wait; the interval of the handshake's ratio is 5 % to either side.
    pub fn timed_run(mut self, tls: &str, kind: Kind, [connect, tls_us, wait]: [u64; 3]) -> Self {
        let asked = Asked { tls: tls.parse().unwrap(), kind };
        let phases = BTreeMap::from([
            (Phase::Connect, statistics(connect)),
            (Phase::Tls, statistics(tls_us)),
            (Phase::Wait, statistics(wait)),
            (Phase::Total, statistics(connect + tls_us + wait)),
        ]);
        if let (Some(full), true) = (self.document.run(asked.tls, Kind::Full), kind != Kind::Full) {
            let ratios: Vec<Ratio> =
                [Phase::Tls, Phase::Total].map(|phase| ratio(asked, phase, &full.phases[&phase], &phases[&phase])).into();
            self.document.ratios.extend(ratios);
        }
        self.document.runs.push(Run { phases, n: 100, ..empty_run(asked, kind, 100) });
        self.observe(asked, kind, 100)
    }

    /// Connections that asked for a resumption and ended in full handshakes.
    pub fn refused(mut self, tls: &str, kind: Kind, count: u64) -> Self {
        let asked = Asked { tls: tls.parse().unwrap(), kind };
        self.document.runs.push(empty_run(asked, Kind::Full, count));
        self.observe(asked, Kind::Full, count)
    }

    fn observe(mut self, asked: Asked, kind: Kind, count: u64) -> Self {
        let was = |index| observation(index, asked, kind);
        let first = self.observations.len() as u32;
        self.observations.extend((first..first + count as u32).map(was));
        self.observed(|observed| observed.sessions_offered = if asked.kind == Kind::Full { 0 } else { count })
    }

    /// Changes every observation of the last run.
    pub fn all(self, change: impl FnMut(&mut Observation)) -> Self {
        self.first(usize::MAX, change)
    }

    /// Changes its first few.
    pub fn first(mut self, count: usize, change: impl FnMut(&mut Observation)) -> Self {
        let asked = self.document.runs.last().unwrap().asked;
        self.observations.iter_mut().filter(|it| it.asked == asked).take(count).for_each(change);
        self
    }

    /// Changes what was negotiated on every connection of the last run.
    pub fn facts(self, change: impl Fn(&mut Facts)) -> Self {
        self.all(|observation| change(observation.outcome.as_mut().unwrap()))
    }

    /// As if a second request had been wanted.
    pub fn keep_alive(self) -> Self {
        Self { keeps_alive: true, ..self }
    }

    /// Six connections that are acknowledged as ever, and six at once: the first answer and the next took so many milliseconds.
    pub fn trials(mut self, tls: &str, plain: [u64; 2], at_once: [u64; 2]) -> Self {
        let asked = Asked { tls: tls.parse().unwrap(), kind: Kind::Full };
        for index in 0..12 {
            let is_at_once = index % 2 == 1;
            let [first, next] = if is_at_once { at_once } else { plain }.map(|ms| Nanos(ms * 1_000_000));
            let seen = observation(index, asked, Kind::Full);
            let phases = Phases { connect: Some(Nanos(50_000)), wait: Some(first), ..Phases::default() };
            let next_request = Some(NextRequest { wait: next, receive: Nanos(0) });
            let observation = Observation { phases, next_request, ..seen };
            self.trials.push(AcknowledgementTrial { at_once: is_at_once, observation });
        }
        self
    }

    /// As if these PSK modes had been offered.
    pub fn psk_modes(self, psk_modes: &[PskMode]) -> Self {
        Self { psk_modes: psk_modes.to_vec(), ..self }
    }

    /// As if this protocol had asked for TLS.
    pub fn starttls(mut self, protocol: &str) -> Self {
        self.document.target.starttls = Some(protocol.to_owned());
        self
    }

    /// As if TLS began at this port at once, and no request were sent.
    pub fn without_request(mut self, port: u16) -> Self {
        (self.document.target.port, self.document.target.path) = (port, None);
        self
    }

    /// What findings are drawn from.
    pub fn case(&self) -> MeasuredCase<'_> {
        let Self { document, observations, keeps_alive, psk_modes, trials } = self;
        MeasuredCase {
            observations,
            figures: document,
            keeps_alive: *keeps_alive,
            psk_modes,
            cpu_costs: &[],
            judgements: &[],
            trials,
        }
    }

    /// As if the application answered this kind otherwise.
    pub fn answering_otherwise(mut self, difference: AnswerDifference) -> Self {
        self.document.ratios.retain(|ratio| (ratio.tls, ratio.to) != (difference.tls, difference.kind));
        self.document.answers_differ.push(difference);
        self
    }

    /// So many of the last run's hundred ended in full handshakes.
    pub fn of_which_full(mut self, full: u64) -> Self {
        let run = self.document.runs.last_mut().unwrap();
        run.n = 100 - full;
        run.observed.kinds = KindCounts(BTreeMap::from([(Kind::Full, full), (run.asked.kind, run.n)]));
        self.first(full as usize, |it| it.outcome.as_mut().unwrap().kind = Kind::Full)
    }

    /// The interval of the last ratio of the handshake.
    pub fn interval(mut self, ci95: [f64; 2]) -> Self {
        self.document.ratios.iter_mut().rfind(|ratio| ratio.phase == Phase::Tls).unwrap().ci95 = Some(ci95);
        self
    }

    /// As if this run had too few samples: neither its figures nor its ratios have intervals.
    pub fn without_intervals(mut self, tls: &str, kind: Kind) -> Self {
        let asked = Asked { tls: tls.parse().unwrap(), kind };
        for run in self.document.runs.iter_mut().filter(|run| run.asked == asked) {
            run.n = 4;
            run.phases.values_mut().for_each(|statistics| statistics.ci95_ns = None);
        }
        for ratio in self.document.ratios.iter_mut().filter(|it| it.tls == asked.tls && (it.to == kind || it.from == kind)) {
            ratio.ci95 = None;
        }
        self
    }

    /// Bytes of the last run's connections: the ClientHello, all that was sent, all that came.
    pub fn bytes(mut self, [first_flight, sent, received]: [u64; 3]) -> Self {
        let bytes = Traffic { sent: Bytes(sent), received: Bytes(received), first_flight: Some(Bytes(first_flight)) };
        self.document.runs.last_mut().unwrap().bytes = Some(bytes);
        self
    }

    /// As if retried connections shared and were asked for these groups, and were compared with others in turn where it says what they cost.
    pub fn hello_retry(mut self, shared: &str, group: &str, cost_us: Option<i64>) -> Self {
        let comparison = cost_us.map(|cost| HelloRetryComparison {
            kind: Kind::Full,
            retried_n: 20,
            retried_ns: 21_300_000 + cost.unsigned_abs() * 1_000,
            at_once_n: 20,
            at_once_ns: 21_300_000,
            costs_ns: cost * 1_000,
            ci95_ns: Some([(cost - 100) * 1_000, (cost + 100) * 1_000]),
        });
        let [shared, group] = [shared, group].map(str::to_owned);
        let offered = vec![shared.clone(), group.clone()];
        self.document.hello_retry = Some(HelloRetrySummary { offered, shared, group, comparison });
        self
    }

    /// How many round trips the last run took.
    pub fn round_trips(mut self, count: u64) -> Self {
        self.document.runs.last_mut().unwrap().round_trips = Some(count);
        self
    }

    /// Changes what was observed of the last run.
    pub fn observed(mut self, change: impl FnOnce(&mut Observed)) -> Self {
        change(&mut self.document.runs.last_mut().unwrap().observed);
        self
    }

    /// A second request on the connections of the last run, with this wait in microseconds.
    pub fn next_request(mut self, wait: u64) -> Self {
        let next = NextRequestStatistics { n: 100, wait: statistics(wait), receive: statistics(1) };
        self.document.runs.last_mut().unwrap().next_request = Some(next);
        self
    }

    /// As if the machine's calibration took so long.
    pub fn calibration(mut self, us: u64) -> Self {
        let run =
            |kind| CalibrationRun { kind, n: 100, phases: [Phase::Tls, Phase::Total].map(|it| (it, statistics(us))).into() };
        let runs = [Kind::Full, Kind::Ticket].map(run).into();
        self.document.calibration = Some(Calibration { work: "P-256".to_owned(), runs, samples: Vec::new() });
        self
    }

    /// As if the target were on another machine.
    pub fn address(mut self, address: &str) -> Self {
        self.document.target.address = Some(address.to_owned());
        self
    }

    /// Names the result.
    pub fn label(mut self, label: &str) -> Self {
        self.document.label = label.to_owned();
        self
    }

    /// The only finding of the cause's rule; `None` where there is none.
    pub fn only(&self, cause: &Cause) -> Option<Finding> {
        let mut findings = match cause.measured {
            Some(rule) => rule.find.findings(&self.case()),
            None => crate::judged::findings(&self.case()).into_iter().filter(|it| it.id == cause.slug).collect(),
        };
        assert!(findings.len() < 2, "{findings:?}");
        findings.pop()
    }

    /// The document.
    pub fn document(self) -> MeasureDocument {
        self.document
    }
}

/// Connections of this kind with another status than full handshakes, whose is 200.
pub fn another_status(tls: &str, kind: Kind, status: u16, confidence: Confidence) -> AnswerDifference {
    let record = |status| AnswerRecord {
        status: Some(status),
        bytes: 100,
        location: None,
        keeps_alive: true,
        connections: 99,
        of: 100,
    };
    let (full, resumed) = (record(200), record(status));
    AnswerDifference { tls: tls.parse().unwrap(), kind, part: AnswerPart::Status, full, resumed, confidence }
}

/// A ticket that allows so much early data.
pub fn ticket(max_early_data: Option<u32>) -> Ticket {
    Ticket { at: Nanos(0), length: 200, key_name: TicketKeyName::default(), lifetime_s: 300, max_early_data }
}

fn observation(index: u32, asked: Asked, kind: Kind) -> Observation {
    let cipher = if asked.tls == Version::Tls13 { 0x1301 } else { 0xc02b };
    let facts = Facts { kind, session_offered: asked.kind != Kind::Full, ..Facts::of_choice(asked.tls, cipher) };
    let start = Nanos(u64::from(index) * 1_000_000);
    let offered = Offered { kind: asked.kind, age: Nanos(0), origin: None, key_name: None, leaf: None };
    Observation {
        offered: facts.session_offered.then_some(offered),
        outcome: Ok(facts),
        round_trips: 1,
        http_status: Some(200),
        heard_tls: true,
        ..Observation::begun(index, start, Purpose::Sample, asked)
    }
}

fn empty_run(asked: Asked, observed: Kind, count: u64) -> Run {
    Run {
        asked,
        observed: Observed { kinds: KindCounts(BTreeMap::from([(observed, count)])), ..Observed::default() },
        n: 0,
        failed: 0,
        phases: BTreeMap::new(),
        bytes: None,
        round_trips: None,
        next_request: None,
        http_status: BTreeMap::new(),
        client_cpu_ns: None,
    }
}

fn ratio(asked: Asked, phase: Phase, full: &Statistics, resumed: &Statistics) -> Ratio {
    let median = full.median_ns as f64 / resumed.median_ns as f64;
    Ratio {
        phase,
        tls: asked.tls,
        from: Kind::Full,
        to: asked.kind,
        median,
        ci95: Some([median * 0.95, median * 1.05]),
        saved_ns: full.median_ns as i64 - resumed.median_ns as i64,
    }
}

fn statistics(us: u64) -> Statistics {
    let ns = us * 1_000;
    Statistics {
        median_ns: ns,
        ci95_ns: Some([ns - ns / 100, ns + ns / 100]),
        mean_ns: ns,
        min_ns: ns - ns / 20,
        max_ns: ns * 2,
        p90_ns: ns + ns / 20,
        p95_ns: Some(ns + ns / 15),
        p99_ns: ns + ns / 10,
    }
}

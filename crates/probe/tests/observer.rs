//! A measurement as a caller sees it: told of every step, stopped at any, and left with a document.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::cell::RefCell;

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, Resumption, ServerSpec};
use reprise_probe::{Certificates, Interrupt, Measurement, Observer, Options, Silent, Target, measure};
use reprise_trace::{FailureClass, Kind, Version};

/// Notes what it is told, and raises the interrupt at a step.
struct Noting<'a> {
    steps: RefCell<Vec<(u64, u64)>>,
    interrupt: &'a Interrupt,
    stop_at: u64,
}

impl<'a> Noting<'a> {
    fn new(interrupt: &'a Interrupt, stop_at: u64) -> Self {
        Self { steps: RefCell::default(), interrupt, stop_at }
    }
}

impl Observer for Noting<'_> {
    fn proceeded(&self, done: u64, planned: u64) {
        self.steps.borrow_mut().push((done, planned));
        if done == self.stop_at {
            self.interrupt.raise();
        }
    }
}

struct Lab {
    server: EmbeddedServer,
    options: Options,
}

impl Lab {
    fn new(count: u32) -> Self {
        let authority = Authority::new().unwrap();
        let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let config = EmbeddedConfig { resumption: Resumption::Ticket, ..EmbeddedConfig::new(identity) };
        let certificates = Certificates::Roots(vec![authority.certificate().clone()]);
        let options = Options { count, certificates, ..Options::default() };
        Self { server: EmbeddedServer::start(config).unwrap(), options }
    }

    fn measure(&self, observer: &dyn Observer, interrupt: &Interrupt) -> Measurement {
        let target: Target = self.server.address().to_string().parse().unwrap();
        let provenance = reprise_probe::provenance("test", None, Vec::new());
        measure(&target, &self.options, provenance, observer, interrupt)
    }
}

#[test]
fn every_connection_is_told_once() {
    let lab = Lab::new(3);
    let interrupt = Interrupt::default();
    let noting = Noting::new(&interrupt, u64::MAX);
    let measurement = lab.measure(&noting, &interrupt);
    assert!(measurement.failure.is_none());
    // Both versions, full and by ticket.
    let told: Vec<(u64, u64)> = (1..=12).map(|done| (done, 12)).collect();
    assert_eq!(noting.steps.into_inner(), told);
    assert_eq!(measurement.document.samples.len(), 12);
}

#[test]
fn an_interrupt_ends_after_the_connection_at_hand_and_keeps_what_there_is() {
    for stop_at in [1, 5, 12] {
        let lab = Lab::new(3);
        let interrupt = Interrupt::default();
        let measurement = lab.measure(&Noting::new(&interrupt, stop_at), &interrupt);
        assert_eq!(measurement.failure.unwrap().class, FailureClass::Interrupted);
        let document = measurement.document;
        assert!(document.interrupted && document.failures.is_empty());
        assert_eq!(document.samples.len() as u64, stop_at);
        let counted: u64 = document.runs.iter().map(|run| run.n).sum();
        assert_eq!(counted, stop_at);
    }
}

#[test]
fn an_interrupt_that_is_raised_already_makes_no_connection() {
    let lab = Lab::new(3);
    let interrupt = Interrupt::default();
    interrupt.raise();
    let measurement = lab.measure(&Silent, &interrupt);
    assert_eq!(measurement.failure.unwrap().class, FailureClass::Interrupted);
    assert_eq!(lab.server.completed(), 0);
}

#[test]
fn samples_are_interleaved() {
    let lab = Lab::new(4);
    let document = lab.measure(&Silent, &Interrupt::default()).document;
    // A B C D, B C D A, …: the server saw each round begin one further.
    let accounts = lab.server.accounts();
    let place = |port: u16| accounts.iter().position(|account| account.peer_port == port).unwrap();
    let mut made: Vec<_> = document.samples.iter().map(|sample| (place(sample.local_port), sample.asked)).collect();
    made.sort_by_key(|(place, _)| *place);
    let lanes: Vec<_> = document.runs.iter().map(|run| run.asked).collect();
    assert_eq!(lanes.len(), 4);
    for (round, made) in made.chunks(4).enumerate() {
        let asked: Vec<_> = made.iter().map(|(_, asked)| *asked).collect();
        let expected: Vec<_> = (0..4).map(|turn| lanes[(round + turn) % 4]).collect();
        assert_eq!(asked, expected, "round {round}");
    }
}

#[test]
fn the_same_samples_and_seed_give_the_same_figures() {
    let lab = Lab::new(5);
    let document = lab.measure(&Silent, &Interrupt::default()).document;
    for run in &document.runs {
        let of_run = |phase: reprise_trace::Phase| {
            document
                .samples
                .iter()
                .filter(|sample| sample.asked == run.asked)
                .filter_map(move |sample| sample.phases.of(phase))
        };
        for (phase, statistics) in &run.phases {
            let values: Vec<u64> = of_run(*phase).map(|nanos| nanos.0).collect();
            assert_eq!(values.len() as u64, run.n);
            let summary = reprise_stats::summarize(&values, lab.options.seed).unwrap();
            assert_eq!(
                (summary.median, summary.min, summary.max),
                (statistics.median_ns, statistics.min_ns, statistics.max_ns)
            );
            assert_eq!(summary.ci95.map(|(low, high)| [low, high]), statistics.ci95_ns);
        }
    }
    assert!(document.run(Version::Tls13, Kind::Ticket).is_some());
}

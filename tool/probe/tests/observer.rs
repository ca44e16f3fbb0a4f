//! A measurement as a caller sees it: told of every step, stopped at any, and left with a document.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::cell::RefCell;

use reprise_connection::Target;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::{Asked, FaultName, Kind, Observation, Purpose, Version};
use reprise_probe::{CertificateTrust, Interrupt, Measurement, NoObserver, Observer, Options, Series, measure};

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
        let config = EmbeddedConfig { resumption: EmbeddedResumption::Ticket, ..EmbeddedConfig::new(identity) };
        let certificates = CertificateTrust::Roots(vec![authority.certificate().clone()]);
        let options = Options { count, certificates, ..Options::default() };
        Self { server: EmbeddedServer::start(config).unwrap(), options }
    }

    fn measure(&self, observer: &dyn Observer, interrupt: &Interrupt) -> Measurement {
        let target: Target = self.server.address().to_string().parse().unwrap();
        measure(&target, &self.options, observer, interrupt)
    }
}

fn observations(measurement: &Measurement) -> Vec<Observation> {
    measurement.series.iter().flat_map(|series| &series.observations).copied().collect()
}

#[test]
fn every_connection_is_told_once() {
    let lab = Lab::new(3);
    let interrupt = Interrupt::default();
    let noting = Noting::new(&interrupt, u64::MAX);
    let measurement = lab.measure(&noting, &interrupt);
    assert_eq!(measurement.ended_by, None);
    // Both versions, full and by ticket.
    let told: Vec<(u64, u64)> = (1..=12).map(|done| (done, 12)).collect();
    assert_eq!(noting.steps.into_inner(), told);
    assert_eq!(observations(&measurement).len(), 12);
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    for stop_at in [1, 5, 12] {
        let lab = Lab::new(3);
        let interrupt = Interrupt::default();
        let measurement = lab.measure(&Noting::new(&interrupt, stop_at), &interrupt);
        assert!(measurement.is_cut_short && measurement.failures.is_empty());
        let observations = observations(&measurement);
        assert_eq!(observations.len() as u64, stop_at);
        assert!(observations.iter().all(Observation::is_as_asked));
        assert_eq!(measurement.ended_by.unwrap().fault.name, FaultName::Interrupted);
    }
}

#[test]
fn an_interrupt_that_is_raised_already_makes_no_connection() {
    let lab = Lab::new(3);
    let interrupt = Interrupt::default();
    interrupt.raise();
    let measurement = lab.measure(&NoObserver, &interrupt);
    assert_eq!(measurement.ended_by.unwrap().fault.name, FaultName::Interrupted);
    assert_eq!(lab.server.completed(), 0);
}

#[test]
fn series_are_interleaved_and_say_in_which_order() {
    let lab = Lab::new(4);
    let measurement = lab.measure(&NoObserver, &Interrupt::default());
    let accounts = lab.server.accounts();
    let place = |seen: &Observation| {
        let port = seen.local_port().unwrap();
        accounts.iter().position(|account| account.peer_port == port).unwrap()
    };
    let mut made = observations(&measurement);
    made.sort_by_key(place);
    assert!(made.is_sorted_by_key(|seen| (seen.index, seen.start)), "the order that is told is that of the server");
    let series: Vec<Asked> = measurement.series.iter().map(|series| series.asked).collect();
    assert_eq!(series.len(), 4);
    let precedes = |one: Asked, other: Asked| {
        let follow = |pair: &&[Observation]| (pair[0].asked, pair[1].asked) == (one, other);
        made.windows(2).filter(follow).count()
    };
    let pairs: Vec<usize> = series.iter().flat_map(|one| series.iter().map(|other| precedes(*one, *other))).collect();
    // 16 connections are 15 pairs, of 16 that there are.
    assert!(pairs.iter().all(|count| *count <= 1), "{pairs:?}");
}

#[test]
fn a_priming_connection_never_precedes_what_it_serves() {
    let mut lab = Lab::new(8);
    lab.options.kinds = vec![Kind::Ticket];
    lab.options.versions = vec![Version::Tls13];
    let measurement = lab.measure(&NoObserver, &Interrupt::default());
    let primings: Vec<u32> = measurement.others.iter().map(|seen| seen.index).collect();
    assert_eq!(primings, [0, 1], "discovery and one more, since discovery directly precedes the first");
    let samples = observations(&measurement);
    assert!(samples.iter().all(Observation::is_as_asked));
    assert!(samples.iter().all(|seen| {
        let origin = seen.offered.unwrap().origin.unwrap().index;
        origin + 1 < seen.index || !primings.contains(&origin)
    }));
}

#[test]
fn an_observation_says_which_connection_its_session_came_from() {
    let lab = Lab::new(4);
    let measurement = lab.measure(&NoObserver, &Interrupt::default());
    let mut all = observations(&measurement);
    all.extend(&measurement.others);
    all.sort_by_key(|seen| seen.index);
    assert!(all.iter().enumerate().all(|(place, seen)| seen.index as usize == place));
    let tickets = all.iter().filter(|seen| seen.asked.kind == Kind::Ticket && seen.purpose == Purpose::Sample);
    let mut resumed_from_resumed = 0;
    for seen in tickets {
        let offered = seen.offered.unwrap();
        let origin = offered.origin.unwrap();
        let issuer = &all[origin.index as usize];
        assert_eq!(seen.distance(), Some(seen.index - origin.index));
        assert_eq!(origin.was_resumed, issuer.kind() != Some(Kind::Full));
        assert!(offered.age.0 > 0 && offered.age <= seen.start - issuer.start);
        let names: Vec<_> = issuer.facts().unwrap().tickets.iter().map(|ticket| Some(ticket.key_name)).collect();
        assert!(names.contains(&offered.key_name), "{offered:?}");
        resumed_from_resumed += u32::from(origin.was_resumed);
    }
    assert!(resumed_from_resumed > 0, "resumptions chain");
}

#[test]
fn a_full_handshake_shows_the_leaf_and_a_resumed_none() {
    let lab = Lab::new(2);
    let measurement = lab.measure(&NoObserver, &Interrupt::default());
    let leaf = |series: &Series| series.observations[0].facts().unwrap().leaf;
    let of = |kind| measurement.series.iter().filter(move |series| series.asked.kind == kind).map(leaf);
    let full: Vec<_> = of(Kind::Full).collect();
    assert!(full[0].is_some() && full.iter().all(|leaf| *leaf == full[0]));
    assert!(of(Kind::Ticket).all(|leaf| leaf.is_none()));
}

#[test]
fn the_same_observations_and_seed_give_the_same_figures() {
    let lab = Lab::new(5);
    let measurement = lab.measure(&NoObserver, &Interrupt::default());
    for series in &measurement.series {
        let run = reprise_probe::run(series, lab.options.seed);
        for (phase, statistics) in &run.phases {
            let times = series.observations.iter().filter_map(|seen| seen.phases.of(*phase));
            let values: Vec<u64> = times.map(|nanos| nanos.0).collect();
            assert_eq!(values.len() as u64, run.n);
            let summary = reprise_stats::summarize(&values, lab.options.seed).unwrap();
            assert_eq!(
                (summary.median, summary.min, summary.max),
                (statistics.median_ns, statistics.min_ns, statistics.max_ns)
            );
            assert_eq!(summary.ci95, statistics.ci95_ns);
        }
    }
    assert!(measurement.series.iter().any(|it| it.asked == Asked { tls: Version::Tls13, kind: Kind::Ticket }));
}

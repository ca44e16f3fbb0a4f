//! What was asked for, what was begun and what is told agree: kinds and names, counts and warm-up, rates and seconds.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reprise_harness::Lab;
use reprise_harness::load::{self, document, load};
use reprise_lab::{EmbeddedResumption, EmbeddedServer};
use reprise_load::{
    Arrival, ArrivalSpread, LoadEnd, LoadOptions, NoLoadObserver, Stage, StepTarget, TlsOptions, WeightedName, run, search,
};
use reprise_model::{FaultName, Kind, LoadNotice, Nanos, Phase, Version};
use reprise_servers::{Balancing, MisbehavingServer, Relay, RelayFault, RelayRule, start_balancer};

fn server() -> EmbeddedServer {
    Lab::new().server(EmbeddedResumption::Ticket)
}

fn options(address: SocketAddr) -> LoadOptions {
    load::options(address, Version::Tls13)
}

#[test]
fn every_kind_goes_to_every_name() {
    let server = server();
    let name = |name: &str| WeightedName { name: Some(name.to_owned()), weight: 1 };
    let tls = TlsOptions { server_names: vec![name("a.example"), name("b.example")], ..TlsOptions::new(Version::Tls13) };
    let options = LoadOptions {
        tls: Arc::new(tls),
        mix: vec![(Kind::Full, 1), (Kind::Ticket, 1)],
        end: LoadEnd::Count(80),
        ..options(server.address())
    };
    let outcome = load(&options);
    // Where tickets go to both names, each has one without that comes first, unless a full one has brought it.
    let resumed = outcome.completed(Kind::Ticket);
    let accounts = server.accounts();
    let by_name = |name: &str| accounts.iter().filter(|it| it.resumed && it.sni.as_deref() == Some(name)).count();
    assert_eq!(resumed + outcome.primed(), 40);
    assert!(by_name("a.example") >= 19 && by_name("b.example") >= 19, "{} {}", by_name("a.example"), by_name("b.example"));
}

#[test]
fn a_count_is_of_what_begins_after_the_warm_up() {
    let server = server();
    let options = LoadOptions { warmup: Duration::from_millis(100), end: LoadEnd::Count(20), ..options(server.address()) };
    let outcome = load(&options);
    assert_eq!(outcome.completed(Kind::Full), 20);
    let warmup = document(&outcome, &options).warmup_completed;
    assert!(warmup > 0);
    assert_eq!(server.accounts().len() as u64, 20 + warmup);
}

#[test]
fn what_fails_in_the_warm_up_is_counted_apart() {
    let warmup = Duration::from_millis(300);
    let closing = MisbehavingServer::closing().unwrap();
    let options = LoadOptions { warmup, end: LoadEnd::Count(5), ..options(closing.address()) };
    let outcome = load(&options);
    let document = document(&outcome, &options);
    assert_eq!(document.errors, BTreeMap::from([("closed_early".to_owned(), 5)]));
    assert!(document.warmup_errors["closed_early"] > 0 && document.warmup_completed == 0, "{:?}", document.warmup_errors);
    assert!(outcome.notices(&document, &options).contains(&LoadNotice::WarmupFailures));

    // Of what is due every millisecond, a few begin, one after the other, and the rest find no place.
    let silent = MisbehavingServer::silent().unwrap();
    let options = LoadOptions {
        arrival: Arrival::Open { rate: 1000.0, spread: ArrivalSpread::Constant, most: 1 },
        warmup,
        end: LoadEnd::After(warmup),
        timeout: Duration::from_millis(100),
        ..self::options(silent.address())
    };
    let document = self::document(&load(&options), &options);
    assert!(document.not_started > 250 && document.total_errors() < 10, "{:?}", document.errors);
    let counted = document.total_errors() + document.not_started;
    let in_warmup = document.total_warmup_errors() + document.warmup_not_started;
    assert!((598..=602).contains(&(counted + in_warmup)), "{counted} {in_warmup}");
    assert!((298..=310).contains(&counted), "{counted} {in_warmup}");
}

#[test]
fn connections_of_which_every_third_is_slow_are_told() {
    let server = server();
    let rule = RelayRule { skip_connections: 0, record: 0, fault: RelayFault::Pause(Duration::from_millis(300)) };
    let late = Relay::start(server.address(), rule).unwrap();
    let nodes = |third: SocketAddr| vec![server.address(), server.address(), third];
    for (third, is_slow) in [(late.address(), true), (server.address(), false)] {
        let balancer = start_balancer(nodes(third), Balancing::RoundRobin).unwrap();
        let options = LoadOptions {
            arrival: Arrival::Closed { connections: 4 },
            end: LoadEnd::Count(60),
            mix: vec![(Kind::Full, 1), (Kind::Ticket, 1)],
            ..options(balancer.address())
        };
        let outcome = load(&options);
        let notices = outcome.notices(&document(&outcome, &options), &options);
        let slow = notices.iter().find_map(|notice| match notice {
            LoadNotice::SomeSlow { phase: Phase::Tls, slow, of, step } => Some((*slow, *of, step.0 >= 200_000_000)),
            _ => None,
        });
        assert_eq!(slow, is_slow.then_some((20, 60, true)), "{notices:?}");
    }
}

#[test]
fn each_connection_counts_in_the_stage_in_which_it_was_due() {
    let server = server();
    let [warmup, each] = [100, 200].map(Duration::from_millis);
    let stages: Vec<Stage> = [100.0, 500.0, 50.0].map(|rate| Stage { duration: each, rate }).to_vec();
    let rate = stages.iter().map(|stage| stage.rate).sum::<f64>() / 3.0;
    let staged = LoadOptions {
        arrival: Arrival::Open { rate, spread: ArrivalSpread::Constant, most: 200 },
        stages,
        warmup,
        end: LoadEnd::After(each * 3),
        mix: vec![(Kind::Full, 1), (Kind::Ticket, 1)],
        threads: 2,
        server_pid: Some(std::process::id()),
        ..options(server.address())
    };
    let document = self::document(&load(&staged), &staged);
    for (stage, offered) in document.stages.iter().zip([20, 100, 10]) {
        assert!(stage.offered.abs_diff(offered) <= 1, "{:?}", document.stages);
        assert_eq!(stage.offered, stage.total_completed() + stage.failed + stage.not_started);
        assert!(stage.server_cpu_ns.is_some() && (stage.seconds - 0.2).abs() < 1e-9, "{stage:?}");
        assert!(stage.resumed.is_some_and(|share| share > 0.3) && stage.latency_from_intended_ns.is_some(), "{stage:?}");
    }
    let completed: u64 = document.stages.iter().map(|stage| stage.total_completed()).sum();
    // What was due in the warm-up and began after it is in no stage.
    assert!(completed > 0 && completed <= document.total_completed() + document.late, "{completed}");

    // One place, where nobody answers: what finds it taken is counted where it was due.
    let silent = MisbehavingServer::silent().unwrap();
    let staged = LoadOptions {
        arrival: Arrival::Open { rate, spread: ArrivalSpread::Constant, most: 1 },
        timeout: Duration::from_millis(150),
        threads: 1,
        ..LoadOptions { address: silent.address(), ..staged }
    };
    let document = self::document(&load(&staged), &staged);
    for (stage, offered) in document.stages.iter().zip([20, 100, 10]) {
        assert!(stage.offered.abs_diff(offered) <= 1 && stage.not_started > offered / 2, "{:?}", document.stages);
        assert_eq!((stage.resumed, stage.total_completed()), (None, 0));
    }
    assert_eq!(document.stages.iter().map(|stage| stage.not_started).sum::<u64>(), document.not_started);

    // What is cut short keeps what came until then.
    let staged = LoadOptions { address: server.address(), ..staged };
    let began = Instant::now();
    let stop = || began.elapsed() > warmup + each;
    let document = self::document(&run(&staged, &stop, &NoLoadObserver).unwrap(), &staged);
    assert!(document.stages[0].total_completed() > 0, "{:?}", document.stages);
    assert_eq!((document.stages[2].offered, document.stages[2].server_cpu_ns), (0, None), "{:?}", document.stages);
}

#[test]
fn a_warm_up_that_tells_the_group_leaves_no_error() {
    let server = Lab::new().server_with(|config| config.groups = vec![reprise_lab::NamedGroup::secp384r1]);
    let options = LoadOptions { warmup: Duration::from_millis(300), end: LoadEnd::Count(5), ..options(server.address()) };
    let outcome = load(&options);
    let document = document(&outcome, &options);
    assert_eq!((document.total_completed(), document.total_errors()), (5, 0));
    assert_eq!(document.warmup_errors, BTreeMap::from([("hello_retry_request".to_owned(), 1)]));
    assert_eq!(document.wanted_group.as_deref(), Some("secp384r1"));
    let retry = LoadNotice::Failures { fault: FaultName::HelloRetryRequest, count: 1 };
    assert!(outcome.notices(&document, &options).contains(&retry));
}

#[test]
fn the_time_is_of_the_connections_not_of_the_observer() {
    let server = server();
    let options = LoadOptions { end: LoadEnd::Count(1), ..options(server.address()) };
    let document = document(&load(&options), &options);
    let whole = document.latency_ns[&Kind::Full][&reprise_model::Phase::Total].max as f64 / 1e9;
    // Watching looks every tenth of a second: one connection would always seem to take as long.
    assert!(document.seconds < whole * 1.5 + 0.05, "{} s for a connection of {whole} s", document.seconds);
}

#[test]
fn what_is_made_before_a_load_makes_no_connection_late() {
    let server = server();
    // Many places take long to make.
    let options = LoadOptions {
        arrival: Arrival::Open { rate: 100.0, spread: ArrivalSpread::Constant, most: 50_000 },
        end: LoadEnd::Count(1),
        ..options(server.address())
    };
    let begun = Instant::now();
    let document = document(&load(&options), &options);
    let whole = begun.elapsed();
    let intended = document.latency_from_intended_ns[&Kind::Full].max;
    let actual = document.latency_ns[&Kind::Full][&reprise_model::Phase::Total].max;
    let late = Duration::from_nanos(intended.saturating_sub(actual));
    assert!(late < whole / 2, "{late:?} late of {whole:?}");
}

#[test]
fn what_was_due_before_the_end_and_has_a_place_begins() {
    let server = server();
    // Many are due while others are served, at whatever moment the end comes.
    let options = LoadOptions {
        arrival: Arrival::Open { rate: 20_000.0, spread: ArrivalSpread::Constant, most: 1_000 },
        end: LoadEnd::After(Duration::from_millis(25)),
        timeout: Duration::from_secs(60),
        ..options(server.address())
    };
    let outcome = load(&options);
    assert_eq!((outcome.errors(), outcome.not_started()), Default::default());
    assert_eq!(outcome.completed(Kind::Full) + outcome.late(), 500);
}

#[test]
fn an_unreachable_rate_against_refusals_ends_in_time() {
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    for spread in [ArrivalSpread::Constant, ArrivalSpread::Poisson] {
        let options = LoadOptions {
            arrival: Arrival::Open { rate: 10_000_000.0, spread, most: 4 },
            end: LoadEnd::After(Duration::from_millis(500)),
            ..options(address)
        };
        // Asked once a round, which must not become longer and longer.
        let asked = AtomicU64::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) > 1_000_000;
        let outcome = run(&options, &stop, &NoLoadObserver).unwrap();
        let rounds = asked.load(Ordering::Relaxed);
        let errors = outcome.errors();
        assert_eq!(errors.keys().collect::<Vec<_>>(), ["connection_refused"], "what never began has not failed");
        let (all, refused) = (errors["connection_refused"] + outcome.not_started(), errors["connection_refused"]);
        assert!(refused < rounds * 1000, "{refused} in {rounds} rounds");
        let expected = 5_000_000_f64;
        assert!((all as f64 - expected).abs() < 5.0 * expected.sqrt(), "{all}");
    }
}

#[test]
fn a_stop_during_the_last_connections_waits_two_seconds() {
    let server = MisbehavingServer::silent().unwrap();
    let timeout = Duration::from_secs(60);
    let options = LoadOptions { end: LoadEnd::Count(1), timeout, ..options(server.address()) };
    let begun = Instant::now();
    // The load is over as soon as it has begun; to stop is asked for after that.
    let asked = AtomicU64::new(0);
    let outcome = run(&options, &|| asked.fetch_add(1, Ordering::Relaxed) > 10, &NoLoadObserver).unwrap();
    assert_eq!(outcome.errors()["cut_off"], 1);
    assert!(begun.elapsed() < timeout / 2, "{:?}", begun.elapsed());
}

#[test]
fn a_search_ignores_the_ramp_and_what_is_in_flight() {
    let server = server();
    // Each connection takes a fifth of a second, most of which it waits.
    let pause = RelayFault::Pause(Duration::from_millis(200));
    let relay = Relay::start(server.address(), RelayRule { skip_connections: 0, record: 0, fault: pause }).unwrap();
    for (ramp, spread) in [(300, ArrivalSpread::Constant), (0, ArrivalSpread::Poisson)] {
        let options = LoadOptions {
            // Twice the rate finds no place.
            arrival: Arrival::Open { rate: 40.0, spread, most: 14 },
            ramp: Duration::from_millis(ramp),
            timeout: Duration::from_secs(20),
            ..options(relay.address())
        };
        let latency = Nanos::from(Duration::from_secs(10));
        let target = StepTarget { quantile: 0.5, latency, duration: Duration::from_millis(600) };
        let found = search(&options, target, &|| false, &NoLoadObserver).unwrap().unwrap();
        let first = &found.steps[0];
        assert!(first.passed && first.errors == 0, "ramp {ramp} {spread:?}: {:?}", found.steps);
        assert!(found.steps.iter().any(|step| !step.passed), "{:?}", found.steps);
    }
}

#[test]
fn seconds_without_completions_are_reported() {
    // The first connections are answered, the others never.
    let server = server();
    let stall = RelayRule { skip_connections: 5, record: 0, fault: RelayFault::Stall };
    let relay = Relay::start(server.address(), stall).unwrap();
    let options = LoadOptions {
        end: LoadEnd::After(Duration::from_millis(2100)),
        timeout: Duration::from_secs(1),
        ..options(relay.address())
    };
    let outcome = load(&options);
    let document = document(&outcome, &options);
    let seconds = &document.rate.per_second;
    assert_eq!((seconds.len(), seconds.iter().sum::<u64>(), seconds[2]), (3, 5, 0), "{seconds:?}");
    assert_eq!(&document.rate.per_second_by_kind[&Kind::Full], seconds);

    // A dozen connections, one of which takes three seconds longer than the load.
    let late = RelayRule { skip_connections: 11, record: 0, fault: RelayFault::Pause(Duration::from_secs(3)) };
    let relay = Relay::start(server.address(), late).unwrap();
    let options = LoadOptions {
        arrival: Arrival::Open { rate: 40.0, spread: ArrivalSpread::Constant, most: 40 },
        end: LoadEnd::After(Duration::from_millis(290)),
        ..self::options(relay.address())
    };
    let outcome = load(&options);
    let document = self::document(&outcome, &options);
    let counted = (document.total_completed(), document.late, document.rate.per_second.clone());
    assert_eq!((counted.0 + counted.1, counted.1 >= 1, counted.2), (12, true, vec![counted.0]));
    let rate = counted.0 as f64 / document.seconds;
    assert!((document.rate.mean - rate).abs() < 1e-9, "{} {rate}", document.rate.mean);
    // The slowest is not left out of the latencies.
    assert!(document.latency_ns[&Kind::Full][&reprise_model::Phase::Total].max > 2_900_000_000);
    let notices = outcome.notices(&document, &options);
    assert!(!notices.iter().any(|it| matches!(it, LoadNotice::UnevenSeconds { .. })), "{notices:?}");
}

//! Several targets are measured in turns, connection by connection.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::sync::{Arc, Mutex};

use reprise_connection::Target;
use reprise_engine::KeyLog;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::Version;
use reprise_probe::{CertificateTrust, Interrupt, Measurement, NoObserver, Options, measure_in_turns};
use reprise_servers::MisbehavingServer;

const COUNT: u32 = 12;

/// Which target, and the client random of its connection.
type Seen = (usize, [u8; 32]);

/// Knows whose connections came in which order.
struct Order {
    target: usize,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl KeyLog for Order {
    fn log(&self, _label: &str, client_random: &[u8; 32], _secret: &[u8]) {
        let mut seen = self.seen.lock().unwrap();
        // Several secrets, one connection.
        if seen.iter().all(|(_, known)| known != client_random) {
            seen.push((self.target, *client_random));
        }
    }
}

fn options(key_log: Option<Arc<dyn KeyLog>>) -> Options {
    Options {
        versions: vec![Version::Tls13],
        count: COUNT,
        certificates: CertificateTrust::Insecure,
        key_log,
        ..Options::default()
    }
}

fn server(resumption: EmbeddedResumption) -> EmbeddedServer {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    EmbeddedServer::start(EmbeddedConfig { resumption, ..EmbeddedConfig::new(identity) }).unwrap()
}

fn samples(measurement: &Measurement) -> usize {
    measurement.series.iter().map(|series| series.observations.len()).sum()
}

#[test]
fn connections_of_one_target_stand_among_those_of_the_others() {
    let servers = [EmbeddedResumption::Off, EmbeddedResumption::Ticket, EmbeddedResumption::Ticket].map(server);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let order = |target| Some(Arc::new(Order { target, seen: Arc::clone(&seen) }) as Arc<dyn KeyLog>);
    let targets: Vec<(Target, Options)> =
        servers.iter().enumerate().map(|(place, server)| (Target::at(server.address()), options(order(place)))).collect();
    let measurements = measure_in_turns(&targets, 1, &NoObserver, &Interrupt::default());
    let series: Vec<usize> = measurements.iter().map(|it| it.series.len()).collect();
    assert_eq!(series, [1, 2, 2]);
    assert_eq!(measurements.iter().map(samples).collect::<Vec<_>>(), [12, 24, 24]);

    // In each third of the time each target has about a third of its connections.
    let order: Vec<usize> = seen.lock().unwrap().iter().map(|(target, _)| *target).collect();
    for (target, series) in series.into_iter().enumerate() {
        let of_target = |part: &[usize]| part.iter().filter(|it| **it == target).count();
        let all = of_target(&order);
        for third in order.chunks(order.len().div_ceil(3)) {
            let expected = all.div_ceil(3);
            assert!(of_target(third).abs_diff(expected) <= 3 * series, "target {target}: {order:?}");
        }
    }
}

#[test]
fn a_target_that_fails_does_not_hold_up_the_others() {
    let (dead, living) = (MisbehavingServer::closing().unwrap(), server(EmbeddedResumption::Off));
    let targets = [dead.address(), living.address()].map(|address| (Target::at(address), options(None)));
    let measurements = measure_in_turns(&targets, 1, &NoObserver, &Interrupt::default());
    assert!(measurements[0].ended_by.is_some());
    assert_eq!((samples(&measurements[1]), measurements[1].ended_by.is_none()), (COUNT as usize, true));
}

#[test]
fn an_interruption_ends_all() {
    let servers = [EmbeddedResumption::Off, EmbeddedResumption::Off].map(server);
    let targets = servers.each_ref().map(|server| (Target::at(server.address()), options(None)));
    let interrupt = Interrupt::default();
    interrupt.raise();
    let measurements = measure_in_turns(&targets, 1, &NoObserver, &interrupt);
    assert!(measurements.iter().all(|it| it.ended_by.as_ref().is_some_and(|failed| failed.is_interruption())));
}

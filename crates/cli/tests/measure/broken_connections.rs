//! A server that stalls, closes, resets, truncates or garbles any one of its records: exit 3, a message that names what
//! was awaited, and the samples so far are kept.

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{MisbehavingServer, Relay, RelayFault, RelayRule, ScriptStep};
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{Lab, Outcome, Reprise};

/// nginx sends each handshake message in a record of its own.
struct Upstream {
    lab: Lab,
    nginx: Nginx,
}

impl Upstream {
    fn start() -> Self {
        let lab = Lab::new();
        let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
        Self { lab, nginx }
    }

    /// A relay that does `fault` to the record of this number, on each connection after the first few.
    fn breaking(&self, skip_connections: usize, record: usize, fault: RelayFault) -> Relay {
        Relay::start(self.nginx.address(), RelayRule { skip_connections, record, fault }).unwrap()
    }

    fn measure(&self, relay: &Relay, tls: Version, kind: Kind) -> Reprise {
        self.lab.measure(relay.address()).args(["--tls", tls.number(), "--kinds", kind.name()]).count(8)
    }

    /// How many records the server sends in a connection, the last of them a close_notify.
    fn records(&self, tls: Version, kind: Kind) -> usize {
        let relay = Relay::transparent(self.nginx.address()).unwrap();
        self.measure(&relay, tls, kind).run().exits(0);
        relay.records().last().unwrap().len()
    }
}

/// How many connections find out what the server offers: under TLS 1.2 one for tickets and one for session IDs.
fn discovery(tls: Version) -> usize {
    match tls {
        Version::Tls12 => 2,
        Version::Tls13 => 1,
    }
}

#[test]
fn a_stall_names_the_message_that_was_awaited() {
    reprise_servers::require!("nginx");
    let upstream = Upstream::start();
    let tls12 = [
        "ServerHello",
        "Certificate",
        "ServerKeyExchange",
        "ServerHelloDone",
        "NewSessionTicket",
        "ChangeCipherSpec",
        "Finished",
        "response",
    ];
    // RFC 8446 §D.4: the second record is a ChangeCipherSpec that means nothing. Tickets come before the response.
    let tls13 = [
        "ServerHello",
        "EncryptedExtensions",
        "EncryptedExtensions",
        "Certificate",
        "CertificateVerify",
        "Finished",
        "response",
        "response",
        "response",
    ];
    for (tls, awaited) in [(Version::Tls12, &tls12[..]), (Version::Tls13, &tls13)] {
        let records = upstream.records(tls, Kind::Full);
        assert_eq!(records, awaited.len() + 1, "{tls}: the close_notify is not awaited");
        let outcomes = break_at_once(&upstream, tls, awaited.len(), RelayFault::Stall);
        for (outcome, awaited) in outcomes.into_iter().zip(awaited) {
            outcome.exits(3).says(&[&format!("no {awaited} within 2 s"), "--timeout"]);
        }
    }
}

#[test]
fn a_length_that_lies_ends_at_the_timeout_at_the_latest() {
    reprise_servers::require!("nginx");
    let upstream = Upstream::start();
    for tls in [Version::Tls12, Version::Tls13] {
        // The last byte of a handshake message's length: what is now too short is awaited.
        let records = upstream.records(tls, Kind::Full);
        for outcome in break_at_once(&upstream, tls, records, RelayFault::Flip(3)) {
            outcome.exits(3);
        }
    }
}

/// Breaks each record of the very first connection, all at the same time, since some wait for their timeout.
fn break_at_once(upstream: &Upstream, tls: Version, records: usize, fault: RelayFault) -> Vec<Outcome> {
    let start = |record| {
        let relay = upstream.breaking(0, record, fault);
        let running = upstream.measure(&relay, tls, Kind::Full).timeout("2s").start();
        (relay, running)
    };
    let started: Vec<_> = (0..records).map(start).collect();
    started.into_iter().map(|(_relay, running)| running.finish()).collect()
}

#[test]
fn a_stall_after_the_response_is_no_failure() {
    reprise_servers::require!("nginx");
    let upstream = Upstream::start();
    for tls in [Version::Tls12, Version::Tls13] {
        let close_notify = upstream.records(tls, Kind::Full) - 1;
        let relay = upstream.breaking(0, close_notify, RelayFault::Stall);
        upstream.lab.measure(relay.address()).args(["--kinds", "full", "--tls", tls.number()]).count(1).run().exits(0);
    }
}

/// Breaks each record in turn, once the server has been found good and measured once. `check` is told whether the record
/// was the last, and which it was.
fn break_each_record(fault: RelayFault, mut check: impl FnMut(Outcome, bool, &str)) {
    let upstream = Upstream::start();
    for tls in [Version::Tls12, Version::Tls13] {
        for kind in [Kind::Full, Kind::Ticket] {
            let records = upstream.records(tls, kind);
            // A ticket of the connection just before is not offered on the first: one more is made.
            let primings = usize::from((tls, kind) == (Version::Tls13, Kind::Ticket));
            // All at once: each waits for a restart that does not come.
            let start = |record| {
                let relay = upstream.breaking(discovery(tls) + primings + 1, record, fault);
                let running = upstream.measure(&relay, tls, kind).start();
                (relay, running)
            };
            let started: Vec<_> = (0..records).map(start).collect();
            for (record, (_relay, running)) in started.into_iter().enumerate() {
                let case = format!("{fault:?}: record {record} of {kind} under {tls}");
                check(running.finish(), record + 1 == records, &case);
            }
        }
    }
}

/// One sample, then five failures in a row, and a sixth when a restart would be over: the target has died.
#[track_caller]
fn assert_died(outcome: Outcome, case: &str) {
    assert_eq!(outcome.code, 3, "{case}: {}", outcome.stderr);
    let document = outcome.document();
    let failed = document.runs[0].failed;
    assert_eq!((document.samples.len(), document.runs[0].n, document.all_connections.failed), (1, 1, failed), "{case}");
    // Where five take as long as a restart, on a busy machine, there is no sixth.
    assert!((5..=6).contains(&failed), "{case}: {failed} failed");
    assert!(document.interrupted && !document.failures.is_empty(), "{case}");
    outcome.shows(&[&format!("{failed} of {}", failed + 1), "Incomplete"]);
}

#[test]
fn an_end_in_place_of_any_record_but_the_last_is_a_failure() {
    reprise_servers::require!("nginx");
    for fault in [RelayFault::Close, RelayFault::Reset] {
        break_each_record(fault, |outcome, is_last, case| {
            if is_last {
                // Many servers spare the close_notify, and the response is whole without it.
                assert_eq!(outcome.code, 0, "{case}: {}", outcome.stderr);
            } else {
                assert_died(outcome, case);
            }
        });
    }
}

#[test]
fn half_a_record_is_a_failure() {
    reprise_servers::require!("nginx");
    break_each_record(RelayFault::Truncate, |outcome, _, case| assert_died(outcome, case));
}

#[test]
fn a_flipped_bit_anywhere_is_a_failure() {
    reprise_servers::require!("nginx");
    // A handshake message's type, something in it, something further on: multiples of four, so that in a ServerHelloDone,
    // which is nothing but a type and a length, each is the type.
    for byte in [0, 16, 44] {
        break_each_record(RelayFault::Flip(byte), |outcome, _, case| assert_died(outcome, case));
    }
}

#[test]
fn a_close_notify_instead_of_an_answer_is_no_refusal() {
    let close_notify = vec![21, 3, 3, 0, 2, 1, 0];
    let server =
        MisbehavingServer::start(vec![ScriptStep::ReadRecord, ScriptStep::Send(close_notify), ScriptStep::Close]).unwrap();
    let outcome = Reprise::measure(server.address()).arg("--insecure").count(1).run().exits(3);
    let said = outcome.says(&["closed the connection with a close_notify in the middle of the handshake"]).stderr;
    assert!(!said.contains("refused"), "{said}");
}

#[test]
fn records_that_arrive_byte_by_byte_are_whole() {
    reprise_servers::require!("nginx");
    let upstream = Upstream::start();
    for tls in [Version::Tls12, Version::Tls13] {
        for record in 0..upstream.records(tls, Kind::Full) {
            let relay = upstream.breaking(0, record, RelayFault::Split);
            let outcome = upstream.lab.measure(relay.address()).args(["--tls", tls.number()]).count(2).run();
            assert_eq!(outcome.code, 0, "record {record} under {tls}: {}", outcome.stderr);
        }
    }
}

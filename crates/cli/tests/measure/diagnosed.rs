//! `reprise diagnose` as a user meets it: targets that are down, that stop to answer, that hang; limits; Ctrl-C; wrong flags.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use reprise_lab::Resumption;
use reprise_trace::document::{Confidence, DiagnoseDocument, Diagnosis, Severity};

use crate::harness::{Lab, Outcome, Reprise};

fn only(outcome: &Outcome) -> Diagnosis {
    let mut document: DiagnoseDocument = outcome.json();
    assert_eq!(document.targets.len(), 1);
    document.targets.pop().unwrap()
}

fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Who would have a connection go on.
#[derive(Clone, Copy)]
enum Toll {
    /// The first so many connections.
    First(usize),
    /// Those whose first flight is no longer than this: one with a session is longer.
    HelloUpTo(usize),
}

/// Hands connections on to `server`, and resets (or, with `silent`, keeps waiting) those that the toll does not let pass.
fn gate(server: SocketAddr, toll: Toll, silent: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (count, client) in listener.incoming().enumerate() {
            let Ok(client) = client else { return };
            thread::spawn(move || pass(client, server, toll, silent, count));
        }
    });
    address
}

fn pass(mut client: TcpStream, server: SocketAddr, toll: Toll, silent: bool, count: usize) {
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut first = [0; 16 * 1024];
    let Ok(length) = client.read(&mut first) else { return };
    let passes = match toll {
        Toll::First(most) => count < most,
        Toll::HelloUpTo(most) => length <= most,
    };
    if !passes {
        if silent {
            thread::sleep(Duration::from_secs(20));
        }
        // An alert: handshake_failure.
        let _ = client.write_all(&[21, 3, 3, 0, 2, 2, 40]);
        return;
    }
    let Ok(mut behind) = TcpStream::connect(server) else { return };
    let _ = behind.write_all(&first[..length]);
    let (mut from, mut to) = (client.try_clone().unwrap(), behind.try_clone().unwrap());
    let forth = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut behind, &mut client);
    let _ = client.shutdown(Shutdown::Write);
    let _ = forth.join();
}

#[test]
fn a_target_that_is_down_is_one_row_of_the_answer() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let down = closed_port();
    let outcome = lab.diagnose(down).arg(server.address().to_string()).args(["--rate", "1000"]).run().exits(0);
    let document: DiagnoseDocument = outcome.json();
    let reached: Vec<bool> = document.targets.iter().map(|target| target.reached).collect();
    assert_eq!(reached, [false, true]);
    assert_eq!(document.targets[0].failure.as_ref().unwrap().name, "connection_refused");
    assert!(document.targets[0].findings.is_empty());
    outcome.shows(&["not reached", "connection refused"]);
    assert_eq!(lab.diagnose(down).arg(closed_port().to_string()).run().code, 3, "all failed");
}

#[test]
fn a_server_that_blocks_is_said_and_not_diagnosed() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let outcome = lab.diagnose(gate(server.address(), Toll::First(20), false)).args(["--rate", "1000"]).run().exits(0);
    let diagnosis = only(&outcome);
    assert!(diagnosis.warnings.iter().any(|it| it.contains("may block who makes too many")), "{diagnosis:?}");
    assert!(diagnosis.findings.iter().all(|it| it.severity == Severity::Note), "{:?}", diagnosis.findings);
    assert!(diagnosis.connections < 40, "{}", diagnosis.connections);
}

/// Told from a dead target, with the offer that does it.
#[test]
fn an_offer_that_breaks_the_connection_is_certain_and_exit_1() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let gated = gate(server.address(), Toll::HelloUpTo(HELLO), false);
    let outcome = lab.diagnose(gated).args(["--tls", "1.3", "--rate", "1000"]).run().exits(1);
    let diagnosis = only(&outcome);
    let finding = diagnosis.findings.first().unwrap();
    assert_eq!(finding.id, "offer-breaks-connection", "{diagnosis:?}");
    assert_eq!((finding.severity, finding.confidence), (Severity::Fault, Confidence::Certain));
    assert!(finding.title.contains("TLS 1.3 by ticket") && finding.title.contains("handshake_failure"), "{}", finding.title);
    assert!(finding.evidence[0].contains("that offered none completed"), "{:?}", finding.evidence);
}

#[test]
fn an_offer_that_hangs_does_not_hold_up_the_diagnosis() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let gated = gate(server.address(), Toll::HelloUpTo(HELLO), true);
    let call = lab.diagnose(gated).args(["--tls", "1.3", "--rate", "1000"]).timeout("1s");
    let diagnosis = only(&call.run().exits(0));
    let finding = diagnosis.findings.first().unwrap();
    assert_eq!((finding.id.as_str(), finding.severity), ("offer-breaks-connection", Severity::Fault), "{diagnosis:?}");
    assert!(finding.title.ends_with("timeout"), "{}", finding.title);
}

/// Longer than a ClientHello without a session, shorter than one with.
const HELLO: usize = 300;

#[test]
fn limits_are_kept_and_said() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let outcome = lab.diagnose(server.address()).args(["--connections", "20", "--rate", "1000"]).run().exits(0);
    let diagnosis = only(&outcome);
    assert!(diagnosis.connections <= 20, "{}", diagnosis.connections);
    assert!(diagnosis.warnings.iter().any(|it| it.contains("20 connections")), "{:?}", diagnosis.warnings);
    outcome.says(&["at most 20 connections to each target"]);
}

#[test]
fn software_is_what_the_server_reveals_or_what_is_said() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Off);
    let remedies = |arguments: &[&str]| {
        let outcome = lab.diagnose(server.address()).args(["--rate", "1000"]).args(arguments).run().exits(0);
        let finding = only(&outcome).findings.into_iter().find(|it| it.id == "not-offered").unwrap();
        finding.remedies.into_iter().filter_map(|it| it.software).collect::<Vec<_>>()
    };
    let all = remedies(&[]);
    assert!(["nginx", "Apache", "HAProxy"].iter().all(|name| all.iter().any(|it| it == name)), "{all:?}");
    let nginx = remedies(&["--server-software", "nginx/1.29"]);
    assert!(!nginx.is_empty() && nginx.iter().all(|it| it == "nginx"), "{nginx:?}");
}

#[test]
fn targets_may_come_from_a_file() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let file = lab.file("targets", format!("# ours\n{}\n\n{} # again\n", server.address(), server.address()));
    let call = Reprise::new(["diagnose", "--targets-from"]).arg(&file).arg("--ca").arg(lab.ca());
    call.args(["--rate", "1000"]).run().exits(0).shows(&["It resumes", "connections in"]);
    let wrong = lab.file("wrong", "fine.example\nhttp://not.tls\n");
    Reprise::new(["diagnose", "--targets-from"]).arg(wrong).run().exits(2).says(&["line 2"]);
    Reprise::new(["diagnose"]).run().exits(2).says(&["nothing to diagnose"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_seen() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let running = lab.diagnose(server.address()).args(["--rate", "20"]).start();
    crate::harness::wait_until("connections", || server.completed() > 12);
    running.interrupt();
    let outcome = running.finish().exits(130);
    let diagnosis = only(&outcome);
    assert!(diagnosis.reached && diagnosis.connections > 12 && diagnosis.connections < 150, "{diagnosis:?}");
    assert!(!diagnosis.experiments.is_empty());
}

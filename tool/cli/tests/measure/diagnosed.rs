//! `reprise diagnose` as a user meets it: targets that are down, that stop to answer, that hang; limits; wrong flags. Ctrl-C is in `outputs`.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

use reprise_lab::EmbeddedResumption;
use reprise_model::document::{DiagnoseDocument, Diagnosis, Severity};
use reprise_model::{Kind, Version};
use reprise_servers::{MiddleboxRefusal, start_inspector};

use reprise_harness::{Lab, Outcome, Reprise};

fn only(outcome: &Outcome) -> Diagnosis {
    let mut document: DiagnoseDocument = outcome.json();
    assert_eq!(document.targets.len(), 1);
    document.targets.pop().unwrap()
}

fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_target_that_is_down_is_one_row_of_the_answer() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
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
    let server = lab.server(EmbeddedResumption::Ticket);
    let connections = AtomicU32::new(0);
    let blocks = move |_: &[u8]| (connections.fetch_add(1, Ordering::Relaxed) >= 20).then_some(HANDSHAKE_FAILURE);
    let blocking = start_inspector(server.address(), blocks).unwrap();
    let outcome = lab.diagnose(blocking.address()).args(["--rate", "1000"]).run().exits(3);
    let diagnosis = only(&outcome);
    assert!(diagnosis.incomplete && diagnosis.verdict.starts_with("Incomplete"), "{}", diagnosis.verdict);
    assert!(diagnosis.warnings.iter().any(|it| it.contains("may limit the rate")), "{diagnosis:?}");
    assert!(diagnosis.findings.iter().all(|it| it.severity == Severity::Note), "{:?}", diagnosis.findings);
    assert!(diagnosis.connections < 40, "{}", diagnosis.connections);
}

/// What each software makes of such offers is in `diagnose`.
#[test]
fn an_offer_that_hangs_does_not_hold_up_the_diagnosis() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let silent =
        start_inspector(server.address(), |hello| offers_a_session(hello).then_some(MiddleboxRefusal::Silence)).unwrap();
    let call = lab.diagnose(silent.address()).args(["--tls", "1.3", "--rate", "1000"]).timeout("1s");
    let diagnosis = only(&call.run().exits(1));
    let finding = diagnosis.findings.first().unwrap();
    assert_eq!(finding.id, "offer-breaks-connection", "{diagnosis:?}");
    assert!(finding.fails_a_diagnosis(), "{diagnosis:?}");
    assert!(finding.title.ends_with("timeout"), "{}", finding.title);
}

#[test]
fn offers_that_die_are_a_fault_of_a_measurement() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let closing =
        start_inspector(server.address(), |hello| offers_a_session(hello).then_some(MiddleboxRefusal::Close)).unwrap();
    let outcome = lab.measure(closing.address()).flags("--tls 1.3 --groups x25519").count(5).run().exits(1);
    let document = outcome.document();
    let finding = document.findings.first().unwrap();
    assert_eq!(finding.id, "offer-breaks-connection", "{:?}", document.findings);
    assert!(finding.evidence[0].starts_with("5 of 5 connections that offered a session failed"), "{:?}", finding.evidence);
    assert_eq!(document.run(Version::Tls13, Kind::Ticket).map(|run| (run.n, run.failed)), Some((0, 5)));
}

/// One with a ticket is longer than this, and one without it shorter.
fn offers_a_session(hello: &[u8]) -> bool {
    hello.len() > 300
}

const HANDSHAKE_FAILURE: MiddleboxRefusal = MiddleboxRefusal::Alert(40);

#[test]
fn limits_are_kept_and_said() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let outcome = lab.diagnose(server.address()).args(["--connections", "20", "--rate", "1000"]).run().exits(0);
    let diagnosis = only(&outcome);
    assert!(diagnosis.connections <= 20, "{}", diagnosis.connections);
    assert!(diagnosis.warnings.iter().any(|it| it.contains("20 connections")), "{:?}", diagnosis.warnings);
    outcome.says(&["at most 20 connections per target"]);
}

#[test]
fn software_is_what_the_server_reveals_or_what_is_said() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let remedies = |arguments: &[&str]| {
        let outcome = lab.diagnose(server.address()).args(["--rate", "1000"]).args(arguments).run().exits(1);
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
    let server = lab.server(EmbeddedResumption::Ticket);
    let file = lab.file("targets", format!("# ours\n{}\n\n{} # again\n", server.address(), server.address()));
    let call = Reprise::new(["diagnose", "--targets-from"]).arg(&file).arg("--ca").arg(lab.ca());
    call.args(["--rate", "1000"]).run().exits(0).shows(&["It resumes", "connections in"]);
    let wrong = lab.file("wrong", "fine.example\nhttp://not.tls\n");
    Reprise::new(["diagnose", "--targets-from"]).arg(wrong).run().exits(2).says(&["line 2"]);
    Reprise::new(["diagnose"]).run().exits(2).says(&["no target: name one"]);
}

/// The exit code and JUnit say the same.
#[test]
fn a_fault_and_a_condition_that_is_met_are_bad_answers() {
    let lab = Lab::new();
    let [resumes, refuses] = [EmbeddedResumption::Ticket, EmbeddedResumption::Off].map(|resumption| lab.server(resumption));
    let [resumes, refuses] = [&resumes, &refuses].map(|server| server.address().to_string());
    let down = closed_port().to_string();
    // With how many failures and errors JUnit has: a target that is down is an error of its own.
    type Case<'a> = (&'a [&'a str], &'a str, i32, &'a str, [u32; 2]);
    let cases: &[Case<'_>] = &[
        (&[&resumes], "", 0, "", [0, 0]),
        (&[&refuses], "", 1, "[not-offered]", [1, 0]),
        (&[&resumes, &down], "", 0, "", [0, 1]),
        (&[&refuses, &down], "", 1, "[not-offered]", [1, 1]),
        (&[&down, &down], "", 3, "connection refused", [0, 2]),
        (&[&resumes], "findings.fault", 0, "", [0, 0]),
        (&[&resumes], "findings.note", 1, "--fail-if 'findings.note' is met", [1, 0]),
        (&[&resumes], "finding.early-data-off", 1, "early-data-off (note)", [1, 0]),
        (&[&resumes], "kinds.ticket < 100%", 0, "", [0, 0]),
        (&[&resumes], "1.3.kinds.ticket == 100%", 1, "1.3 ticket kinds is 100", [1, 0]),
        (&[&resumes, &down], "findings.fault", 1, "cannot be evaluated", [0, 2]),
        (&[&refuses], "kinds.ticket < 100%", 1, "1.3 ticket kinds is 0.0 %, nothing was given to offer", [2, 0]),
    ];
    for (targets, condition, code, why, [failures, errors]) in cases {
        let junit = lab.file("junit.xml", "");
        let mut call = Reprise::new(["diagnose", "--rate", "1000", "--ca"]).arg(lab.ca()).arg("--junit").arg(&junit);
        if !condition.is_empty() {
            call = call.args(["--fail-if", condition]);
        }
        call.args(*targets).run().exits(*code).says(&[why]);
        let junit = std::fs::read_to_string(junit).unwrap();
        let counts = format!("failures=\"{failures}\" errors=\"{errors}\">\n    <testsuite ");
        assert!(junit.contains(&counts), "{targets:?} {condition}: {junit}");
    }
    for (condition, why) in [
        ("1.2.tls > 1ms", "or a figure (kinds, findings, isolation, fleet, answers)"),
        ("kinds.early < 1n", "by id and by ticket"),
    ] {
        Reprise::new(["diagnose", &resumes, "--fail-if", condition]).run().exits(2).says(&[why]);
    }
}

#[test]
fn a_target_that_dies_half_way_is_no_success() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let running = lab.diagnose(server.address()).args(["--rate", "200"]).start();
    reprise_harness::wait_until("connections", || server.completed() > 20);
    drop(server);
    let outcome = running.finish().exits(3).says(&["connection refused"]).shows(&["Incomplete", "connection refused"]);
    assert!(!outcome.page.contains("It resumes"), "{}", outcome.page);
    let diagnosis = only(&outcome);
    assert!(diagnosis.incomplete && diagnosis.reached && diagnosis.connections > 20, "{diagnosis:?}");
    assert!(diagnosis.findings.iter().all(|it| !it.fails_a_diagnosis()), "{:?}", diagnosis.findings);
}

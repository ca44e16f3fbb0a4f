//! `--starttls` against real servers: the kinds that are observed are what the server says, or what its configuration
//! must lead to.

use std::collections::HashMap;

use reprise_lab::KeyKind;
use reprise_lab::servers::{Connected, Dovecot, Exim, EximConfig, LoginProcesses, MailAccess, Postgres, RealServer};
use reprise_trace::document::{MeasureDocument, Run};
use reprise_trace::{Kind, Phase, Version};

use crate::harness::{Lab, Outcome, wait_until};

const COUNT: u32 = 4;

/// What Dovecot serves, and how many round trips lie before the first byte that is said under TLS 1.3: the greeting, the
/// answer to STARTTLS or STLS, and the handshake.
const MAIL: [(MailAccess, &str, u64); 2] = [(MailAccess::Imap, "imap", 3), (MailAccess::Pop3, "pop3", 3)];

fn measure(lab: &Lab, address: std::net::SocketAddr, protocol: &str) -> Outcome {
    lab.measure(address).args(["--starttls", protocol]).count(COUNT).run().exits(0)
}

/// Every phase of a run is there, in the clear and under TLS.
#[track_caller]
fn assert_phases(run: &Run) {
    for phase in [Phase::Connect, Phase::Starttls, Phase::Tls, Phase::Wait, Phase::Receive, Phase::Total] {
        assert!(run.phases.contains_key(&phase), "{phase} in {:?}", run.asked);
    }
    assert!(!run.phases.contains_key(&Phase::Proxy));
}

/// Every sample is a connection that the server knows of, under the same version.
#[track_caller]
fn assert_known(document: &MeasureDocument, connected: impl Fn() -> Vec<Connected>) {
    let all = document.all_connections;
    let made = usize::try_from(all.full + all.id + all.ticket).unwrap();
    wait_until("the server's log", || connected().len() >= made);
    let connected = connected();
    assert_eq!((connected.len(), all.failed), (made, 0));
    let by_port: HashMap<u16, String> = connected.into_iter().map(|one| (one.client_port, one.version)).collect();
    for sample in &document.samples {
        let version = if sample.asked.tls == Version::Tls12 { "TLSv1.2" } else { "TLSv1.3" };
        assert_eq!(by_port.get(&sample.local_port).map(String::as_str), Some(version), "{sample:?}");
    }
}

#[test]
fn an_smtp_server_that_resumes_for_everyone() {
    reprise_lab::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap();
    let outcome = measure(&lab, server.address(), "smtp").shows(&["smtp://127.0.0.1", "starttls"]);
    crate::harness::assert_account_for(&mut server, &outcome.document(), "exim with tls_resumption_hosts");
    for tls in [Version::Tls12, Version::Tls13] {
        let ticket = outcome.measured(tls, Kind::Ticket);
        assert_eq!(ticket.n, u64::from(COUNT), "{tls}");
        assert_phases(&ticket);
    }
    // The greeting, EHLO and STARTTLS are a round trip each; the handshake of TLS 1.3 is one more.
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(4));
    assert_eq!(outcome.document().target.starttls.as_deref(), Some("smtp"));
    assert_eq!(outcome.document().target.path, None);
}

#[test]
fn an_smtp_server_that_resumes_for_nobody() {
    reprise_lab::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig::new(lab.identity(KeyKind::Rsa2048))).unwrap();
    let outcome = measure(&lab, server.address(), "smtp");
    crate::harness::assert_account_for(&mut server, &outcome.document(), "exim without tls_resumption_hosts");
    assert_eq!(outcome.document().all_connections.ticket + outcome.document().all_connections.id, 0);
    outcome.shows(&["offers no resumption", "tls_resumption_hosts"]);
}

#[test]
fn a_mail_server_whose_processes_share_their_keys() {
    reprise_lab::require!("dovecot");
    for (access, protocol, round_trips) in MAIL {
        let lab = Lab::new();
        let server = Dovecot::start(&lab.identity(KeyKind::P256), access, LoginProcesses::Shared).unwrap();
        let outcome = measure(&lab, server.address(), protocol);
        assert_known(&outcome.document(), || server.connected().unwrap());
        for tls in [Version::Tls12, Version::Tls13] {
            let ticket = outcome.measured(tls, Kind::Ticket);
            assert_eq!(ticket.n, u64::from(COUNT), "{protocol} {tls}");
            assert_phases(&ticket);
        }
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(round_trips), "{protocol}");
    }
}

/// Dovecot's default: a process for each connection, whose keys go with it.
#[test]
fn a_mail_server_with_a_process_for_each_connection_never_resumes() {
    reprise_lab::require!("dovecot");
    for (access, protocol, _) in MAIL {
        let lab = Lab::new();
        let server = Dovecot::start(&lab.identity(KeyKind::P256), access, LoginProcesses::OneEach).unwrap();
        let outcome = measure(&lab, server.address(), protocol);
        assert_known(&outcome.document(), || server.connected().unwrap());
        for tls in [Version::Tls12, Version::Tls13] {
            let run = outcome.measured(tls, Kind::Ticket);
            assert_eq!((run.n, run.observed.kinds.of(Kind::Full)), (0, u64::from(COUNT)), "{protocol} {tls}");
        }
        outcome.shows(&["tickets arrive and are never accepted", "service_count = 0"]);
    }
}

/// PostgreSQL switches tickets and cache off by itself.
#[test]
fn a_database_that_keeps_no_sessions() {
    reprise_lab::require!("postgres");
    let lab = Lab::new();
    let server = Postgres::start(Some(&lab.identity(KeyKind::P256))).unwrap();
    // Before version 18 it accepts key shares of P-256 alone.
    let call = lab.measure(server.address()).args(["--starttls", "postgres", "--groups", "secp256r1"]);
    let outcome = call.count(COUNT).run().exits(0);
    assert_known(&outcome.document(), || server.connected().unwrap());
    for tls in [Version::Tls12, Version::Tls13] {
        let full = outcome.measured(tls, Kind::Full);
        assert_eq!(
            (full.n, full.observed.tickets_given, full.observed.session_ids_given),
            (u64::from(COUNT), 0, 0),
            "{tls}"
        );
        assert_phases(&full);
    }
    assert_eq!(outcome.document().runs.len(), 2);
    // SSLRequest is one round trip, the handshake another.
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(2));
    outcome.shows(&["TLS 1.3 offers no resumption", "PostgreSQL"]);
}

#[test]
fn a_database_without_tls_says_so() {
    reprise_lab::require!("postgres");
    let lab = Lab::new();
    let server = Postgres::start(None).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "postgres"]).run().exits(3);
    outcome.says(&["the server refuses TLS: it answers SSLRequest with N", "ssl = on"]);
}

#[test]
fn an_smtp_server_without_tls_says_so() {
    reprise_lab::require!("exim4");
    let lab = Lab::new();
    let config = EximConfig { offers_tls: false, ..EximConfig::new(lab.identity(KeyKind::P256)) };
    let server = Exim::start(config).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "smtp"]).run().exits(3);
    outcome.says(&["the server does not offer STARTTLS", "587"]);
}

/// `--no-request` waits for tickets under these protocols too.
#[test]
fn tickets_are_awaited_without_a_question() {
    reprise_lab::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap();
    let call = lab.measure(server.address()).args(["--starttls", "smtp", "--no-request", "--tls", "1.3"]);
    let outcome = call.count(2).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, 2);
    let all = outcome.document().all_connections;
    let accounts = server.accounts_when(usize::try_from(all.full + all.ticket).unwrap(), crate::harness::DEADLINE).unwrap();
    assert_eq!(accounts.iter().filter(|account| account.resumed).count() as u64, all.ticket);
}

//! SMTP by Exim, IMAP and POP3 by Dovecot.

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{Dovecot, Exim, EximConfig, LoginProcesses, MailAccess, PartialWitness, RealServer};

use super::{COUNT, VERSIONS, assert_known, assert_phases, measure};
use reprise_harness::{DEADLINE, Lab, assert_account_for};

/// What Dovecot serves, and how many round trips lie before the first byte that is said under TLS 1.3: the greeting, the
/// answer to STARTTLS or STLS, and the handshake.
const MAIL: [(MailAccess, &str, u64); 2] = [(MailAccess::Imap, "imap", 3), (MailAccess::Pop3, "pop3", 3)];

#[test]
fn an_smtp_server_that_resumes_for_everyone() {
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap();
    let outcome = measure(&lab, server.address(), "smtp").shows(&["smtp://127.0.0.1", "starttls"]);
    assert_account_for(&mut server, &outcome.document(), "exim with tls_resumption_hosts");
    for tls in VERSIONS {
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
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig::new(lab.identity(KeyKind::Rsa2048))).unwrap();
    let outcome = measure(&lab, server.address(), "smtp");
    assert_account_for(&mut server, &outcome.document(), "exim without tls_resumption_hosts");
    assert_eq!(outcome.document().all_connections.ticket + outcome.document().all_connections.id, 0);
    outcome.shows(&["offers no resumption", "tls_resumption_hosts"]);
}

#[test]
fn a_mail_server_whose_processes_share_their_keys() {
    reprise_servers::require!("dovecot");
    for (access, protocol, round_trips) in MAIL {
        let lab = Lab::new();
        let server = Dovecot::start(&lab.identity(KeyKind::P256), access, LoginProcesses::Shared).unwrap();
        let outcome = measure(&lab, server.address(), protocol);
        assert_known(&outcome.document(), &server);
        for tls in VERSIONS {
            let ticket = outcome.measured(tls, Kind::Ticket);
            assert_eq!(ticket.n, u64::from(COUNT), "{protocol} {tls}");
            assert_phases(&ticket);
        }
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(round_trips), "{protocol}");
    }
}

/// Dovecot's default: a process for each connection, whose keys go with it.
#[test]
fn mail_servers_with_a_process_a_connection_never_resume() {
    reprise_servers::require!("dovecot");
    for (access, protocol, _) in MAIL {
        let lab = Lab::new();
        let server = Dovecot::start(&lab.identity(KeyKind::P256), access, LoginProcesses::OneEach).unwrap();
        let outcome = measure(&lab, server.address(), protocol);
        assert_known(&outcome.document(), &server);
        for tls in VERSIONS {
            let run = outcome.measured(tls, Kind::Ticket);
            assert_eq!((run.n, run.observed.kinds.of(Kind::Full)), (0, u64::from(COUNT)), "{protocol} {tls}");
        }
        outcome.shows(&["tickets arrive and are never accepted", "service_count = 0"]);
    }
}

#[test]
fn an_smtp_server_without_tls_says_so() {
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    let config = EximConfig { offers_tls: false, ..EximConfig::new(lab.identity(KeyKind::P256)) };
    let server = Exim::start(config).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "smtp"]).run().exits(3);
    outcome.says(&["the server does not offer STARTTLS", "587"]);
}

/// `--no-request` waits for tickets under these protocols too.
#[test]
fn tickets_are_awaited_without_a_question() {
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    let mut server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(lab.identity(KeyKind::P256)) }).unwrap();
    let call = lab.measure(server.address()).args(["--starttls", "smtp", "--no-request", "--tls", "1.3"]);
    let outcome = call.count(2).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, 2);
    let all = outcome.document().all_connections;
    let accounts = server.accounts_when(usize::try_from(all.full + all.ticket).unwrap(), DEADLINE).unwrap();
    assert_eq!(accounts.iter().filter(|account| account.resumed).count() as u64, all.ticket);
}

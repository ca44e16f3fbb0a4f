//! FTP by ProFTPD.

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{FtpSessionCache, ProFtpd, ProFtpdConfig, RealServer};

use super::{COUNT, VERSIONS, assert_phases, measure};
use reprise_harness::{Lab, Outcome, assert_account_for};

/// Measures a ProFTPD that is told so, and holds the outcome against its account.
fn measured(key: KeyKind, session_tickets: Option<bool>, session_cache: FtpSessionCache) -> Outcome {
    let lab = Lab::new();
    let config = ProFtpdConfig { session_tickets, session_cache, ..ProFtpdConfig::new(lab.identity(key)) };
    let mut server = ProFtpd::start(config).unwrap();
    let outcome = measure(&lab, server.address(), "ftp").shows(&["ftp://127.0.0.1"]);
    assert_account_for(&mut server, &outcome.document(), &format!("tickets {session_tickets:?}, cache {session_cache:?}"));
    outcome
}

/// Its processes share the ticket keys of the one that they are copies of, whatever TLSSessionTickets says.
#[test]
fn an_ftp_server_resumes_by_ticket_even_if_told_not_to() {
    reprise_servers::require!("proftpd");
    let outcome = measured(KeyKind::P256, Some(false), FtpSessionCache::Off);
    for tls in VERSIONS {
        let ticket = outcome.measured(tls, Kind::Ticket);
        assert_eq!(ticket.n, u64::from(COUNT), "{tls}");
        assert_phases(&ticket);
    }
    // The greeting and AUTH are a round trip each; the handshake of TLS 1.3 is one more.
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(3));
    assert!(outcome.document().run(Version::Tls12, Kind::Id).is_none());
}

/// It takes back none of the IDs that it gives, from OpenSSL's client neither.
#[test]
fn an_ftp_server_gives_useless_ids() {
    reprise_servers::require!("proftpd");
    for (key, cache) in [(KeyKind::P256, FtpSessionCache::OneEach), (KeyKind::Rsa2048, FtpSessionCache::Shared)] {
        let outcome = measured(key, None, cache);
        let id = outcome.measured(Version::Tls12, Kind::Id);
        assert_eq!((id.n, id.observed.kinds.of(Kind::Full)), (0, u64::from(COUNT)), "{cache:?}");
        assert_eq!(outcome.measured(Version::Tls12, Kind::Ticket).n, u64::from(COUNT), "{cache:?}");
        outcome.shows(&["TLS 1.2 session IDs are given and never accepted", "ProFTPD"]);
    }
}

#[test]
fn an_ftp_server_without_tls_says_so() {
    reprise_servers::require!("proftpd");
    let lab = Lab::new();
    let config = ProFtpdConfig { speaks_tls: false, ..ProFtpdConfig::new(lab.identity(KeyKind::P256)) };
    let server = ProFtpd::start(config).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "ftp"]).run().exits(3);
    outcome.says(&["the server refuses AUTH TLS: \"500 AUTH not understood\""]);
}

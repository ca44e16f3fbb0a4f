//! XMPP by Prosody.

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{PartialWitness, Prosody, ProsodyConfig};

use super::bystander::Bystander;
use super::{COUNT, VERSIONS, assert_known, assert_phases, measure};
use reprise_harness::Lab;

/// Prosody's default is `no_ticket`, and LuaSec keeps no cache: under TLS 1.3 OpenSSL still gives tickets, of no use.
#[test]
fn a_server_that_is_told_nothing_never_resumes() {
    reprise_servers::require!("prosody", "openssl");
    let lab = Lab::new();
    let server = Prosody::start(ProsodyConfig::new(lab.identity(KeyKind::P256))).unwrap();
    let outcome = measure(&lab, server.address(), "xmpp");
    assert_known(&outcome.document(), &server);
    assert!(outcome.document().run(Version::Tls12, Kind::Ticket).is_none());
    let refused = outcome.measured(Version::Tls13, Kind::Ticket);
    assert_eq!((refused.n, refused.observed.kinds.of(Kind::Full)), (0, u64::from(COUNT)));
    for tls in VERSIONS {
        assert_phases(&outcome.measured(tls, Kind::Full));
        assert!(!Bystander::of_xmpp(server.address()).resumes(tls), "{tls}");
    }
    // The stream and starttls are a round trip each, the handshake another.
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(3));
    outcome.shows(&["TLS 1.3 tickets arrive and are never accepted", "no_ticket = false"]);
}

#[test]
fn a_server_with_tickets_resumes() {
    reprise_servers::require!("prosody", "openssl");
    for key in [KeyKind::P256, KeyKind::Rsa2048] {
        let lab = Lab::new();
        let config = ProsodyConfig { session_tickets: true, ..ProsodyConfig::new(lab.identity(key)) };
        let server = Prosody::start(config).unwrap();
        let outcome = measure(&lab, server.address(), "xmpp");
        assert_known(&outcome.document(), &server);
        for tls in VERSIONS {
            assert_eq!(outcome.measured(tls, Kind::Ticket).n, u64::from(COUNT), "{tls}");
            assert!(Bystander::of_xmpp(server.address()).resumes(tls), "{tls}");
        }
    }
}

#[test]
fn a_server_without_tls_says_so() {
    reprise_servers::require!("prosody");
    let lab = Lab::new();
    let config = ProsodyConfig { offers_tls: false, ..ProsodyConfig::new(lab.identity(KeyKind::P256)) };
    let server = Prosody::start(config).unwrap();
    let outcome = lab.measure(server.address()).args(["--starttls", "xmpp"]).run().exits(3);
    // With nothing to offer, it says why it ends the stream.
    let outcome =
        outcome.says(&["the server ends the stream: \"undefined-condition\", \"No stream features to proceed with\""]);
    assert!(!outcome.stderr.contains("it serves host names"), "{}", outcome.stderr);
}

#[test]
fn a_host_that_is_not_served() {
    reprise_servers::require!("prosody");
    let lab = Lab::new();
    let server = Prosody::start(ProsodyConfig::new(lab.identity(KeyKind::P256))).unwrap();
    let target = format!("localhost:{}", server.address().port());
    let outcome = lab.measure(target).args(["--starttls", "xmpp", "--resolve", "127.0.0.1"]).run().exits(3);
    outcome.says(&["the server ends the stream: \"host-unknown\", \"This server does not serve localhost\"", "--resolve"]);
}

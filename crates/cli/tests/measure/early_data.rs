//! Requests as early data: accepted, rejected and not allowed, with nginx and rustls as witnesses.

use reprise_lab::{ClientAuth, EmbeddedServer, KeyKind, Resumption, ServerApplication};
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};

use reprise_harness::{DEADLINE, Lab, Outcome, Reprise, assert_account_for, nginx_listening};

const COUNT: u32 = 6;
const ALL: u64 = COUNT as u64;

fn nginx(lab: &Lab, change: impl FnOnce(&mut NginxConfig)) -> Nginx {
    let session_cache = SessionCache::Shared("1m".to_owned());
    let mut config = NginxConfig { early_data: true, session_cache, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    change(&mut config);
    Nginx::start(config).unwrap()
}

fn rustls(lab: &Lab, max_early_data: u32) -> EmbeddedServer {
    lab.server_with(|config| {
        config.resumption = Resumption::Id;
        config.max_early_data = max_early_data;
    })
}

/// What nginx says of each sample is what we say of it. Of early data it tells where it read the request before the client's
/// Finished, which is most often; what it tells is so, and of no other connection does it tell so.
#[track_caller]
fn assert_early_agrees(server: &mut Nginx, outcome: &Outcome) {
    let document = outcome.document();
    assert_account_for(server, &document, "nginx");
    let accounts = server.accounts_when(document.samples.len(), DEADLINE).unwrap();
    for sample in &document.samples {
        let account = accounts.iter().find(|account| account.client_port == sample.local_port).unwrap();
        assert!(sample.kind == Kind::Early || account.early_data != Some(true), "{sample:?}, and {account:?}");
    }
}

#[test]
fn nginx_confirms_every_accepted_early_data() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut server = nginx(&lab, |_| {});
    let outcome = lab.measure(server.address()).count(COUNT).args(["--tls", "1.3"]).run().exits(0).silently();
    assert_early_agrees(&mut server, &outcome);
    let early = outcome.measured(Version::Tls13, Kind::Early);
    assert_eq!((early.n, early.round_trips), (ALL, Some(0)), "nothing is waited for before the request leaves");
    assert_eq!((early.observed.early_data_sent, early.observed.early_data_accepted), (ALL, ALL));
    assert_eq!(early.http_status.get(&200), Some(&ALL));
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).observed.early_data_allowed, ALL);
    outcome.shows(&[
        "[early-data-replayable, certain]",
        "With early data the request is sent before the handshake is \
        complete",
    ]);
}

#[test]
fn rustls_counts_the_very_bytes_of_the_early_request() {
    let lab = Lab::new();
    let server = rustls(&lab, 4096);
    let outcome = lab.measure(server.address()).count(COUNT).args(["--kinds", "early"]).run().exits(0);
    assert_eq!(outcome.document().runs.len(), 1, "TLS 1.3 alone");
    let early = outcome.measured(Version::Tls13, Kind::Early);
    assert_eq!((early.n, early.observed.max_early_data), (ALL, Some(4096)));
    let accounts = server.accounts();
    let of_port = |port| accounts.iter().find(|account| account.peer_port == port).unwrap();
    for sample in outcome.document().samples {
        let account = of_port(sample.local_port);
        assert!(account.resumed && account.early_data.is_some_and(|bytes| bytes > 50), "{account:?}");
        assert_eq!(account.requests, 1, "accepted once, and not sent again");
    }
}

#[test]
fn a_hello_retry_request_rejects_early_data() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut server = nginx(&lab, |config| config.server_directives = "ssl_ecdh_curve secp384r1;".to_owned());
    let outcome = lab.measure(server.address()).count(COUNT).args(["--kinds", "early"]).run().exits(1);
    assert_early_agrees(&mut server, &outcome);
    let early = outcome.measured(Version::Tls13, Kind::Early);
    assert_eq!((early.n, early.observed.kinds.of(Kind::Ticket)), (0, ALL), "the kind is what remained");
    assert_eq!((early.observed.early_data_sent, early.observed.early_data_accepted), (ALL, 0));
    assert_eq!(early.http_status.get(&200), Some(&ALL), "answered after the handshake");
    outcome.shows(&["[early-data-hrr, certain]", "Rejected on 6 of 6 connections"]);
}

#[test]
fn tickets_without_early_data_are_a_finding_not_a_failure() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut server = nginx(&lab, |config| config.early_data = false);
    let outcome =
        lab.measure(server.address()).count(COUNT).args(["--kinds", "early,ticket", "--tls", "1.3"]).run().exits(1);
    assert_early_agrees(&mut server, &outcome);
    let early = outcome.measured(Version::Tls13, Kind::Early);
    assert_eq!((early.failed, early.observed.early_data_sent, early.observed.kinds.of(Kind::Ticket)), (0, 0, ALL));
    outcome.shows(&["[early-data-off, certain]", "ssl_early_data on;"]).says(&["early under TLS 1.3 was observed in 0"]);

    let unasked = lab.measure(server.address()).count(2).args(["--tls", "1.3"]).run().exits(0).silently();
    assert!(unasked.document().run(Version::Tls13, Kind::Early).is_none(), "nobody asked, and nothing is offered");
}

#[test]
fn a_request_that_does_not_fit_waits_for_the_handshake() {
    let lab = Lab::new();
    let server = rustls(&lab, 60);
    let outcome =
        lab.measure(server.address()).count(2).args(["--kinds", "early", "-H", "X-Long: 0123456789"]).run().exits(1);
    let early = outcome.measured(Version::Tls13, Kind::Early);
    assert_eq!((early.observed.early_data_sent, early.observed.max_early_data), (0, Some(60)));
    assert!(server.accounts().iter().all(|account| account.early_data.is_none()));
}

#[test]
fn a_service_that_will_not_be_replayed_says_too_early() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let server = nginx(&lab, |config| config.server_directives = "return 425;".to_owned());
    let outcome = lab.measure(server.address()).count(COUNT).args(["--kinds", "early"]).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Early).http_status.get(&425), Some(&ALL));
    outcome.shows(&["[early-data-too-early, certain]", "Status 425 on 6 of 6 connections"]);
}

#[test]
fn an_http2_request_leaves_early_with_its_preface() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let (mut nginx, address) = nginx_listening(&lab, "ssl http2", "ssl_early_data on;");
    let call = lab.measure(address).count(3).args(["--alpn", "h2", "--kinds", "early", "--tls", "1.3"]);
    let outcome = call.run().exits(0);
    assert_account_for(&mut nginx, &outcome.document(), "h2");
    let early = outcome.measured(Version::Tls13, Kind::Early);
    assert_eq!((early.n, early.observed.alpn.as_deref(), early.http_status.get(&200)), (3, Some("h2"), Some(&3)));
}

#[test]
fn a_client_certificate_is_inherited_by_early_data_too() {
    let lab = Lab::new();
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| {
        config.resumption = Resumption::Id;
        config.max_early_data = 4096;
        config.client_auth = ClientAuth::Required(authority);
    });
    let client = lab.client("client.example");
    let call = lab.measure(server.address()).count(3).args(["--kinds", "full,early", "--tls", "1.3"]);
    let outcome = call.arg("--cert").arg(client.certificate).arg("--key").arg(client.key).run().exits(0);
    let early = outcome.measured(Version::Tls13, Kind::Early).observed;
    assert_eq!((early.early_data_accepted, early.client_certificate_requested, early.client_certificate_sent), (3, 0, 0));
    outcome.shows(&[
        "[client-authentication-inherited, certain]",
        "TLS 1.3 full: certificate requested on 3 of 3 connections, sent on 3",
        "TLS 1.3 early: certificate requested on 0 of 3 connections",
    ]);
}

#[test]
fn unanswered_early_data_is_named_and_soon_given_up() {
    let lab = Lab::new();
    let server = lab.server_with(|config| {
        config.resumption = Resumption::Id;
        config.max_early_data = 4096;
        config.application = ServerApplication::HttpAfterHandshake;
    });
    let outcome = lab.measure(server.address()).args(["--tls", "1.3"]).timeout("1s").count(8).run().exits(0);
    let document = outcome.document();
    let run = |kind| outcome.measured(Version::Tls13, kind);
    assert_eq!((run(Kind::Full).n, run(Kind::Ticket).n), (8, 8));
    assert_eq!((run(Kind::Early).n, run(Kind::Early).failed), (0, 3), "three are enough");
    assert!(document.failures.iter().all(|failure| failure.name == "early_data_unanswered"), "{:?}", document.failures);
    assert!(!document.interrupted);
    outcome.shows(&["[early-data-unanswered, likely]", "No response on 3 of 3", "answered on 16 connections"]);

    let named = lab.measure(server.address()).args(["--tls", "1.3", "--kinds", "early"]).timeout("1s").count(8).run();
    assert_eq!(named.exits(1).document().all_connections.failed, 3);
}

#[test]
fn only_what_may_be_repeated_is_sent_early() {
    let refused = |arguments: &[&str], words: &[&str]| {
        let call = Reprise::new(["measure", "127.0.0.1:1", "--insecure", "--kinds", "early"]);
        call.args(arguments).run().exits(2).says(words);
    };
    refused(&["-X", "POST"], &["POST is not sent as early data", "RFC 8470"]);
    refused(&["--no-request"], &["--no-request"]);
    refused(&["--starttls", "smtp"], &["--starttls"]);
    refused(&["--tls", "1.2"], &["the kind early requires TLS 1.3"]);

    let lab = Lab::new();
    let server = rustls(&lab, 4096);
    let outcome = lab.measure(server.address()).count(2).args(["-X", "POST", "--tls", "1.3"]).run().exits(0);
    assert!(outcome.document().run(Version::Tls13, Kind::Early).is_none(), "not by default either");
}

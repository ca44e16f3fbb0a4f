//! Requests as early data: accepted, rejected and not allowed, with nginx and rustls as witnesses.

use reprise_lab::{ClientAuthRequest, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerApplication};
use reprise_model::{Kind, Version};
use reprise_servers::{HaProxy, HaProxyConfig, Nginx, NginxConfig, RealServer, SessionCache};

use reprise_harness::{DEADLINE, Lab, Reprise, assert_account_for, nginx_listening};

/// What a saving is told of.
const COUNT: u32 = 8;
const ALL: u64 = COUNT as u64;

fn rustls(lab: &Lab, max_early_data: u32, change: impl FnOnce(&mut EmbeddedConfig)) -> EmbeddedServer {
    lab.server_with(|config| {
        (config.resumption, config.max_early_data) = (EmbeddedResumption::Id, max_early_data);
        change(config);
    })
}

/// HAProxy 2.6 answers once the client has finished, so that early data saves no round trip; nginx does not wait.
#[test]
fn early_data_that_is_answered_late_is_told() {
    reprise_servers::require!("haproxy", "nginx");
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let late = HaProxy::start(HaProxyConfig { early_data: true, ..HaProxyConfig::new(identity.clone()) }).unwrap();
    let at_once = Nginx::start(NginxConfig { early_data: true, ..NginxConfig::new(vec![identity]) }).unwrap();
    for (address, is_late) in [(late.address(), true), (at_once.address(), false)] {
        let outcome = lab.measure(address).args(["--tls", "1.3", "--kinds", "ticket,early"]).count(COUNT).run().exits(0);
        assert_eq!(outcome.measured(Version::Tls13, Kind::Early).n, ALL, "{address}");
        let found = outcome.document().findings.into_iter().find(|it| it.id == "early-data-late");
        let evidence = found.map(|it| it.evidence.concat());
        let expected = "No response came before it on 2 connections that held the Finished back".to_owned();
        assert_eq!(evidence, is_late.then_some(expected), "{address}");
    }
}

/// What becomes of early data at an nginx.
struct Case {
    early_data: bool,
    directives: &'static str,
    kinds: &'static str,
    code: i32,
    /// Of the samples of the kind `early`: observed as that, observed as resumed by ticket, sent, accepted.
    early: [u64; 4],
    status: u16,
    shows: &'static [&'static str],
}

#[test]
fn what_nginx_does_with_early_data_is_what_is_said() {
    reprise_servers::require!("nginx");
    let cases = [
        Case {
            early_data: true,
            directives: "",
            kinds: "full,ticket,early",
            code: 0,
            early: [ALL, 0, ALL, ALL],
            status: 200,
            shows: &[
                "[early-data-replayable, certain]",
                "With early data the request is sent before the handshake is complete",
            ],
        },
        // A HelloRetryRequest rejects it: the kind is what remained, and the request is answered after the handshake.
        Case {
            early_data: true,
            directives: "ssl_ecdh_curve secp384r1;",
            kinds: "early",
            code: 1,
            early: [0, ALL, ALL, 0],
            status: 200,
            shows: &["[early-data-hrr, certain]", "Rejected on 8 of 8 connections"],
        },
        Case {
            early_data: false,
            directives: "",
            kinds: "early,ticket",
            code: 1,
            early: [0, ALL, 0, 0],
            status: 200,
            shows: &["[early-data-off, certain]", "ssl_early_data on;"],
        },
        // RFC 8470: a service that will not be replayed.
        Case {
            early_data: true,
            directives: "return 425;",
            kinds: "early",
            code: 0,
            early: [ALL, 0, ALL, ALL],
            status: 425,
            shows: &["[early-data-too-early, certain]", "Status 425 on 8 of 8 connections"],
        },
    ];
    let lab = Lab::new();
    for Case { early_data, directives, kinds, code, early, status, shows } in cases {
        let config = NginxConfig {
            early_data,
            session_cache: SessionCache::Shared("1m".to_owned()),
            server_directives: directives.to_owned(),
            ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
        };
        let mut server = Nginx::start(config).unwrap();
        let call = lab.measure(server.address()).count(COUNT).args(["--tls", "1.3", "--kinds", kinds]);
        let outcome = call.run().exits(code).shows(shows);
        let document = outcome.document();
        assert_account_for(&mut server, &document, directives);
        // nginx tells of it where it read the request before the client's Finished, which is most often.
        let accounts = server.accounts_when(document.samples.len(), DEADLINE).unwrap();
        for sample in &document.samples {
            let account = accounts.iter().find(|account| account.client_port == sample.local_port).unwrap();
            assert!(sample.kind == Kind::Early || account.early_data != Some(true), "{sample:?}, and {account:?}");
        }
        let run = outcome.measured(Version::Tls13, Kind::Early);
        let observed = &run.observed;
        let [sent, accepted] = [observed.early_data_sent, observed.early_data_accepted];
        assert_eq!([run.n, observed.kinds.of(Kind::Ticket), sent, accepted], early, "{directives}");
        assert_eq!((run.failed, run.http_status.get(&status)), (0, Some(&ALL)), "{directives}");
        if code == 1 {
            outcome.says(&["early under TLS 1.3 was observed in 0"]);
        } else {
            assert_eq!(run.round_trips, Some(0), "nothing is waited for before the request leaves");
        }
    }
}

#[test]
fn rustls_counts_the_very_bytes_of_the_early_request() {
    let lab = Lab::new();
    let server = rustls(&lab, 4096, |_| {});
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
fn what_may_not_leave_early_waits_for_the_handshake() {
    let lab = Lab::new();
    let small = rustls(&lab, 60, |_| {});
    let call = lab.measure(small.address()).count(2).args(["--kinds", "early", "-H", "X-Long: 0123456789"]);
    let early = call.run().exits(1).measured(Version::Tls13, Kind::Early);
    assert_eq!((early.observed.early_data_sent, early.observed.max_early_data), (0, Some(60)));
    assert!(small.accounts().iter().all(|account| account.early_data.is_none()));

    let server = rustls(&lab, 4096, |_| {});
    let outcome = lab.measure(server.address()).count(2).args(["-X", "POST", "--tls", "1.3"]).run().exits(0);
    assert!(outcome.document().run(Version::Tls13, Kind::Early).is_none(), "not by default either");
    for (arguments, words) in [
        (&["-X", "POST"][..], &["POST is not sent as early data", "RFC 8470"][..]),
        (&["--no-request"], &["--no-request"]),
        (&["--starttls", "smtp"], &["--starttls"]),
        (&["--tls", "1.2"], &["the kind early requires TLS 1.3"]),
    ] {
        let call = Reprise::new(["measure", "127.0.0.1:1", "--insecure", "--kinds", "early"]);
        call.args(arguments).run().exits(2).says(words);
    }
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
    let server = rustls(&lab, 4096, |config| config.client_auth = ClientAuthRequest::Required(authority));
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
    let server = rustls(&lab, 4096, |config| config.application = ServerApplication::HttpAfterHandshake);
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

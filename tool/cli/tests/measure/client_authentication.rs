//! Client certificates: sent in a full handshake, not sent in a resumed one, whose authentication is inherited.

use reprise_lab::{ClientAuthRequest, KeyKind};
use reprise_model::document::Confidence;
use reprise_model::{Kind, Version};
use reprise_servers::{ClientVerify, Nginx, NginxConfig, RealServer, SessionCache};

use reprise_harness::{DEADLINE, Lab, assert_account_for};

const COUNT: u32 = 6;

#[test]
fn only_a_full_handshake_sends_the_certificate() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let client = lab.client("client.example");
    let config = NginxConfig {
        client_verify: ClientVerify::Required(lab.authority.pem()),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let mut nginx = Nginx::start(config).unwrap();
    let outcome = lab.measure(nginx.address()).arg("--cert").arg(client.certificate).arg("--key").arg(client.key);
    let outcome = outcome.count(COUNT).run().exits(0);
    assert_account_for(&mut nginx, &outcome.document(), "mTLS");

    for tls in [Version::Tls12, Version::Tls13] {
        let asked_and_sent = |kind| {
            let observed = outcome.measured(tls, kind).observed;
            (observed.client_certificate_requested, observed.client_certificate_sent)
        };
        assert_eq!(asked_and_sent(Kind::Full), (u64::from(COUNT), u64::from(COUNT)), "{tls}");
        assert_eq!(asked_and_sent(Kind::Ticket), (0, 0), "{tls}");
    }
    let accounts = nginx.accounts_when(1, DEADLINE).unwrap();
    assert!(accounts.iter().any(|account| account.resumed));
    assert!(accounts.iter().all(|account| account.client_verify.as_deref() == Some("SUCCESS")), "inherited: {accounts:?}");
    // It is a line of the page beside several risks, and else a paragraph.
    let document = outcome.shows(&["client-authentication-inherited"]).document();
    let inherited = document.findings.iter().find(|finding| finding.id == "client-authentication-inherited").unwrap();
    assert_eq!(inherited.confidence, Confidence::Certain);
}

#[test]
fn who_has_no_certificate_or_a_strangers_is_told_what_to_give() {
    let lab = Lab::new();
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| config.client_auth = ClientAuthRequest::Required(authority));
    let stranger = Lab::new().authority.client("stranger.example").unwrap().write_pem(lab.directory(), "stranger").unwrap();
    for tls in ["1.2", "1.3"] {
        let call = || lab.measure(server.address()).count(2).args(["--tls", tls]);
        call().run().exits(3).says(&["refused with the alert", "--cert FILE --key FILE"]);
        let with_strangers = call().arg("--cert").arg(&stranger.certificate).arg("--key").arg(&stranger.key);
        with_strangers.run().exits(3).says(&["refused with the alert", "client's certificate"]);
    }
}

#[test]
fn error_pages_without_a_certificate_only_ask_for_one() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let config = NginxConfig {
        client_verify: ClientVerify::Required(lab.authority.pem()),
        session_cache: SessionCache::Shared("1m".to_owned()),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let nginx = Nginx::start(config).unwrap();
    for arguments in [&[][..], &["--kinds", "full,ticket"]] {
        let document = lab.measure(nginx.address()).count(8).args(arguments).run().document();
        assert!(document.runs.iter().all(|run| run.http_status.keys().all(|status| *status == 400)), "{:?}", document.runs);
        let found: Vec<&str> = document.findings.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(found, ["client-certificate-missing", "error-responses"]);
        let advice = document.findings[0].remedy.as_ref().unwrap();
        assert!(advice.text.starts_with("Set one with --cert FILE --key FILE"), "{advice:?}");
    }
}

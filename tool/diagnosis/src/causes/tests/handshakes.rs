//! What the rules make of handshakes that cost more than they have to: a retry, a certificate.

use reprise_model::{CertificateChain, Facts, HelloRetry, Kind, PeerKey, SharedGroups, Version};

use super::super::*;
use super::{assert_tells, told};
use crate::example::Example;
use crate::savings::best_resumption;

const X25519: u16 = 0x1d;
const P384: u16 = 0x18;

fn asked_for(wanted: u16) -> impl Fn(&mut Facts) {
    move |facts| facts.hello_retry = Some(HelloRetry { shared: SharedGroups::of([X25519]), wanted: Some(wanted) })
}

/// A hundred full and a hundred resumed connections, all retried; the pair of groups as the document has it, and what a retry costs.
fn retried(shared: &str, group: &str, cost_us: Option<i64>) -> Example {
    let full = Example::new().timed_run("1.3", Kind::Full, [20_000, 43_700, 21_000]).facts(asked_for(P384));
    let both = full.timed_run("1.3", Kind::Ticket, [20_000, 42_000, 21_000]).facts(asked_for(P384));
    both.hello_retry(shared, group, cost_us)
}

#[test]
fn a_server_that_asks_for_another_group_is_told() {
    let expected: [&[&str]; 5] = [
        &[
            "Risk, Certain, cost 22400000 ns",
            "asks for secp384r1 where the client shares x25519",
            "each connection of TLS 1.3 starts again",
        ],
        &[
            "HelloRetryRequest: 100 of 100 full, 100 of 100 ticket",
            "Groups: offered x25519, secp384r1; shared x25519; chosen secp384r1",
        ],
        &[
            "\nHandshake (full) 43.7, with secp384r1 shared at once 21.3 ms (20 and 20 in turn)\nA round trip more for each, 20.00 ms here",
        ],
        &["Without it here: --groups secp384r1,x25519"],
        &["ssl_ecdh_curve X25519:prime256v1:secp384r1;", "curves X25519:P-256:P-384", "-Djdk.tls.namedGroups=x25519"],
    ];
    for (place, expected) in expected.iter().enumerate() {
        let finding = retried("x25519", "secp384r1", Some(22_400)).only(&hello_retry_request::CAUSE);
        assert_tells(&hello_retry_request::CAUSE, place, finding, expected);
    }
}

#[test]
fn a_client_that_shares_two_groups_is_as_usual() {
    let finding = retried("X25519MLKEM768 and x25519", "secp384r1", Some(22_400)).only(&hello_retry_request::CAUSE);
    let expected =
        ["Risk, Certain", "asks for secp384r1 where the client shares X25519MLKEM768 and x25519", "ssl_ecdh_curve"];
    assert_tells(&hello_retry_request::CAUSE, 0, finding, &expected);
}

#[test]
fn without_a_comparison_a_retry_costs_a_round_trip() {
    let cost = |example: Example| told(&example.only(&hello_retry_request::CAUSE).unwrap());
    let few = cost(retried("x25519", "secp384r1", None));
    assert!(
        few.contains("cost 20000000 ns") && few.contains("A round trip more for each, 20.00 ms here (connect)"),
        "{few}"
    );
    // No difference is shown.
    assert!(cost(retried("x25519", "secp384r1", Some(0))).contains("A round trip more for each"));
}

#[test]
fn a_group_that_few_clients_share_first_is_a_note() {
    for (shared, group, severity) in [
        ("x25519", "secp256r1", Severity::Risk),
        ("x25519", "X25519MLKEM768", Severity::Risk),
        ("X25519MLKEM768", "secp384r1", Severity::Risk),
        // Clients that share it share X25519 too.
        ("X25519MLKEM768", "x25519", Severity::Note),
        ("secp384r1", "x25519", Severity::Note),
    ] {
        let finding = retried(shared, group, None).only(&hello_retry_request::CAUSE).unwrap();
        assert_eq!(finding.severity, severity, "{shared} {group}");
    }
}

#[test]
fn some_retries_are_told_by_kind() {
    let resumed_alone = Example::new()
        .run("1.3", Kind::Full, 900)
        .run("1.3", Kind::Ticket, 300)
        .facts(asked_for(P384))
        .hello_retry("x25519", "secp384r1", None);
    let told = told(&resumed_alone.only(&hello_retry_request::CAUSE).unwrap());
    assert!(
        told.contains("0 of 100 full, 100 of 100 ticket") && told.contains("connections of TLS 1.3 start again"),
        "{told}"
    );
}

/// A cookie, a retry that the client provoked, and early data alone are others' business.
#[test]
fn a_retry_of_another_kind_is_no_finding() {
    let full = |retry| Example::new().run("1.3", Kind::Full, 900).facts(move |facts| facts.hello_retry = Some(retry));
    let cookie = full(HelloRetry { shared: SharedGroups::of([X25519]), wanted: None });
    let provoked = full(HelloRetry { shared: SharedGroups::default(), wanted: Some(P384) });
    let early = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Early, 20).facts(asked_for(P384));
    let all = [cookie, provoked, early.hello_retry("x25519", "secp384r1", None), Example::new().run("1.3", Kind::Full, 900)];
    for example in all {
        assert_eq!(example.only(&hello_retry_request::CAUSE), None);
    }
}

#[test]
fn a_retry_is_looked_up_by_its_short_name() {
    assert_eq!(cause("hrr").unwrap().slug, hello_retry_request::CAUSE.slug);
}

fn with_certificate(key: PeerKey, certificates: u8, bytes: u32, has_root: bool) -> impl Fn(&mut Facts) {
    move |facts| {
        facts.peer_key = Some(key);
        facts.chain = Some(CertificateChain { certificates, bytes, has_root });
    }
}

const RSA_4096: PeerKey = PeerKey::Rsa { bits: 4096 };

/// Full handshakes of 6 ms, 0.5 resumed, over a network of this round trip.
fn served(certificate: impl Fn(&mut Facts), round_trip_us: u64) -> Example {
    let full = Example::new().timed_run("1.3", Kind::Full, [round_trip_us, round_trip_us + 6_000, 100]).round_trips(1);
    let resumed = full.facts(certificate).timed_run("1.3", Kind::Ticket, [round_trip_us, round_trip_us + 500, 100]);
    resumed.round_trips(1)
}

#[test]
fn a_certificate_that_costs_is_told_by_its_share() {
    let rows: [(Example, &[&str]); 8] = [
        (
            served(with_certificate(RSA_4096, 1, 1_300, false), 50),
            &[
                "Risk, Certain, cost 5500000 ns",
                "The rsa-4096 key takes 91 % of a full TLS 1.3 handshake",
                "Key rsa-4096; 1 certificate, 1300 bytes\n",
                "Key and chain take 5.50 of 6.05 ms of a full TLS 1.3 handshake, 91 %: resumed ones do without (100 connections)",
                "ssl_certificate ecdsa.pem; ssl_certificate_key ecdsa.key;",
            ],
        ),
        (served(with_certificate(RSA_4096, 1, 1_300, false), 50_000), &["Note, Certain", "takes 10 % of a full"]),
        (
            served(with_certificate(PeerKey::P256, 5, 4_000, false), 50),
            &[
                "Note, Certain",
                "The server sends 5 certificates, 4000 bytes, in each full handshake",
                "Key p-256; 5 certificates",
            ],
        ),
        (served(with_certificate(PeerKey::P256, 2, 1_900, true), 50), &["Note, Certain", "1900 bytes, the last a root"]),
        (
            served(with_certificate(PeerKey::P256, 3, 16_000, false), 50),
            &["Risk, Certain", "exceeds the first 14600 bytes that TCP sends (RFC 6928)"],
        ),
        (served(with_certificate(PeerKey::P256, 3, 3_000, false), 50), &[]),
        (served(with_certificate(PeerKey::Rsa { bits: 2048 }, 2, 2_400, false), 50), &[]),
        (served(|_| {}, 50), &[]),
    ];
    for (place, (example, expected)) in rows.iter().enumerate() {
        assert_tells(&certificate_costly::CAUSE, place, example.only(&certificate_costly::CAUSE), expected);
    }
}

#[test]
fn without_a_resumption_a_certificate_costs_at_most_the_rest() {
    let full = Example::new().timed_run("1.3", Kind::Full, [1_000, 6_000, 100]).round_trips(1);
    let told = told(&full.facts(with_certificate(RSA_4096, 2, 3_000, false)).only(&certificate_costly::CAUSE).unwrap());
    let says = "Beside its round trips a full TLS 1.3 handshake takes 5.00 of 6.00 ms, 83 %, key and chain among it (100 connections)";
    assert!(told.starts_with("Note, Certain, no cost") && told.contains(says), "{told}");
}

/// Under TLS 1.2 a resumption saves a round trip as well, which is no matter of the certificate.
#[test]
fn the_round_trip_of_tls12_is_not_the_certificates() {
    let full = Example::new().timed_run("1.2", Kind::Full, [20_000, 45_000, 100]).round_trips(2);
    let example = full
        .facts(with_certificate(RSA_4096, 2, 3_000, false))
        .timed_run("1.2", Kind::Id, [20_000, 20_100, 100])
        .round_trips(1);
    assert!(best_resumption(example.case().figures, Version::Tls12).is_some());
    let told = told(&example.only(&certificate_costly::CAUSE).unwrap());
    assert!(told.starts_with("Note, Certain, cost 4900000 ns"), "{told}");
}

//! What the client says of servers that break a rule, where neither the table of hostile servers nor BoGo asks.

use reprise_engine::Connection;
use reprise_model::Version;
use reprise_wire::{
    CipherSuite, ContentType, DOWNGRADE_TLS11, DOWNGRADE_TLS12, ExtensionType as E, NamedGroup, ProtocolVersion,
};

use crate::client::trusting_client;
use crate::script::{Hello, NOW, alert_of, clear, tls12, tls13};
use crate::{FULL, begun, begun_with};

/// A server by what it does, its edit of an honest ServerHello, and what the user reads of it.
type HelloCase = (&'static str, fn(&mut Hello), &'static str);

/// Both versions.
fn any_version() -> Connection {
    begun_with(trusting_client(), FULL)
}

/// The client refuses these records with these words and the alert that belongs to them, is not ready, and stays refused.
pub(crate) fn assert_refused(what: &str, client: &mut Connection, records: &[u8], words: &str) {
    let error = client.receive(NOW, records).expect_err(what);
    assert!(error.to_string().contains(words), "{what}: {error}");
    assert!(client.ready().is_none(), "{what}");
    assert_eq!(alert_of(client), error.alert().map(|alert| alert.to_string()), "{what}");
    assert_eq!(client.receive(NOW, &[]), Err(reprise_engine::Error::Closed), "{what}");
}

fn assert_tls13_hellos_refused(client: fn() -> Connection, cases: &[HelloCase]) {
    for (what, edit, words) in cases {
        let mut client = client();
        let mut server = tls13::Server::answering(&mut client);
        let mut hello = server.hello();
        edit(&mut hello);
        assert_refused(what, &mut client, &server.say(&hello), words);
    }
}

fn assert_tls12_hellos_refused(client: fn() -> Connection, cases: &[HelloCase]) {
    for (what, edit, words) in cases {
        let mut client = client();
        let server = tls12::Server::answering(&mut client);
        let mut hello = server.hello();
        edit(&mut hello);
        assert_refused(what, &mut client, &clear(ContentType::HANDSHAKE, &hello.message()), words);
    }
}

#[test]
fn a_tls13_server_hello_against_the_rules() {
    let cases: &[HelloCase] = &[
        ("a new suite", |hello| hello.suite = CipherSuite(0x1304), "it chose TLS_AES_128_CCM_SHA256, which was not"),
        ("a suite of GREASE", |hello| hello.suite = CipherSuite(0x0a0a), "it chose 0x0a0a, which was not offered"),
        ("no session ID", |hello| hello.session_id.clear(), "it did not echo legacy_session_id"),
        ("TLS 1.2 by extension", |hello| hello.set(E::SUPPORTED_VERSIONS, &[3, 3]), "it chose TLS 1.2, which was not"),
        ("GREASE for a version", |hello| hello.set(E::SUPPORTED_VERSIONS, &[0x7f, 0x1c]), "it chose 0x7f1c, which was not"),
        ("no version extension", |hello| hello.remove(E::SUPPORTED_VERSIONS), "it chose TLS 1.2, which was not offered"),
        // RFC 9846 §4.3.1.
        (
            "TLS 1.3 in the old field",
            |hello| old_version(hello, ProtocolVersion::TLS_1_3),
            "it chose TLS 1.3, which was not",
        ),
        ("TLS 1.0", |hello| old_version(hello, ProtocolVersion::TLS_1_0), "chose TLS 1.0, which Reprise does not support"),
        ("TLS 1.1", |hello| old_version(hello, ProtocolVersion::TLS_1_1), "chose TLS 1.1, which Reprise does not support"),
        ("SSL 3.0", |hello| old_version(hello, ProtocolVersion::SSL_3_0), "chose SSL 3.0, which Reprise does not support"),
        ("TLS 1.0 beside TLS 1.3", |hello| hello.legacy_version = ProtocolVersion::TLS_1_0, "legacy_version is not TLS 1.2"),
        ("an unsent share's group", |hello| hello.set(E::KEY_SHARE, &[0, 23, 0, 2, 4, 4]), "it chose the group secp256r1"),
        ("a short key share", |hello| hello.set(E::KEY_SHARE, &x25519(31)), "its key share is invalid"),
        ("a long key share", |hello| hello.set(E::KEY_SHARE, &x25519(33)), "its key share is invalid"),
        ("a cookie", |hello| hello.set(E::COOKIE, &[0, 0]), "an extension that was not offered: cookie"),
        ("an unknown extension", |hello| hello.set(E(0xfafa), &[]), "an extension that was not offered"),
        ("groups", |hello| hello.set(E::SUPPORTED_GROUPS, &[0, 2, 0, 29]), "supported_groups, which has no place there"),
        ("a version twice", |hello| hello.extensions.push((E::SUPPORTED_VERSIONS, vec![3, 4])), "occurs twice"),
    ];
    assert_tls13_hellos_refused(|| begun(Version::Tls13), cases);
    // Offered, but for the other version.
    let suite: HelloCase = (
        "a suite of TLS 1.2",
        |hello| hello.suite = CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, which was not offered",
    );
    assert_tls13_hellos_refused(any_version, &[suite]);
}

#[test]
fn a_tls12_server_hello_against_the_rules() {
    let not_offered = "an extension that was not offered";
    let cases: &[HelloCase] = &[
        ("a suite of TLS 1.3", |hello| hello.suite = CipherSuite::TLS_AES_128_GCM_SHA256, "it chose TLS_AES_128_GCM_SHA256"),
        ("CBC", |hello| hello.suite = CipherSuite::TLS_RSA_WITH_AES_128_CBC_SHA, "it chose TLS_RSA_WITH_AES_128_CBC_SHA"),
        ("TLS 1.3", |hello| hello.set(E::SUPPORTED_VERSIONS, &[3, 4]), "it chose TLS 1.3, which was not offered"),
        ("ALPN", |hello| hello.set(E::ALPN, &[]), not_offered),
        ("a key share", |hello| hello.set(E::KEY_SHARE, &[]), not_offered),
        // RFC 7627 §5.1.
        ("words in its EMS", |hello| hello.set(E::EXTENDED_MASTER_SECRET, &[0]), "extended_master_secret cannot be read"),
        // BoGo: `PointFormat-Client-MissingUncompressed`.
        ("no uncompressed", |hello| hello.set(E::EC_POINT_FORMATS, &[2, 1, 2]), "its ec_point_formats lacks uncompressed"),
    ];
    assert_tls12_hellos_refused(|| begun(Version::Tls12), cases);
    let cases: &[HelloCase] = &[
        ("a suite of TLS 1.3", |hello| hello.suite = CipherSuite::TLS_AES_128_GCM_SHA256, "which was not offered"),
        ("a key share", |hello| hello.set(E::KEY_SHARE, &[]), "key_share, which has no place there"),
        ("a downgrade to TLS 1.2", |hello| hello.random[24..].copy_from_slice(&DOWNGRADE_TLS12), "downgrade sentinel"),
        ("a downgrade to TLS 1.1", |hello| hello.random[24..].copy_from_slice(&DOWNGRADE_TLS11), "downgrade sentinel"),
    ];
    assert_tls12_hellos_refused(any_version, cases);
}

#[test]
fn an_echo_of_a_random_id_resumes_nothing() {
    let mut client = any_version();
    let mut server = tls12::Server::answering(&mut client);
    let hello = Hello { session_id: server.heard.session_id.clone(), ..server.hello() };
    assert_refused("an echo", &mut client, &server.say(&hello), "it resumes a session that was not offered");
}

fn old_version(hello: &mut Hello, version: ProtocolVersion) {
    hello.remove(E::SUPPORTED_VERSIONS);
    hello.legacy_version = version;
}

/// A share of X25519 of this length.
fn x25519(length: u8) -> Vec<u8> {
    [&[0, 29, 0, length][..], &vec![9; length.into()]].concat()
}

#[test]
fn a_tls13_key_share_that_is_no_point_of_p256() {
    let valid = reprise_engine::KeyShare::public(&crate::script::share(NamedGroup::SECP256R1)).to_vec();
    let compressed = [&[2 + (valid[64] & 1)], &valid[1..33]].concat();
    let hybrid = [&[6 + (valid[64] & 1)], &valid[1..]].concat();
    let mut off_curve = valid.clone();
    off_curve[64] ^= 1;
    for public in [compressed, hybrid, off_curve, vec![0], valid[..64].to_vec()] {
        let groups = vec![NamedGroup::SECP256R1];
        let mut client =
            begun_with(reprise_engine::Config { versions: vec![Version::Tls13], groups, ..trusting_client() }, FULL);
        let mut server = tls13::Server::answering(&mut client);
        let mut hello = server.hello();
        hello.set(E::KEY_SHARE, &[&[0, 23, 0, public.len() as u8], &public[..]].concat());
        assert_refused(&format!("{public:02x?}"), &mut client, &server.say(&hello), "its key share is invalid");
    }
}

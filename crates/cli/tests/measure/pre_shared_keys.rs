//! External PSKs and the modes in which a PSK is used, with OpenSSL's own server as the witness.

use reprise_lab::KeyKind;
use reprise_model::{Kind, PskMode, Version};
use reprise_servers::{RealServer, SServer, SServerConfig};

use reprise_harness::{Lab, Reprise, assert_account_for};

const IDENTITY: &str = "device 7";
const KEY: &str = "8d969eef6ecad3c29a3a629280e686cf";
const COUNT: u32 = 4;

fn server(lab: &Lab, extra: &[&str]) -> SServer {
    let mut config = SServerConfig::new(vec![lab.identity(KeyKind::P256)]);
    config.psk = Some((IDENTITY.to_owned(), KEY.to_owned()));
    config.extra = extra.iter().map(|&argument| argument.to_owned()).collect();
    SServer::start(config).unwrap()
}

fn with_psk(call: Reprise, identity: &str, key: &str) -> Reprise {
    call.count(COUNT).args(["--psk-identity", identity, "--psk-key", key])
}

#[test]
fn an_external_psk_is_measured_beside_what_the_server_offers() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = server(&lab, &[]);
    let outcome = with_psk(lab.measure(server.address()), IDENTITY, KEY).run().exits(0).silently();
    assert_account_for(&mut server, &outcome.document(), "psk");
    let psk = outcome.measured(Version::Tls13, Kind::Psk);
    assert_eq!((psk.n, psk.observed.psk_mode), (u64::from(COUNT), Some(PskMode::PskDheKe)));
    assert_eq!((psk.observed.peer_key, psk.observed.signature), (None, None), "no certificate");
    let kinds: Vec<Kind> = outcome.document().runs.iter().map(|run| run.asked.kind).collect();
    assert_eq!(kinds, [Kind::Full, Kind::Id, Kind::Ticket, Kind::Full, Kind::Ticket, Kind::Psk], "both versions");
    outcome.shows(&["with the external PSK"]);
}

#[test]
fn a_psk_alone_and_a_ticket_alone_have_no_forward_secrecy() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = server(&lab, &["-allow_no_dhe_kex"]);
    let call = with_psk(lab.measure(server.address()), IDENTITY, KEY);
    let outcome = call.args(["--tls", "1.3", "--psk-mode", "psk_ke"]).run().exits(0);
    assert_account_for(&mut server, &outcome.document(), "psk_ke");
    for kind in [Kind::Ticket, Kind::Psk] {
        let run = outcome.measured(Version::Tls13, kind);
        assert_eq!((run.n, run.observed.psk_mode), (u64::from(COUNT), Some(PskMode::PskKe)), "{kind}");
        assert_eq!(run.observed.group, None, "{kind}: no key exchange");
    }
    outcome.shows(&["[no-forward-secrecy, certain]"]);
}

#[test]
fn the_server_chooses_between_the_modes() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for (extra, kind, mode) in [
        (&[][..], Kind::Ticket, PskMode::PskDheKe),
        (&["-allow_no_dhe_kex", "-prefer_no_dhe_kex"], Kind::Ticket, PskMode::PskKe),
    ] {
        let mut config = SServerConfig::new(vec![lab.identity(KeyKind::P256)]);
        config.extra = extra.iter().map(|&argument| argument.to_owned()).collect();
        // An OpenSSL before 3.3 does not know the preference, and then takes the exchange where it is offered.
        let Ok(server) = SServer::start(config) else { continue };
        let call = lab.measure(server.address()).count(2).args(["--tls", "1.3", "--psk-mode", "both"]);
        let run = call.run().exits(0).measured(Version::Tls13, kind);
        assert_eq!(run.observed.psk_mode, Some(mode), "{extra:?}");
    }
}

#[test]
fn a_server_that_knows_psks_alone_needs_no_certificate() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut config = SServerConfig::new(Vec::new());
    config.psk = Some((IDENTITY.to_owned(), KEY.to_owned()));
    let mut server = SServer::start(config).unwrap();
    let outcome = with_psk(lab.measure(server.address()), IDENTITY, KEY).arg("--kinds").arg("psk").run().exits(0).silently();
    assert_account_for(&mut server, &outcome.document(), "no certificate");
    assert_eq!(outcome.document().all_connections.psk, u64::from(COUNT), "nothing else was asked for");

    let outcome = with_psk(lab.measure(server.address()), IDENTITY, KEY).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Psk).n, u64::from(COUNT));
    outcome.shows(&["A full TLS 1.3 handshake is not measured"]);
}

#[test]
fn an_unknown_identity_and_a_wrong_key_are_told_apart() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = server(&lab, &[]);
    let unknown = with_psk(lab.measure(server.address()), "device 8", KEY).args(["--kinds", "psk"]).run().exits(1);
    assert_account_for(&mut server, &unknown.document(), "unknown identity");
    assert_eq!(unknown.measured(Version::Tls13, Kind::Psk).observed.kinds.of(Kind::Full), u64::from(COUNT));
    unknown.shows(&["[psk-refused, likely]", "--psk-identity"]);

    let wrong = with_psk(lab.measure(server.address()), IDENTITY, "00").args(["--kinds", "psk"]).run().exits(3);
    wrong.says(&["the PSK's binder does not verify", "--psk-key and --psk-hash"]);
    let other_hash = with_psk(lab.measure(server.address()), IDENTITY, KEY).args(["--kinds", "psk", "--psk-hash", "sha384"]);
    other_hash.run().exits(3).says(&["another hash: compare --psk-hash"]);
}

#[test]
fn the_key_may_stand_in_a_file_and_is_in_no_document() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = server(&lab, &[]);
    let file = lab.file("psk.hex", format!("{KEY}\n"));
    let call = lab.measure(server.address()).count(2).args(["--kinds", "psk", "--psk-identity", IDENTITY]);
    call.arg("--psk-key-file").arg(file).run().exits(0);

    for given in [vec!["--psk-key", KEY], vec![&*format!("--psk-key={KEY}")]] {
        let call = lab.measure(server.address()).count(2).args(["--kinds", "psk", "--psk-identity", IDENTITY]);
        let outcome = call.args(given).run().exits(0);
        assert!(!outcome.json.unwrap().contains(KEY) && !outcome.page.contains(KEY));
    }
}

#[test]
fn flags_that_make_no_sense() {
    let refused = |arguments: &[&str], words: &[&str]| {
        Reprise::new(["measure", "127.0.0.1:1"]).args(arguments).run().exits(2).says(words);
    };
    refused(&["--kinds", "psk", "--insecure"], &["--psk-identity NAME", "--psk-key HEX"]);
    refused(&["--psk-identity", "a", "--insecure"], &["--psk-key HEX or --psk-key-file FILE"]);
    refused(&["--psk-key", "00"], &["--psk-identity"]);
    refused(&["--psk-identity", "", "--psk-key", "00"], &["at least one byte"]);
    refused(&["--psk-identity", "a", "--psk-key", "abc"], &["even number of hexadecimal digits"]);
    refused(&["--psk-identity", "a", "--psk-key", "00", "--psk-key-file", "b"], &["cannot be used with"]);
    refused(&["--psk-identity", "a", "--psk-key-file", "no-such-file", "--insecure"], &["no-such-file"]);
    refused(&["--psk-identity", "a", "--psk-key", "00", "--psk-hash", "md5"], &["sha256", "sha384"]);
    refused(&["--psk-mode", "dhe"], &["psk_dhe_ke", "psk_ke", "both"]);
    let psk = ["--psk-identity", "a", "--psk-key", "00", "--insecure"];
    refused(&[&psk[..], &["--kinds", "psk", "--tls", "1.2"]].concat(), &["the kind psk requires TLS 1.3"]);
    refused(&[&psk[..], &["--psk-hash", "sha384", "--ciphers", "TLS_AES_128_GCM_SHA256"]].concat(), &["--psk-hash"]);
}

//! External PSKs and the modes in which a PSK is used, with OpenSSL's own server as the witness.

use reprise_lab::{Identity, KeyKind};
use reprise_model::{Kind, PskMode, Version};
use reprise_servers::{RealServer, SServer, SServerConfig};

use reprise_harness::{Lab, Reprise, assert_account_for};

const IDENTITY: &str = "device 7";
const KEY: &str = "8d969eef6ecad3c29a3a629280e686cf";
/// What a saving is told of.
const COUNT: u32 = 8;
const ALL: u64 = COUNT as u64;

fn server(identities: Vec<Identity>, extra: &[&str]) -> SServer {
    let mut config = SServerConfig::new(identities);
    config.psk = Some((IDENTITY.to_owned(), KEY.to_owned()));
    config.extra = extra.iter().map(|&argument| argument.to_owned()).collect();
    SServer::start(config).unwrap()
}

fn with_psk(call: Reprise, identity: &str, key: &str) -> Reprise {
    call.count(COUNT).args(["--psk-identity", identity, "--psk-key", key])
}

#[test]
fn an_external_psk_is_measured_in_the_mode_that_was_chosen() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = server(vec![lab.identity(KeyKind::P256)], &["-allow_no_dhe_kex"]);
    let outcome = with_psk(lab.measure(server.address()), IDENTITY, KEY).run().exits(0).silently();
    assert_account_for(&mut server, &outcome.document(), "psk");
    let psk = outcome.measured(Version::Tls13, Kind::Psk);
    assert_eq!((psk.n, psk.observed.psk_mode), (ALL, Some(PskMode::PskDheKe)));
    assert_eq!((psk.observed.peer_key, psk.observed.signature), (None, None), "no certificate");
    let kinds: Vec<Kind> = outcome.document().runs.iter().map(|run| run.asked.kind).collect();
    assert_eq!(kinds, [Kind::Full, Kind::Id, Kind::Ticket, Kind::Full, Kind::Ticket, Kind::Psk], "both versions");
    outcome.shows(&["with the external PSK"]);

    let alone = with_psk(lab.measure(server.address()), IDENTITY, KEY).args(["--tls", "1.3", "--psk-mode", "psk_ke"]);
    let alone = alone.run().exits(0).shows(&["[no-forward-secrecy, certain]"]);
    for kind in [Kind::Ticket, Kind::Psk] {
        let run = alone.measured(Version::Tls13, kind);
        assert_eq!((run.n, run.observed.psk_mode, run.observed.group), (ALL, Some(PskMode::PskKe), None), "{kind}");
    }
    let both = lab.measure(server.address()).count(2).args(["--tls", "1.3", "--psk-mode", "both"]);
    let chosen = both.run().exits(0).measured(Version::Tls13, Kind::Ticket).observed.psk_mode;
    assert_eq!(chosen, Some(PskMode::PskDheKe), "OpenSSL takes the exchange where it is offered");
}

#[test]
fn a_server_that_knows_psks_alone_needs_no_certificate() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = server(Vec::new(), &[]);
    let outcome = with_psk(lab.measure(server.address()), IDENTITY, KEY).arg("--kinds").arg("psk").run().exits(0).silently();
    assert_account_for(&mut server, &outcome.document(), "no certificate");
    assert_eq!(outcome.document().all_connections.psk, ALL, "nothing else was asked for");

    let outcome = with_psk(lab.measure(server.address()), IDENTITY, KEY).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Psk).n, ALL);
    outcome.shows(&["A full TLS 1.3 handshake is not measured"]);
}

#[test]
fn an_unknown_identity_and_a_wrong_key_are_told_apart() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = server(vec![lab.identity(KeyKind::P256)], &[]);
    let call = |identity, key| with_psk(lab.measure(server.address()), identity, key).args(["--kinds", "psk"]);
    let unknown = call("device 8", KEY).run().exits(1);
    assert_eq!(unknown.measured(Version::Tls13, Kind::Psk).observed.kinds.of(Kind::Full), ALL);
    unknown.shows(&["[psk-refused, likely]", "--psk-identity"]);
    call(IDENTITY, "00").run().exits(3).says(&["the PSK's binder does not verify", "--psk-key and --psk-hash"]);
    let other_hash = call(IDENTITY, KEY).args(["--psk-hash", "sha384"]);
    other_hash.run().exits(3).says(&["another hash: compare --psk-hash"]);

    // The key may stand in a file, and is in no document.
    let file = lab.file("psk.hex", format!("{KEY}\n"));
    let given = [vec!["--psk-key-file", file.to_str().unwrap()], vec!["--psk-key", KEY], vec![&*format!("--psk-key={KEY}")]]
        .map(|key| lab.measure(server.address()).count(2).args(["--kinds", "psk", "--psk-identity", IDENTITY]).args(key));
    for call in given {
        let outcome = call.run().exits(0);
        assert!(!outcome.json.unwrap().contains(KEY) && !outcome.page.contains(KEY));
    }
}

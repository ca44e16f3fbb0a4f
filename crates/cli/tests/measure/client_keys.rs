//! The client's own key: every form that it comes in, and every way in which it is of no use.

use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_lab::{ClientAuth, EmbeddedServer, KeyKind, PemFiles};

use reprise_harness::{Lab, Reprise};

const PASSPHRASE: &str = "correct horse";

fn server(lab: &Lab) -> EmbeddedServer {
    let authority = lab.authority.certificate().clone();
    lab.server_with(|config| config.client_auth = ClientAuth::Required(authority))
}

fn call(lab: &Lab, server: &EmbeddedServer, certificate: &Path, key: &Path) -> Reprise {
    lab.measure(server.address()).count(1).arg("--cert").arg(certificate).arg("--key").arg(key)
}

/// A client key under [`PASSPHRASE`].
fn encrypted(lab: &Lab) -> PemFiles {
    let identity = lab.authority.client("client.example").unwrap();
    let certificate = lab.file("cert.pem", identity.chain_pem());
    let key = lab.file("key.pem", identity.encrypted_key_pem(PASSPHRASE).unwrap().as_bytes());
    PemFiles { certificate, key }
}

/// The same key, as openssl writes it when told so.
fn rewrite(lab: &Lab, key: &Path, arguments: &[&str]) -> PathBuf {
    let to = lab.path(&format!("{}.pem", arguments.concat().replace([' ', ':'], "")));
    let openssl = Command::new("openssl").args(arguments).arg("-in").arg(key).arg("-out").arg(&to).output().unwrap();
    assert!(openssl.status.success(), "{openssl:?}");
    to
}

#[test]
fn every_kind_of_key_signs_under_both_versions() {
    let lab = Lab::new();
    let server = server(&lab);
    for key in [KeyKind::Rsa2048, KeyKind::P256, KeyKind::P384, KeyKind::Ed25519] {
        let identity = lab.authority.client_with_key("client.example", key).unwrap();
        let files = identity.write_pem(lab.directory(), key.label()).unwrap();
        call(&lab, &server, &files.certificate, &files.key).run().exits(0);
    }
}

#[test]
fn certificate_and_key_may_stand_in_one_file() {
    let lab = Lab::new();
    let server = server(&lab);
    let identity = lab.authority.client("client.example").unwrap();
    let both = lab.file("both.pem", format!("{}{}", identity.key_pem(), identity.chain_pem()));
    lab.measure(server.address()).count(1).arg("--cert").arg(both).run().exits(0);
}

#[test]
fn keys_are_read_as_openssl_writes_them() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = server(&lab);
    let pass = format!("pass:{PASSPHRASE}");
    let encrypt = ["pkcs8", "-topk8", "-passout", &pass];
    let with = |more: &[&'static str]| [&encrypt[..], more].concat();
    // `openssl req` still encrypts new keys by 3DES, and OpenSSL 1.0 derived by SHA-1.
    let old = with(&["-v2", "des3", "-v2prf", "hmacWithSHA1"]);
    for (key, forms) in [
        (KeyKind::P256, [&["ec"][..], &encrypt, &old]),
        (KeyKind::Rsa2048, [&["rsa", "-traditional"], &["pkcs8", "-topk8", "-nocrypt"], &with(&["-scrypt"])]),
    ] {
        let identity = lab.authority.client_with_key("client.example", key).unwrap();
        let files = identity.write_pem(lab.directory(), key.label()).unwrap();
        for form in forms {
            let rewritten = rewrite(&lab, &files.key, form);
            let outcome =
                call(&lab, &server, &files.certificate, &rewritten).env("REPRISE_KEY_PASSPHRASE", PASSPHRASE).run();
            assert_eq!(outcome.code, 0, "{key} {form:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn an_unknown_encryption_is_not_a_wrong_passphrase() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let server = server(&lab);
    let files = lab.client("client.example");
    let key = rewrite(&lab, &files.key, &["pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES", "-passout", "pass:correct horse"]);
    let outcome = call(&lab, &server, &files.certificate, &key).env("REPRISE_KEY_PASSPHRASE", PASSPHRASE).run();
    outcome.exits(2).says(&["uses an unsupported encryption", "openssl pkcs8 -topk8"]);
}

#[test]
fn the_right_passphrase_opens_the_key() {
    let lab = Lab::new();
    let server = server(&lab);
    let files = encrypted(&lab);
    let call = call(&lab, &server, &files.certificate, &files.key).env("REPRISE_KEY_PASSPHRASE", PASSPHRASE);
    let outcome = call.run().exits(0);
    assert!(!outcome.json.unwrap().contains(PASSPHRASE));
}

#[test]
fn a_wrong_passphrase_is_told_before_any_connection() {
    let lab = Lab::new();
    let server = server(&lab);
    let files = encrypted(&lab);
    let call = |passphrase: &str| {
        call(&lab, &server, &files.certificate, &files.key).env("REPRISE_KEY_PASSPHRASE", passphrase).run()
    };
    call("wrong").exits(2).says(&["the passphrase of", "key.pem is wrong"]);
    call("").exits(2).says(&["is wrong"]);
    assert_eq!((server.completed(), server.failures().len()), (0, 0));
}

#[test]
fn the_environment_has_the_passphrase_without_a_terminal() {
    let lab = Lab::new();
    let server = server(&lab);
    let files = encrypted(&lab);
    let outcome = call(&lab, &server, &files.certificate, &files.key).run();
    outcome.exits(2).says(&["key.pem is encrypted", "set REPRISE_KEY_PASSPHRASE"]);
}

#[test]
fn a_key_that_does_not_fit_its_certificate_is_refused_first() {
    let lab = Lab::new();
    let server = server(&lab);
    let (one, other) = (lab.client("one.example"), lab.client("other.example"));
    let outcome = call(&lab, &server, &one.certificate, &other.key).run();
    outcome.exits(2).says(&["other.example-key.pem does not match the certificate in", "one.example-cert.pem"]);
    assert_eq!((server.completed(), server.failures().len()), (0, 0));
}

#[test]
fn files_that_hold_no_certificate_or_key_are_named() {
    let lab = Lab::new();
    let server = server(&lab);
    let client = lab.client("client.example");
    let empty = lab.file("empty.pem", "");
    let text = lab.file("notes.txt", "no key, no certificate\n");
    let absent = lab.path("absent.pem");
    let old = lab.file("old.pem", OLD_ENCRYPTION);
    let broken = lab.file("broken.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    let cases: [(&Path, &Path, &[&str]); 8] = [
        (&absent, &client.key, &["cannot read", "absent.pem", "No such file"]),
        (&client.certificate, &absent, &["cannot read", "absent.pem", "No such file"]),
        (lab.directory(), &client.key, &["cannot read", "Is a directory"]),
        (&empty, &client.key, &["empty.pem contains no PEM certificate"]),
        (&text, &client.key, &["notes.txt contains no PEM certificate"]),
        (&broken, &client.key, &["cannot read", "broken.pem"]),
        (&client.certificate, &client.certificate, &["-cert.pem contains no P"]),
        (&client.certificate, &old, &["unsupported encryption", "openssl pkcs8 -topk8"]),
    ];
    for (certificate, key, words) in cases {
        call(&lab, &server, certificate, key).run().exits(2).says(words);
    }
    assert_eq!((server.completed(), server.failures().len()), (0, 0));
}

#[test]
fn the_authoritys_file_is_read_before_any_connection() {
    let lab = Lab::new();
    let server = server(&lab);
    let text = lab.file("notes.txt", "nobody to trust\n");
    for (file, words) in [(lab.path("absent.pem"), "absent.pem"), (text, "notes.txt contains no PEM certificate")] {
        Reprise::measure(server.address()).arg("--ca").arg(file).run().exits(2).says(&[words]);
    }
    assert_eq!((server.completed(), server.failures().len()), (0, 0));
}

const OLD_ENCRYPTION: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
    DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";

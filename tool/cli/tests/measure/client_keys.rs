//! The client's own key: every form that it comes in, and every way in which it is of no use.

use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_lab::{ClientAuthRequest, EmbeddedServer, KeyKind, PemFiles};

use reprise_harness::{Lab, Reprise};

const PASSPHRASE: &str = "correct horse";

/// A server that requires a client's certificate, and calls with one.
struct Mutual {
    lab: Lab,
    server: EmbeddedServer,
}

impl Mutual {
    fn new() -> Self {
        let lab = Lab::new();
        let authority = lab.authority.certificate().clone();
        let server = lab.server_with(|config| config.client_auth = ClientAuthRequest::Required(authority));
        Self { lab, server }
    }

    fn call(&self, certificate: &Path, key: &Path) -> Reprise {
        self.lab.measure(self.server.address()).count(1).arg("--cert").arg(certificate).arg("--key").arg(key)
    }

    fn client(&self, key: KeyKind) -> PemFiles {
        let identity = self.lab.authority.client_with_key("client.example", key).unwrap();
        identity.write_pem(self.lab.directory(), key.label()).unwrap()
    }

    #[track_caller]
    fn assert_not_asked(&self) {
        assert_eq!((self.server.completed(), self.server.failures().len()), (0, 0), "nobody connected");
    }
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
    let mutual = Mutual::new();
    for key in [KeyKind::Rsa2048, KeyKind::P256, KeyKind::P384, KeyKind::Ed25519] {
        let files = mutual.client(key);
        mutual.call(&files.certificate, &files.key).run().exits(0);
    }
    let identity = mutual.lab.authority.client("client.example").unwrap();
    let both = mutual.lab.file("both.pem", format!("{}{}", identity.key_pem(), identity.chain_pem()));
    mutual.lab.measure(mutual.server.address()).count(1).arg("--cert").arg(both).run().exits(0);
}

#[test]
fn keys_are_read_as_openssl_writes_them() {
    reprise_servers::require!("openssl");
    let mutual = Mutual::new();
    let pass = format!("pass:{PASSPHRASE}");
    let encrypt = ["pkcs8", "-topk8", "-passout", &pass];
    let with = |more: &[&'static str]| [&encrypt[..], more].concat();
    // `openssl req` still encrypts new keys by 3DES, and OpenSSL 1.0 derived by SHA-1.
    let old = with(&["-v2", "des3", "-v2prf", "hmacWithSHA1"]);
    for (key, forms) in [
        (KeyKind::P256, [&["ec"][..], &encrypt, &old]),
        (KeyKind::Rsa2048, [&["rsa", "-traditional"], &["pkcs8", "-topk8", "-nocrypt"], &with(&["-scrypt"])]),
    ] {
        let files = mutual.client(key);
        for form in forms {
            let rewritten = rewrite(&mutual.lab, &files.key, form);
            let call = mutual.call(&files.certificate, &rewritten).env("REPRISE_KEY_PASSPHRASE", PASSPHRASE);
            assert!(!call.run().exits(0).json.unwrap().contains(PASSPHRASE), "{key} {form:?}");
        }
    }
    let files = mutual.client(KeyKind::P256);
    let unknown = rewrite(&mutual.lab, &files.key, &with(&["-v1", "PBE-SHA1-3DES"]));
    let outcome = mutual.call(&files.certificate, &unknown).env("REPRISE_KEY_PASSPHRASE", PASSPHRASE).run();
    outcome.exits(2).says(&["uses an unsupported encryption", "openssl pkcs8 -topk8"]);
}

#[test]
fn a_wrong_passphrase_is_told_before_any_connection() {
    let mutual = Mutual::new();
    let identity = mutual.lab.authority.client("client.example").unwrap();
    let certificate = mutual.lab.file("cert.pem", identity.chain_pem());
    let key = mutual.lab.file("key.pem", identity.encrypted_key_pem(PASSPHRASE).unwrap().as_bytes());
    for (passphrase, words) in [
        (Some("wrong"), &["the passphrase of", "key.pem is wrong"][..]),
        (Some(""), &["is wrong"]),
        (None, &["key.pem is encrypted", "set REPRISE_KEY_PASSPHRASE"]),
    ] {
        let call = mutual.call(&certificate, &key);
        let call = passphrase.into_iter().fold(call, |call, passphrase| call.env("REPRISE_KEY_PASSPHRASE", passphrase));
        call.run().exits(2).says(words);
    }
    mutual.assert_not_asked();
    mutual.call(&certificate, &key).env("REPRISE_KEY_PASSPHRASE", PASSPHRASE).run().exits(0);
}

#[test]
fn files_that_are_of_no_use_are_named_before_any_connection() {
    let mutual = Mutual::new();
    let lab = &mutual.lab;
    let [client, other] = ["client.example", "other.example"].map(|name| lab.client(name));
    let empty = lab.file("empty.pem", "");
    let text = lab.file("notes.txt", "no key, no certificate\n");
    let absent = lab.path("absent.pem");
    let old = lab.file("old.pem", OLD_ENCRYPTION);
    let broken = lab.file("broken.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    let cases: [(&Path, &Path, &[&str]); 9] = [
        (&absent, &client.key, &["cannot read", "absent.pem", "No such file"]),
        (&client.certificate, &absent, &["cannot read", "absent.pem", "No such file"]),
        (lab.directory(), &client.key, &["cannot read", "Is a directory"]),
        (&empty, &client.key, &["empty.pem contains no PEM certificate"]),
        (&text, &client.key, &["notes.txt contains no PEM certificate"]),
        (&broken, &client.key, &["cannot read", "broken.pem"]),
        (&client.certificate, &client.certificate, &["-cert.pem contains no P"]),
        (&client.certificate, &old, &["unsupported encryption", "openssl pkcs8 -topk8"]),
        (
            &client.certificate,
            &other.key,
            &["other.example-key.pem does not match the certificate in", "client.example-cert.pem"],
        ),
    ];
    for (certificate, key, words) in cases {
        mutual.call(certificate, key).run().exits(2).says(words);
    }
    for (file, words) in [(&absent, "absent.pem"), (&text, "notes.txt contains no PEM certificate")] {
        Reprise::measure(mutual.server.address()).arg("--ca").arg(file).run().exits(2).says(&[words]);
    }
    mutual.assert_not_asked();
}

const OLD_ENCRYPTION: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
    DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";

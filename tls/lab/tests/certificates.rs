//! What the lab's certificates and keys say to others. Whether the engine trusts them is tested in `tls/engine/tests`, with chains of
//! every length and each way to be wrong.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use reprise_harness::client::Client;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec, Versions};

fn openssl(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("openssl").args(arguments).current_dir(directory).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_client_certificate_is_no_server_certificate() {
    let authority = Authority::new().unwrap();
    let server = EmbeddedServer::start(EmbeddedConfig::new(authority.client("localhost").unwrap())).unwrap();
    let error = Client::new(&authority, Versions::Tls13).fetch(server.address(), "/").err().unwrap().to_string();
    assert!(error.contains("purpose") || error.contains("usage"), "{error}");
}

#[test]
fn a_name_that_is_none_is_refused() {
    let mut spec = ServerSpec::new(KeyKind::P256);
    spec.names.push("no name at all \u{e9}".to_owned());
    assert!(Authority::new().unwrap().server(&spec).is_err());
}

#[test]
fn openssl_reads_what_the_lab_writes() {
    reprise_servers::require!("openssl");
    let directory = tempfile::tempdir().unwrap();
    for key in KeyKind::ALL {
        let authority = Authority::with_key(key).unwrap();
        fs::write(directory.path().join("ca.pem"), authority.pem()).unwrap();
        let spec = ServerSpec { intermediates: 1, ..ServerSpec::new(key) };
        let identity = authority.server(&spec).unwrap();
        let files = identity.write_pem(directory.path(), key.label()).unwrap();
        let (certificate, key_file) = (files.certificate.to_str().unwrap(), files.key.to_str().unwrap());
        let verify = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", "-untrusted", certificate];
        let verified = openssl(directory.path(), &[&verify[..], &[certificate]].concat());
        assert!(verified.contains(": OK"), "{key}: {verified}");
        let of_certificate = openssl(directory.path(), &["x509", "-in", certificate, "-noout", "-pubkey"]);
        let of_key = openssl(directory.path(), &["pkey", "-in", key_file, "-pubout"]);
        assert!(of_key.contains("BEGIN PUBLIC KEY"), "{key}: {of_key}");
        assert_eq!(of_certificate, of_key, "{key}");
    }
}

#[test]
fn an_rsa_authority_signs_with_rsa() {
    reprise_servers::require!("openssl");
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::with_key(KeyKind::Rsa2048).unwrap();
    let mut spec = ServerSpec::new(KeyKind::Rsa2048);
    spec.names.push("extra.example".to_owned());
    let identity = authority.server(&spec).unwrap();
    let files = identity.write_pem(directory.path(), "server").unwrap();
    let certificate = files.certificate.to_str().unwrap();
    let text = openssl(directory.path(), &["x509", "-in", certificate, "-noout", "-text"]);
    assert!(text.contains("Signature Algorithm: sha256WithRSAEncryption"), "{text}");
    assert!(text.contains("Public-Key: (2048 bit)") && text.contains("Key Encipherment"), "{text}");
    assert!(text.contains("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:extra.example"), "{text}");
}

#[test]
fn an_encrypted_key_opens_with_its_passphrase_alone() {
    reprise_servers::require!("openssl");
    let directory = tempfile::tempdir().unwrap();
    for key in [KeyKind::P256, KeyKind::Rsa2048, KeyKind::Ed25519] {
        let identity = Authority::new().unwrap().server(&ServerSpec::new(key)).unwrap();
        let encrypted = identity.encrypted_key_pem("open sesame").unwrap();
        assert!(encrypted.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        fs::write(directory.path().join("key.pem"), encrypted.as_bytes()).unwrap();
        let open = |passphrase| openssl(directory.path(), &["pkey", "-in", "key.pem", "-passin", passphrase]);
        assert_eq!(open("pass:open sesame").trim(), identity.key_pem().trim(), "{key}");
        assert!(!open("pass:open barley").contains("PRIVATE KEY"), "{key}");
    }
}

#[test]
fn keys_on_disk_are_their_owners_alone_and_never_shown() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let identity = authority.client("someone.example").unwrap();
    let files = identity.write_pem(directory.path(), "client").unwrap();
    assert_eq!(fs::metadata(&files.key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&files.key).unwrap(), identity.key_pem());
    assert_eq!(format!("{identity:?}"), "Identity { label: \"p-256\", chain: 1, .. }");
    assert_eq!(format!("{authority:?}"), "Authority { .. }");
    let unwritable = identity.write_pem(&directory.path().join("none"), "client").unwrap_err().to_string();
    assert!(unwritable.contains("client-cert.pem"), "{unwritable}");
}

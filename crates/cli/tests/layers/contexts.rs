//! What contexts are made of.

use std::process::Command;

use reprise_lab::{Authority, KeyKind};

use super::{document, plugins, reprise, row, skipped};

fn contexts(flags: &[&str]) -> Option<serde_json::Value> {
    let folder = match plugins::folder() {
        Ok(folder) => folder,
        Err(not_run) => {
            not_run.announce();
            return None;
        }
    };
    let usual = ["-n", "6", "--stacks", "openssl,rustls-ring", "--plugins", folder];
    let (document, output) = document(&mut reprise(&[&usual[..], flags].concat()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(document)
}

#[test]
fn clients_have_keys_of_both_kinds() {
    for key in ["p-256", "rsa-2048"] {
        let Some(document) = contexts(&["--levels", "run,ctx,bio", "--client-key", key]) else { return };
        assert_eq!(document["context"]["client_key"], key);
        for level in ["run", "ctx", "bio"] {
            assert_eq!(row(&document, "openssl", level, true)["kinds"]["ticket"], 6, "{level}");
        }
        assert_eq!(row(&document, "rustls-ring", "bio", false)["kinds"]["full"], 6);
    }
}

#[test]
fn an_encrypted_key_is_decrypted_for_each_context() {
    let Some(document) = contexts(&["--levels", "run,ctx", "--client-key", "p-256", "--encrypted"]) else { return };
    assert_eq!(document["context"]["encrypted"], true);
    assert_eq!(row(&document, "openssl", "ctx", false)["kinds"]["full"], 6);
    let (outcome, reason) = skipped(&document, "openssl", "run");
    assert!(outcome == "unsupported" && reason.contains("takes no encrypted key"), "{reason}");
}

#[test]
fn many_certificates_are_trusted_in_a_file_and_a_directory() {
    for (flags, files) in [(&["--cas", "150"][..], 1), (&["--cas", "150", "--ca-directory"], 150)] {
        let Some(document) = contexts(&[&["--levels", "run,ctx,bio"], flags].concat()) else { return };
        assert_eq!((&document["context"]["trusted"], &document["context"]["files"]), (&150.into(), &files.into()));
        for level in ["run", "ctx", "bio"] {
            assert_eq!(row(&document, "openssl", level, false)["kinds"]["full"], 6, "{level}");
        }
    }
}

#[track_caller]
fn refuses(command: &mut Command, why: &str) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}");
}

#[test]
fn what_is_no_context_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("README"), "nothing here").unwrap();
    refuses(&mut reprise(&["--capath", path]), "contains no PEM certificate");
    refuses(&mut reprise(&["--ca", "/nonexistent"]), "cannot read /nonexistent");

    let client = Authority::new().unwrap().client_with_key("client.test", KeyKind::P256).unwrap();
    let files = client.write_pem(folder.path(), "client").unwrap();
    std::fs::write(&files.key, client.encrypted_key_pem("right").unwrap().as_bytes()).unwrap();
    let (chain, key) = (files.certificate.to_str().unwrap(), files.key.to_str().unwrap());
    let mut command = reprise(&["localhost:1", "--ca", chain, "--cert", chain, "--key", key]);
    refuses(command.env("REPRISE_KEY_PASSPHRASE", "wrong"), "the passphrase of");
    command.env_remove("REPRISE_KEY_PASSPHRASE").stdin(std::process::Stdio::null());
    refuses(&mut command, "needs a passphrase");
    refuses(&mut reprise(&["localhost:1", "--ca", chain, "--cert", chain, "--key", chain]), "contains no P");
}

//! What contexts are made of.

use reprise_lab::{Authority, KeyKind};

use super::{layers, plugins, row, skipped};

fn contexts(flags: &str) -> Option<serde_json::Value> {
    let call = layers("-n 6 --stacks openssl,rustls-ring --plugins").arg(plugins::folder()?);
    let (document, outcome) = call.flags(flags).run_for_json();
    outcome.exits(0);
    Some(document)
}

#[test]
fn clients_have_keys_of_both_kinds() {
    for key in ["p-256", "rsa-2048"] {
        let Some(document) = contexts(&format!("--levels run,ctx,bio --client-key {key}")) else { return };
        assert_eq!(document["context"]["client_key"], key);
        for level in ["run", "ctx", "bio"] {
            assert_eq!(row(&document, "openssl", level, true)["kinds"]["ticket"], 6, "{level}");
        }
        assert_eq!(row(&document, "rustls-ring", "bio", false)["kinds"]["full"], 6);
    }
}

#[test]
fn an_encrypted_key_is_decrypted_for_each_context() {
    let Some(document) = contexts("--levels run,ctx --client-key p-256 --encrypted") else { return };
    assert_eq!(document["context"]["encrypted"], true);
    assert_eq!(row(&document, "openssl", "ctx", false)["kinds"]["full"], 6);
    let (outcome, reason) = skipped(&document, "openssl", "run");
    assert!(outcome == "unsupported" && reason.contains("takes no encrypted key"), "{reason}");
}

#[test]
fn many_certificates_are_trusted_in_a_file_and_a_directory() {
    for (flags, files) in [("--cas 150", 1), ("--cas 150 --ca-directory", 150)] {
        let Some(document) = contexts(&format!("--levels run,ctx,bio {flags}")) else { return };
        assert_eq!((&document["context"]["trusted"], &document["context"]["files"]), (&150.into(), &files.into()));
        for level in ["run", "ctx", "bio"] {
            assert_eq!(row(&document, "openssl", level, false)["kinds"]["full"], 6, "{level}");
        }
    }
}

#[test]
fn what_is_no_context_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("README"), "nothing here").unwrap();
    layers("--capath").arg(folder.path()).run().exits(2).says(&["contains no PEM certificate"]);
    layers("--ca /nonexistent").run().exits(2).says(&["cannot read /nonexistent"]);

    let client = Authority::new().unwrap().client_with_key("client.test", KeyKind::P256).unwrap();
    let files = client.write_pem(folder.path(), "client").unwrap();
    std::fs::write(&files.key, client.encrypted_key_pem("right").unwrap().as_bytes()).unwrap();
    let with_key = |key| {
        let call = layers("localhost:1 --ca").arg(&files.certificate).arg("--cert").arg(&files.certificate);
        call.arg("--key").arg(key)
    };
    let encrypted = || with_key(&files.key);
    encrypted().env("REPRISE_KEY_PASSPHRASE", "wrong").run().exits(2).says(&["the passphrase of"]);
    encrypted().run().exits(2).says(&["needs a passphrase"]);
    with_key(&files.certificate).run().exits(2).says(&["contains no P"]);
}

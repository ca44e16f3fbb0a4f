use std::fs;
use std::path::Path;
use std::process::Command;

use zeroize::Zeroizing;

use crate::{Identity, LabError, Result};

/// A self-signed server certificate with an RSA key of 1024 bits, for tests of what is too weak to be verified.
///
/// The crypto library makes no such key, and embedded servers serve none, so the `openssl` command must be installed;
/// OpenSSL servers take it at security level 0 alone (`-cipher ALL:@SECLEVEL=0`).
///
/// # Errors
/// [`LabError::Spawn`] if openssl is not installed, [`LabError::Program`] if it refuses.
pub fn rsa_1024_server() -> Result<Identity> {
    let directory = tempfile::tempdir().map_err(|source| LabError::File { path: std::env::temp_dir(), source })?;
    let (certificate, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let output = Command::new(PROGRAM)
        .args(["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-days", "90", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .map_err(|source| LabError::Spawn { program: PROGRAM.to_owned(), source })?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(LabError::Program { program: PROGRAM.to_owned(), output });
    }
    Identity::from_pem("rsa-1024", &read(&certificate)?, &read(&key)?)
}

const PROGRAM: &str = "openssl";

fn read(path: &Path) -> Result<Zeroizing<String>> {
    fs::read_to_string(path).map(Zeroizing::new).map_err(|source| LabError::File { path: path.to_owned(), source })
}

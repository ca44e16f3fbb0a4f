//! Where the runner's source comes from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;
use sha2::{Digest, Sha256};

use crate::programs::output_of;

/// The crate that carries BoringSSL's source, tests included. Later versions of it need Go 1.27.
pub(super) const CRATE: &str = "boring-sys";
pub(super) const VERSION: &str = "5.2.0";
/// Of the crate as the registry serves it.
const SHA256: &str = "6993efa9d9f0ebf3b0c02c8e868cfe37d0854cd021d51204480a91ce23d6e444";

/// What the runner consists of: its packages, and the module that they belong to.
const PARTS: &[&str] = &["go.mod", "go.sum", "ssl/test/runner", "util/testresult"];

/// Seven keys that the runner embeds and the crate leaves out, as `openssl genpkey` makes them, in PKCS #8. Which keys they
/// are is of no matter to the tests.
const KEYS: &[(&str, &[&str])] = &[
    ("rsa_1024_key.pem", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"]),
    ("rsa_2048_key.pem", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
    ("ecdsa_p256_key.pem", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    ("ecdsa_p384_key.pem", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
    ("ecdsa_p521_key.pem", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]),
    ("ed25519_key.pem", &["-algorithm", "ED25519"]),
    ("channel_id_key.pem", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
];

/// Puts the runner's source into `folder`; returns the folder of its package.
pub(super) fn unpack(folder: &Path) -> anyhow::Result<PathBuf> {
    let archive = fetch(&folder.join("fetch"))?;
    let found = Sha256::digest(fs::read(&archive).with_context(|| format!("cannot read {}", archive.display()))?);
    let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
    if found != SHA256 {
        bail!("{} has the SHA-256 {found}, not {SHA256}", archive.display());
    }

    let source = folder.join("source");
    fs::create_dir_all(&source)?;
    let prefix = format!("{CRATE}-{VERSION}/deps/boringssl");
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&archive).arg("-C").arg(&source).arg("--strip-components=3");
    tar.args(PARTS.iter().map(|part| format!("{prefix}/{part}")));
    output_of(&mut tar)?;

    let package = source.join("ssl/test/runner");
    for (name, arguments) in KEYS {
        let mut openssl = Command::new("openssl");
        output_of(openssl.arg("genpkey").args(*arguments).arg("-quiet").arg("-out").arg(package.join(name)))?;
    }
    Ok(package)
}

/// Has Cargo fetch the crate, by a manifest of its own that nothing else sees.
fn fetch(folder: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder.join("src"))?;
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"fetch\"\nedition = \"2024\"\n\n[dependencies]\n{CRATE} = \"={VERSION}\"\n\n[workspace]\n"
    );
    fs::write(&manifest, text)?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let metadata = MetadataCommand::new().manifest_path(manifest).exec().with_context(|| format!("cannot fetch {CRATE}"))?;
    let package = metadata.packages.iter().find(|package| package.name == CRATE);
    let package = package.with_context(|| format!("Cargo did not fetch {CRATE}"))?;
    // Cargo keeps registry/src/REGISTRY/NAME-VERSION/ beside registry/cache/REGISTRY/NAME-VERSION.crate.
    let unpacked = package.manifest_path.as_std_path().parent().context("a manifest has a folder")?;
    let registry = unpacked.parent().context("a crate has a registry")?;
    let cache = registry.parent().and_then(Path::parent).context("a registry has a cache")?.join("cache");
    let name = registry.file_name().context("a registry has a name")?;
    Ok(cache.join(name).join(format!("{CRATE}-{VERSION}.crate")))
}

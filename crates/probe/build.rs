//! Reads from Cargo.lock the versions of the libraries that do the work, for the provenance of results.

use std::path::Path;

fn main() {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let lock = Path::new(&manifest).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(&lock).unwrap_or_default();
    for (variable, package) in
        [("REPRISE_AWS_LC_RS", "aws-lc-rs"), ("REPRISE_RING", "ring"), ("REPRISE_WEBPKI", "rustls-webpki")]
    {
        println!("cargo::rustc-env={variable}={}", version(&text, package).unwrap_or("unknown"));
    }
}

/// The version of a package in a lock file, where it stands on the line after its name.
fn version<'l>(lock: &'l str, package: &str) -> Option<&'l str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

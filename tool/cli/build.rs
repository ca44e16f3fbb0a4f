//! Notes, for the provenance of results, the commit that this is built from, and the versions of the libraries that do the work.

use std::path::Path;
use std::process::Command;

fn main() {
    note_commit();
    note_libraries();
    println!("cargo::rustc-env=REPRISE_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}

fn note_commit() {
    // Wherever the checkout keeps them: a file that is not there would have it built anew each time.
    println!("cargo::rerun-if-changed=build.rs");
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=REPRISE_COMMIT={commit}");
    }
}

/// As Cargo.lock has them: the package's own in its archive, with which `cargo install --locked` builds, else the workspace's.
fn note_libraries() {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let own = Path::new(&manifest).join("Cargo.lock");
    let lock = if own.exists() { own } else { Path::new(&manifest).join("../../Cargo.lock") };
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(&lock).unwrap_or_default();
    let libraries = [
        ("REPRISE_AWS_LC_RS", "aws-lc-rs"),
        ("REPRISE_RING", "ring"),
        ("REPRISE_RUSTLS", "rustls"),
        ("REPRISE_WEBPKI", "rustls-webpki"),
    ];
    for (variable, package) in libraries {
        println!("cargo::rustc-env={variable}={}", version(&text, package).unwrap_or("unknown"));
    }
}

/// What git prints; `None` where there is no git, or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The version of a package in a lock file, where it stands on the line after its name.
fn version<'l>(lock: &'l str, package: &str) -> Option<&'l str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

//! Finds the version of rustls that this build has, since a ticket's content is in an encoding of rustls' own: nodes share
//! sessions within one version. Cargo allows one 0.23 in a build, and the lock file beside the target folder names it.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folders = ["OUT_DIR", "CARGO_MANIFEST_DIR"].map(|name| PathBuf::from(env::var_os(name).unwrap_or_default()));
    let locks = folders.iter().flat_map(|folder| folder.ancestors()).map(|folder| folder.join("Cargo.lock"));
    let found = locks.into_iter().find_map(|lock| Some((version(&lock)?, lock)));
    if let Some((_, lock)) = &found {
        println!("cargo::rerun-if-changed={}", lock.display());
    }
    let version = found.map_or_else(|| "unknown".to_owned(), |(version, _)| version);
    println!("cargo::rustc-env=REPRISE_RUSTLS_VERSION={version}");
}

fn version(lock: &Path) -> Option<String> {
    let text = fs::read_to_string(lock).ok()?;
    let mut versions = text.split("[[package]]").filter_map(|package| {
        let field = |name: &str| package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        (field("name")? == "\"rustls\"").then(|| field("version"))?
    });
    versions.find(|version| version.starts_with("\"0.23.")).map(|version| version.trim_matches('"').to_owned())
}

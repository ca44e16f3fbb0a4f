//! Finds the version of rustls that this build has, since a ticket's content is in an encoding of rustls' own: nodes share
//! sessions within one version. Cargo allows one 0.23 in a build, and the lock file of this workspace names it. Where this
//! package is built for another project, nothing says which lock file holds: such a build shares sessions with no other.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let [own, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"].map(|name| PathBuf::from(env::var_os(name).unwrap_or_default()));
    let [own_lock, built_for] = [&own, &out].map(|folder| lock_above(folder));
    for lock in [&own_lock, &built_for].into_iter().flatten() {
        println!("cargo::rerun-if-changed={}", lock.display());
    }
    let is_own_workspace = !is_copy(&own) && built_for.is_none_or(|lock| own_lock.as_ref() == Some(&lock));
    let version = own_lock.filter(|_| is_own_workspace).and_then(|lock| version(&lock));
    println!("cargo::rustc-env=REPRISE_RUSTLS_VERSION={}", version.unwrap_or_else(|| of_this_build(&out)));
}

fn lock_above(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join("Cargo.lock")).find(|lock| lock.exists())
}

/// Whether Cargo or a vendor folder brought this package here, for another project.
fn is_copy(folder: &Path) -> bool {
    let parts: Vec<_> = folder.iter().collect();
    let is_cargos = parts.windows(2).any(|pair| pair == ["git", "checkouts"] || pair == ["registry", "src"]);
    is_cargos || [".cargo_vcs_info.json", ".cargo-checksum.json"].iter().any(|name| folder.join(name).exists())
}

/// The folder alone would be the same on another machine.
fn of_this_build(out: &Path) -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("of the build at {} in {}", time.as_nanos(), out.display())
}

fn version(lock: &Path) -> Option<String> {
    let text = fs::read_to_string(lock).ok()?;
    let mut versions = text.split("[[package]]").filter_map(|package| {
        let field = |name: &str| package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        (field("name")? == "\"rustls\"").then(|| field("version"))?
    });
    versions.find(|version| version.starts_with("\"0.23.")).map(|version| version.trim_matches('"').to_owned())
}

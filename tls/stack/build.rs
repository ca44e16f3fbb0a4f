//! Notes the version of rustls, as the checkout's Cargo.lock has it: rustls does not say it itself. A copy that Cargo made for
//! another project has no lock file that counts there.

use std::path::Path;

fn main() {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let lock = match Path::new(&manifest).join(".cargo_vcs_info.json").exists() {
        true => return println!("cargo::rustc-env=REPRISE_RUSTLS=unknown"),
        false => Path::new(&manifest).join("../../Cargo.lock"),
    };
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(&lock).unwrap_or_default();
    let version = text.split("name = \"rustls\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next());
    println!("cargo::rustc-env=REPRISE_RUSTLS={}", version.unwrap_or("unknown"));
}

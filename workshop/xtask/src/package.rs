//! Does every package stand on its own? Packs those that are published, unpacks the archives into a workspace of their own, and
//! builds and tests what is in them: nothing there can read a file of this checkout.

use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};
use cargo_metadata::Package;

use crate::programs::run;
use crate::workspace::Workspace;

/// Packs, and unless told not to verify, unpacks, builds and tests. Fails where an archive lacks something.
pub(crate) fn check(workspace: &Workspace, no_verify: bool) -> anyhow::Result<()> {
    // Cargo says an empty list of registries for `publish = false`.
    let (published, kept): (Vec<_>, Vec<_>) = workspace
        .metadata
        .workspace_packages()
        .into_iter()
        .partition(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty()));
    let target = workspace.metadata.target_directory.as_std_path();
    for package in &published {
        licences_are_the_checkouts(workspace, package)?;
    }
    let mut pack = workspace.cargo(&["package", "--workspace", "--locked", "--no-verify", "--allow-dirty", "--quiet"]);
    pack.args(kept.iter().flat_map(|package| ["--exclude", &package.name]));
    run(&mut pack)?;
    if no_verify {
        return Ok(());
    }

    // A place of its own in the target directory, which holds what both need. Cargo gives all files of an archive one old date, by
    // which it would take changed ones for those of the last time: `tar -m`.
    let folder = target.join("packages");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let (mut members, mut patches) = (String::new(), String::new());
    for package in published {
        let (name, archive) = (&package.name, format!("{}-{}", package.name, package.version));
        let file = target.join("package").join(format!("{archive}.crate"));
        run(Command::new("tar").arg("-xzmf").arg(&file).arg("-C").arg(&folder))?;
        members += &format!("    \"{archive}\",\n");
        patches += &format!("{name} = {{ path = \"{archive}\" }}\n");
    }
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n[patch.crates-io]\n{patches}");
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(workspace.root().join("Cargo.lock"), folder.join("Cargo.lock"))?;

    // First as others build them, without the features that tests ask for.
    for command in ["check", "test"] {
        let mut cargo = workspace.cargo(&[command, "--workspace", "--quiet"]);
        run(cargo.current_dir(&folder).env("CARGO_TARGET_DIR", target))?;
    }
    Ok(())
}

/// Both licences ask that their text goes along. A link to the root's would not survive where a checkout is copied without links.
fn licences_are_the_checkouts(workspace: &Workspace, package: &Package) -> anyhow::Result<()> {
    let folder = package.manifest_path.parent().context("a manifest has a folder")?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let (kept, text) = (folder.join(name), fs::read(workspace.root().join(name))?);
        ensure!(fs::read(&kept).is_ok_and(|copy| copy == text), "{kept} is not a copy of the checkout's {name}");
    }
    Ok(())
}

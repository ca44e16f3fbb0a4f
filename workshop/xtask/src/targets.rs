//! Does it compile where this machine cannot run it? `cargo check` of the program for other systems.
//!
//! Build scripts of the crypto libraries compile C for the target. `cargo check` links nothing, so what they make is never
//! read: a stand-in for the C compiler, which writes empty files, will do. No cross compiler is needed, nor Apple's SDK.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, ensure};

use crate::programs::{output_of, run};
use crate::workspace::Workspace;

/// One of each family of systems: the differences within one are not ours.
const TARGETS: [&str; 2] = ["x86_64-pc-windows-gnu", "x86_64-apple-darwin"];

/// Answers what build scripts ask a compiler about itself, and writes what it is told to write.
const COMPILER: &str = "#!/bin/sh
for argument in \"$@\"; do case $argument in -E | -v | --version) echo 'clang version 18.0.0'; exit 0 ;; esac; done
while [ $# -gt 0 ]; do
    case $1 in -o) : >\"$2\"; shift ;; -o*) : >\"${1#-o}\" ;; esac
    shift
done
";

const ARCHIVER: &str = "#!/bin/sh
for argument in \"$@\"; do case $argument in *.a) : >\"$argument\" ;; esac; done
";

/// Checks the program for every target. Fails when one does not compile.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let [compiler, archiver] = [("cc", COMPILER), ("ar", ARCHIVER)].map(|(name, text)| (folder.path().join(name), text));
    write_program(&compiler.0, compiler.1)?;
    write_program(&archiver.0, archiver.1)?;
    for target in TARGETS {
        if !is_installed(target)? {
            // Tests that lack something say the same.
            ensure!(env::var_os("REPRISE_REQUIRE_SERVERS").is_none(), "{target}: its standard library cannot be installed");
            println!("NOT RUN: needs the standard library of {target}");
            continue;
        }
        let suffix = target.replace('-', "_");
        let mut check = workspace.cargo(&["check", "--locked", "--quiet", "--package", "reprise-cli", "--target", target]);
        check
            .env(format!("CC_{suffix}"), &compiler.0)
            .env(format!("CXX_{suffix}"), &compiler.0)
            .env(format!("AR_{suffix}"), &archiver.0)
            // Otherwise Apple's tools are asked where their SDK is.
            .env("SDKROOT", "/");
        run(&mut check).with_context(|| format!("the program does not compile for {target}"))?;
        println!("{target}: compiles");
    }
    Ok(())
}

fn write_program(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text)?;
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

/// Installs the standard library of a target where that is needed and possible.
fn is_installed(target: &str) -> anyhow::Result<bool> {
    let sysroot = output_of(Command::new("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(target).join("lib").is_dir() {
        return Ok(true);
    }
    let added = Command::new("rustup").args(["target", "add", target]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(added.is_ok_and(|status| status.success()))
}

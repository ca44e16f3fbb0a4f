//! Programs that this one runs.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace::Workspace;

impl Workspace {
    /// Cargo, at the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).current_dir(self.root());
        cargo
    }
}

/// Runs a program that prints what it has to say.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| cannot_run(command))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// Runs a program for what it prints to standard output; an error holds what it printed to standard error.
pub(crate) fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| cannot_run(command))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed:\n{said}", command.get_program().display());
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", command.get_program().display()))
}

fn cannot_run(command: &Command) -> String {
    format!("cannot run {}: is it installed?", command.get_program().display())
}

//! The table of servers in the guide, written by the test that holds each of them against its own account.

use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace::Workspace;

/// Runs the test, with every server required, and has it write what it measured. Without this command the same test
/// compares what it measures with what is written.
pub(crate) fn write(workspace: &Workspace) -> anyhow::Result<()> {
    let page = workspace.root().join(PAGE);
    let written =
        || fs::metadata(&page).and_then(|metadata| metadata.modified()).with_context(|| format!("cannot read {PAGE}"));
    let before = written()?;
    let status = Command::new(env!("CARGO"))
        .args(["test", "--package", "reprise-cli", "--test", "measure", TEST, "--", "--exact", "--nocapture"])
        .env("REPRISE_REQUIRE_SERVERS", "1")
        .env("REPRISE_WRITE_SERVERS", "1")
        .current_dir(workspace.root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the table is as it was: a server is missing, or its account is not ours");
    ensure!(written()? != before, "no test wrote {PAGE}: is it still called {TEST}?");
    println!("wrote {PAGE}");
    Ok(())
}

const PAGE: &str = "docs/guide/8-servers.md";
const TEST: &str = "every_server::every_server_agrees_connection_for_connection";

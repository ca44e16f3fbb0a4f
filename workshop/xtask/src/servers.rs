//! What tests write of the guide: the command line, what servers do, and causes as they were seen on real servers.

use std::fs;

use anyhow::{Context, ensure};

use crate::programs::run;
use crate::workspace::Workspace;

/// A page with a table that tests write.
pub(crate) struct Table {
    page: &'static str,
    /// What follows `cargo test --workspace`.
    test: &'static [&'static str],
    /// What tells the tests to write.
    variable: &'static str,
}

/// What each server can do, written by the test that holds each of them against its own account.
pub(crate) const SERVERS: Table = Table {
    page: "docs/guide/21-servers.md",
    test: &[
        "--test",
        "cli",
        "measure::every_server::every_server_agrees_connection_for_connection",
        "--",
        "--exact",
        "--nocapture",
    ],
    variable: "REPRISE_WRITE_SERVERS",
};

/// Every cause on every server that tests misconfigure.
pub(crate) const CAUSES_SEEN: Table =
    Table { page: "docs/guide/22-causes-seen.md", test: &["--test", "cli", "diagnose::"], variable: "REPRISE_WRITE_CAUSES" };

/// Every command and flag.
pub(crate) const COMMAND_LINE: Table = Table {
    page: "docs/guide/20-command-line.md",
    test: &["--bin", "reprise", "command_line_page::the_page_is_what_the_program_says"],
    variable: "REPRISE_WRITE_COMMAND_LINE",
};

/// Runs the tests, with every server required, and has them write what they saw. Without this command the same tests compare
/// what they see with what is written.
pub(crate) fn write(workspace: &Workspace, table: &Table) -> anyhow::Result<()> {
    let Table { page, test, variable } = table;
    let path = workspace.root().join(page);
    let written =
        || fs::metadata(&path).and_then(|metadata| metadata.modified()).with_context(|| format!("cannot read {page}"));
    let before = written()?;
    let mut tests = workspace.cargo(&["test", "--workspace", "--locked"]);
    run(tests.args(*test).env("REPRISE_REQUIRE_SERVERS", "1").env(variable, "1"))
        .with_context(|| format!("{page} is not what tests see"))?;
    ensure!(written()? != before, "no test wrote {page}: is there still one of {test:?}?");
    println!("wrote {page}");
    Ok(())
}

//! BoGo, the TLS test runner of BoringSSL, against the engine: `workshop/bogo` is what it drives.
//!
//! Its source comes with a crate that is fetched, never depended on. It is built once for each version and kept under
//! `target/bogo`.

mod disabled;
mod runner;
mod source;
mod tally;

use std::fs;
use std::time::Instant;

use anyhow::{Context, bail};

use crate::programs::run as run_program;
use crate::workspace::Workspace;
use disabled::Disabled;
use tally::Tally;

/// Runs the tests whose names match one of `patterns`, all if there is none, and prints the counts.
///
/// Fails if a test fails that is not disabled, if a disabled one passes, and, when all were run, if a pattern disables
/// none.
pub(crate) fn run(workspace: &Workspace, patterns: &[String]) -> anyhow::Result<()> {
    let began = Instant::now();
    let runner = runner::build(workspace)?;
    // With the features that the workspace's tests choose: of one package alone Cargo would compile most dependencies again.
    let chosen = ["--workspace", "--bin", "reprise-bogo-shim", "--test", "workshop"];
    run_program(workspace.cargo(&["build", "--quiet", "--locked"]).args(chosen))?;
    let shim = workspace.metadata.target_directory.as_std_path().join("debug/reprise-bogo-shim");
    let built = began.elapsed();

    let configuration = workspace.root().join("workshop/bogo/config.json");
    let text = fs::read_to_string(&configuration).context("cannot read workshop/bogo/config.json")?;
    let disabled = Disabled::parse(&text).context("workshop/bogo/config.json")?;
    let results = runner.run(&shim, &configuration, patterns)?;
    let tally = Tally::of(&results.tests, &disabled, patterns.is_empty());
    print!("{tally}");
    println!("{} s, of which {} s to build", began.elapsed().as_secs(), built.as_secs());

    let faults = tally.faults();
    if !faults.is_empty() {
        for (name, _) in tally.failed.iter().take(EXPLAINED) {
            println!("\n{}", results.explanation(name));
        }
        bail!("BoGo found faults:\n  {}", faults.join("\n  "));
    }
    Ok(())
}

/// Failed tests whose output is shown.
const EXPLAINED: usize = 10;

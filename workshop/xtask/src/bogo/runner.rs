//! The runner: built once, run with our shim, its results read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use super::source;
use crate::programs::output_of;
use crate::workspace::Workspace;

pub(super) struct Runner {
    program: PathBuf,
    /// Its package, where it looks for what it is given by relative paths.
    package: PathBuf,
    folder: PathBuf,
}

/// How each test ended, and what was printed.
pub(super) struct Results {
    pub(super) tests: BTreeMap<String, Ended>,
    log: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    Failed,
    /// The shim does not implement what a flag asks for.
    Unimplemented,
}

/// Fetches and builds it, unless that has been done.
pub(super) fn build(workspace: &Workspace) -> anyhow::Result<Runner> {
    let folder = workspace.metadata.target_directory.as_std_path().join("bogo");
    let version = folder.join(source::VERSION);
    let runner =
        Runner { program: version.join("runner"), package: version.join("source/ssl/test/runner"), folder: folder.clone() };
    if runner.program.exists() {
        return Ok(runner);
    }
    if Command::new("go").arg("version").output().is_err() {
        bail!("BoGo is written in Go, and there is no 'go' in PATH: install Go 1.25 or later (https://go.dev/dl)");
    }
    println!("building the runner of {} {}", source::CRATE, source::VERSION);
    let package = source::unpack(&version)?;
    // Under another name first, so that one that is there is whole.
    let unfinished = version.join("runner.unfinished");
    output_of(Command::new("go").args(["test", "-c", "-o"]).arg(&unfinished).arg(".").current_dir(package))?;
    fs::rename(unfinished, &runner.program)?;
    Ok(runner)
}

impl Runner {
    /// Runs every test that matches, the disabled ones too: one that would pass is not to stay disabled.
    pub(super) fn run(&self, shim: &Path, configuration: &Path, patterns: &[String]) -> anyhow::Result<Results> {
        let (results, log) = (self.folder.join("results.json"), self.folder.join("log.txt"));
        let _ = fs::remove_file(&results);
        let mut command = Command::new(&self.program);
        command.current_dir(&self.package).args(["-pipe", "-include-disabled", "-allow-unimplemented"]);
        command.arg("-shim-path").arg(shim).arg("-shim-config").arg(configuration).arg("-json-output").arg(&results);
        if !patterns.is_empty() {
            command.arg("-test").arg(patterns.join(";"));
        }
        let file = fs::File::create(&log)?;
        command.stdout(file.try_clone()?).stderr(file);
        // It fails as soon as one test does, disabled or not: its results say which.
        command.status().context("cannot run the runner")?;
        let log = fs::read_to_string(&log).context("cannot read the runner's log")?;
        let Ok(text) = fs::read_to_string(&results) else { bail!("the runner gave no results:\n{log}") };
        Ok(Results { tests: parse(&text)?, log })
    }
}

impl Results {
    /// What the runner printed about a test that failed.
    pub(super) fn explanation(&self, name: &str) -> &str {
        let begin = self.log.find(&format!("FAILED ({name})\n")).unwrap_or(self.log.len());
        let section = self.log.get(begin..).unwrap_or_default();
        // Each ends where the next line in the same manner begins.
        let ends = ["\nPASSED (", "\nFAILED (", "\nUNIMPLEMENTED (", "\nSTARTED ("];
        let end = ends.iter().filter_map(|next| section.find(next)).min().unwrap_or(section.len());
        section.get(..end).unwrap_or_default()
    }
}

/// Reads the results in Chromium's JSON Test Results Format.
fn parse(text: &str) -> anyhow::Result<BTreeMap<String, Ended>> {
    let document: Value = serde_json::from_str(text).context("the runner's results are no JSON")?;
    let tests = document.get("tests").and_then(Value::as_object).context("the runner's results have no tests")?;
    tests
        .iter()
        .map(|(name, test)| {
            let ended = match test.get("actual").and_then(Value::as_str) {
                Some("PASS") => Ended::Passed,
                Some("FAIL") => Ended::Failed,
                Some("SKIP") => Ended::Unimplemented,
                other => bail!("{name} ended in a way that is not known: {other:?}"),
            };
            Ok((name.clone(), ended))
        })
        .collect()
}

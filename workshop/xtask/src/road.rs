//! How much code one run of a command goes through: its files, and the lines of them that were executed.
//!
//! The program is built with LLVM's instrumentation for coverage and run once, as a user would run it, against a server of the lab
//! on loopback. A line counts as executed if a region of code that begins or goes on in it was.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use anyhow::Context;
use clap::ValueEnum;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};

use crate::programs::run;
use crate::workspace::Workspace;

/// A command whose road is shown.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Walked {
    Measure,
    Diagnose,
    Load,
}

impl Walked {
    /// What is typed before the target and the server's authority.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Measure => &["measure", "--count", "20"],
            Self::Diagnose => &["diagnose"],
            Self::Load => &["load", "--verify", "--connections", "4", "--duration", "2s"],
        }
    }
}

/// Crates of messages and states, which a reader of a road leaves aside.
const LEAVES: [&str; 2] = ["tls/engine", "tls/wire"];

/// Files of which a line was executed.
#[derive(Default, Clone, Copy)]
struct Length {
    files: usize,
    /// Their lines that were executed.
    executed: usize,
    /// All of their lines that could be.
    lines: usize,
}

impl Length {
    fn add(self, other: Self) -> Self {
        Self { files: self.files + other.files, executed: self.executed + other.executed, lines: self.lines + other.lines }
    }
}

/// Runs the command and prints the length of its road by crate, in all, and without the [`LEAVES`].
pub(crate) fn show(workspace: &Workspace, command: Walked) -> anyhow::Result<()> {
    let folder = workspace.metadata.target_directory.as_std_path().join("road");
    fs::create_dir_all(&folder)?;
    let (report, ca) = (folder.join("road.lcov"), folder.join("ca.pem"));
    let authority = Authority::new()?;
    fs::write(&ca, authority.pem())?;
    let identity = authority.server(&ServerSpec::new(KeyKind::P256))?;
    let config = EmbeddedConfig { resumption: EmbeddedResumption::Ticket, ..EmbeddedConfig::new(identity) };
    let server = EmbeddedServer::start(config)?;

    // What an earlier run left behind would count too.
    let mut clean = workspace.cargo(&["llvm-cov", "clean", "--profraw-only"]);
    let mut walk = workspace.cargo(&["llvm-cov", "run", "--locked", "--quiet", "--bin", "reprise", "--lcov"]);
    walk.arg("--output-path").arg(&report).arg("--").args(command.arguments()).arg(server.address().to_string());
    // Coverage needs no debug information, which would take a gigabyte.
    walk.arg("--ca").arg(&ca).stdout(Stdio::null()).env("CARGO_PROFILE_DEV_DEBUG", "false");
    for program in [&mut clean, &mut walk] {
        run(program).context("is there cargo-llvm-cov? cargo install --locked cargo-llvm-cov")?;
    }
    let lcov = fs::read_to_string(&report).context("cargo-llvm-cov wrote no report")?;
    print(&lengths(&lcov, &format!("{}/", workspace.root().display())));
    println!("line by line: {}", report.display());
    Ok(())
}

/// The length of the road in each crate, by a report in LCOV's format.
fn lengths(lcov: &str, root: &str) -> BTreeMap<String, Length> {
    let mut lengths: BTreeMap<String, Length> = BTreeMap::new();
    for file in lcov.split("end_of_record") {
        let source = file.lines().find_map(|line| line.strip_prefix("SF:")?.strip_prefix(root));
        let Some((name, _)) = source.and_then(|path| path.split_once("/src/")) else { continue };
        let counts = || file.lines().filter_map(|line| line.strip_prefix("DA:")?.split(',').nth(1));
        let executed = counts().filter(|count| *count != "0").count();
        if executed > 0 {
            let length = lengths.entry(name.to_owned()).or_default();
            *length = length.add(Length { files: 1, executed, lines: counts().count() });
        }
    }
    lengths
}

fn print(lengths: &BTreeMap<String, Length>) {
    let sum = |counts: fn(&str) -> bool| {
        let counted = lengths.iter().filter(|(name, _)| counts(name));
        counted.fold(Length::default(), |sum, (_, length)| sum.add(*length))
    };
    println!("{:24} {:>5} {:>9} {:>8}", "crate", "files", "executed", "of lines");
    let crates = lengths.iter().map(|(name, length)| (name.clone(), *length));
    let without = format!("without {}", LEAVES.join(" and "));
    let sums = [("all".to_owned(), sum(|_| true)), (without, sum(|name| !LEAVES.contains(&name)))];
    for (name, Length { files, executed, lines }) in crates.chain(sums) {
        println!("{name:24} {files:>5} {executed:>9} {lines:>8}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executed_lines_are_counted_by_crate() {
        let lcov = "SF:/r/tool/cli/src/a.rs\nDA:1,2\nDA:2,0\nend_of_record\nSF:/r/tool/cli/src/b.rs\nDA:1,0\nend_of_record\n\
                    SF:/r/tls/wire/src/c.rs\nDA:3,1\nDA:4,9\nend_of_record\nSF:/elsewhere/d.rs\nDA:1,1\nend_of_record\n";
        let found = lengths(lcov, "/r/");
        let found: Vec<_> =
            found.iter().map(|(name, length)| (name.as_str(), length.files, length.executed, length.lines)).collect();
        assert_eq!(found, [("tls/wire", 1, 2, 2), ("tool/cli", 1, 1, 2)]);
    }
}

//! Instructions of a process, counted by valgrind's callgrind.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use reprise_model::document::{CompareCounting, CompareInstructions};
use reprise_pairs::{Amount, Apart, Failed, Job, Launcher, SideProcess};
use thiserror::Error;

/// Two runs of different length: their difference is free of what a process does only once.
const SHORT: u32 = 2;
const LONG: u32 = 12;

/// How many times as long a process takes under valgrind, at most.
const SLOWER: u32 = 10;

/// valgrind, as it is installed.
#[derive(Clone, Debug)]
pub struct Callgrind {
    version: String,
}

/// There is no valgrind.
#[derive(Debug, Error)]
#[error("valgrind cannot be run, which counts instructions: install it ('apt-get install valgrind')")]
pub struct NoValgrind(#[source] io::Error);

impl Callgrind {
    /// Looks for it.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn find() -> Result<Self, NoValgrind> {
        let said = Command::new("valgrind").arg("--version").output().map_err(NoValgrind)?;
        Ok(Self { version: String::from_utf8_lossy(&said.stdout).trim().to_owned() })
    }

    /// The arguments of valgrind by which it counts, and writes to `out` when the process ends.
    pub fn arguments(out: &Path) -> [OsString; 2] {
        let mut to = OsString::from("--callgrind-out-file=");
        to.push(out);
        ["--tool=callgrind".into(), to]
    }

    /// What it has counted.
    ///
    /// # Errors
    /// If there is no such file, or no count in it.
    pub fn total(out: &Path) -> io::Result<u64> {
        let profile = fs::read_to_string(out)?;
        let mut totals = profile.lines().filter_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
        let total = totals.next().and_then(|count| count.trim().parse().ok());
        total.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "callgrind's file has no totals"))
    }

    pub(crate) fn document(&self) -> CompareCounting {
        CompareCounting { tool: self.version.clone(), connections: u64::from(LONG - SHORT) }
    }

    /// Instructions of each side's process in one connection of a case, over loopback: one side under valgrind, the other not.
    pub(crate) fn count(&self, launcher: &Launcher, job: &Job) -> Result<CompareInstructions, Failed> {
        let of_one = |is_client| {
            let (short, long) = (total(launcher, job, is_client, SHORT)?, total(launcher, job, is_client, LONG)?);
            Ok::<u64, Failed>(long.saturating_sub(short) / u64::from(LONG - SHORT))
        };
        Ok(CompareInstructions { client: of_one(true)?, server: of_one(false)? })
    }
}

fn total(launcher: &Launcher, job: &Job, is_client: bool, connections: u32) -> Result<u64, Failed> {
    let broken = |error: io::Error| Failed::broken(format!("its instructions cannot be counted: {error}"));
    let folder = tempfile::tempdir().map_err(broken)?;
    let out = folder.path().join("callgrind.out");
    let patient = Launcher { patience: launcher.patience * SLOWER, ..launcher.clone() };
    let mut arguments = Callgrind::arguments(&out).to_vec();
    arguments.push(launcher.program.clone().into());
    arguments.extend(launcher.arguments.iter().cloned());
    let counted = Launcher { program: "valgrind".into(), arguments, ..patient.clone() };
    // Whoever is counted does not read along: its peer says what kind it was.
    let counted = SideProcess::new(&counted, None, false);
    let other = SideProcess::new(&patient, None, true);
    let (client, server) = if is_client { (counted, other) } else { (other, counted) };
    let mut apart = Apart::new(client, server);
    let (cell, _) = apart.prepare_sides(job.clone())?;
    let batch = apart.run(cell, Amount::Counted(connections))?.batch();
    if batch.kinds != [(job.case.kind, connections)] {
        return Err(Failed::because("handshakes of another kind were made while instructions were counted"));
    }
    let counted = if is_client { &mut apart.client } else { &mut apart.server };
    counted.worker.finish()?;
    Callgrind::total(&out).map_err(broken)
}

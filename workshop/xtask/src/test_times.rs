//! What the tests cost: the processor time and the time by the clock of each test program.
//!
//! Every program runs alone, as `cargo test` runs it, with all that it starts: servers, clients and compilers count.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use cargo_metadata::{Message, TargetKind};
use nix::sys::resource::{UsageWho, getrusage};

use crate::workspace::Workspace;

/// A compiled test program.
struct Program {
    package: String,
    target: String,
    command: Command,
}

/// Builds every test program, runs those whose `package::target` holds one of `wanted` (all if there is none), and prints
/// a line for each, the most expensive first. Fails if one fails, after all have had their turn.
pub(crate) fn print(workspace: &Workspace, wanted: &[String]) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for mut program in built(workspace)? {
        let name = format!("{}::{}", program.package, program.target);
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        let (began, used) = (Instant::now(), used_by_children()?);
        let output = program.command.output().with_context(|| format!("cannot run {name}"))?;
        let (elapsed, used) = (began.elapsed(), used_by_children()? - used);
        if !output.status.success() {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            failed.push(name.clone());
        }
        lines.push((used, elapsed, passed(&String::from_utf8_lossy(&output.stdout)), name));
    }
    lines.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    println!("{:>9} {:>9} {:>6}  program", "CPU s", "clock s", "tests");
    for (used, elapsed, tests, name) in &lines {
        println!("{:9.1} {:9.1} {tests:6}  {name}", used.as_secs_f64(), elapsed.as_secs_f64());
    }
    let (used, elapsed): (Duration, Duration) =
        (lines.iter().map(|line| line.0).sum(), lines.iter().map(|line| line.1).sum());
    let tests: u64 = lines.iter().map(|line| line.2).sum();
    println!("{:9.1} {:9.1} {tests:6}  all {}", used.as_secs_f64(), elapsed.as_secs_f64(), lines.len());
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// The test programs of the workspace, as `cargo test --workspace` builds them; documentation's examples have none.
fn built(workspace: &Workspace) -> anyhow::Result<Vec<Program>> {
    let mut cargo =
        workspace.cargo(&["test", "--workspace", "--locked", "--no-run", "--message-format", "json-render-diagnostics"]);
    let output = cargo.stderr(std::process::Stdio::inherit()).output().context("cannot run cargo")?;
    ensure!(output.status.success(), "the tests do not compile");
    let mut programs = Vec::new();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        let (Some(executable), true) = (&artifact.executable, artifact.profile.test) else { continue };
        // Benches are built to be tested, and have nothing to say of it.
        if artifact.target.kind.contains(&TargetKind::Bench) {
            continue;
        }
        let folder = artifact.manifest_path.parent().context("a manifest without a folder")?;
        let mut command = Command::new(executable);
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).env("CARGO", env!("CARGO"));
        let package = workspace.metadata.packages.iter().find(|package| package.id == artifact.package_id);
        let package = package.context("a test of a package that is not the workspace's")?.name.to_string();
        programs.push(Program { package, target: artifact.target.name, command });
    }
    Ok(programs)
}

/// The processor time, of user and system, of all programs that ended and were waited for.
fn used_by_children() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let of = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec().unsigned_abs(), 1000 * u32::try_from(time.tv_usec()).unwrap_or(0))
    };
    Ok(of(usage.user_time()) + of(usage.system_time()))
}

/// The tests that passed, as libtest counts them: "test result: ok. 12 passed; ...".
fn passed(output: &str) -> u64 {
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: "));
    counts.filter_map(|line| line.split(". ").nth(1)?.split(' ').next()?.parse::<u64>().ok()).sum()
}

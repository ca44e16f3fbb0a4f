//! The shell in which a page's commands run.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use tempfile::TempDir;

/// How often a running command is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// Lines of a command's output that are worth showing when it failed.
const LAST_LINES: usize = 40;

/// Commands that work on the checkout and are therefore run at its root.
const WORKSHOP: [&str; 5] = ["cargo", "cmake", "just", "make", "reprise board"];

/// A fresh folder, and a PATH that begins with the workspace's release build. Whatever its commands leave running ends
/// when it is dropped.
pub(crate) struct Shell {
    root: PathBuf,
    folder: TempDir,
    path: OsString,
    groups: Vec<u32>,
}

/// How a command ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    Exit(i32),
    Signal,
    TimedOut,
}

impl Shell {
    pub(crate) fn new(root: &Path, release_folder: &Path) -> anyhow::Result<Self> {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![release_folder.to_owned()];
        folders.extend(env::split_paths(&inherited));
        // Servers are installed where an ordinary user's PATH does not lead.
        folders.extend(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
        Ok(Self {
            root: root.to_owned(),
            folder: tempfile::tempdir().context("cannot make a temporary folder")?,
            path: env::join_paths(folders).context("PATH cannot hold the release folder")?,
            groups: Vec::new(),
        })
    }

    /// Whether `program` would be found.
    pub(crate) fn has(&self, program: &str) -> bool {
        env::split_paths(&self.path).any(|folder| folder.join(program).is_file())
    }

    /// Runs `command` to its end or for `timeout`, and gives the last lines of what it printed.
    pub(crate) fn run(&mut self, command: &str, timeout: Duration) -> anyhow::Result<(Ended, String)> {
        // A file and not a pipe: a program left in the background would keep a pipe open.
        let mut output = tempfile::tempfile().context("cannot make a temporary file")?;
        let mut child = Command::new("bash")
            .args(["-o", "pipefail", "-c", command])
            .current_dir(if is_workshop(command) { self.root.as_path() } else { self.folder.path() })
            .env("PATH", &self.path)
            // What a command installs for its user.
            .env("XDG_DATA_HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .process_group(0)
            .spawn()
            .context("cannot run bash")?;
        self.groups.push(child.id());
        let ended = match wait(&mut child, timeout)? {
            Some(status) => status.code().map_or(Ended::Signal, Ended::Exit),
            None => {
                kill_group(child.id());
                child.wait().context("cannot wait for bash")?;
                Ended::TimedOut
            }
        };
        Ok((ended, last_lines(&mut output)?))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for &group in &self.groups {
            kill_group(group);
        }
    }
}

fn is_workshop(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().skip_while(|word| word.contains('=')).take(2).collect();
    words.first().is_some_and(|program| WORKSHOP.contains(program)) || WORKSHOP.contains(&words.join(" ").as_str())
}

fn wait(child: &mut Child, timeout: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for bash")? {
            return Ok(Some(status));
        }
        if started.elapsed() >= timeout {
            return Ok(None);
        }
        thread::sleep(GLANCE);
    }
}

/// Ends every process of a group. One that is empty already is no fault.
fn kill_group(group: u32) {
    let kill = format!("kill -KILL -- -{group}");
    let _ = Command::new("bash").args([OsStr::new("-c"), OsStr::new(&kill)]).stderr(Stdio::null()).status();
}

fn last_lines(output: &mut File) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn shell() -> Shell {
        Shell::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new("/nonexistent")).unwrap()
    }

    #[test]
    fn status_and_output_are_told() {
        assert_eq!(
            shell().run("echo out; echo err >&2; exit 3", PATIENCE).unwrap(),
            (Ended::Exit(3), "out\nerr".to_owned())
        );
        assert_eq!(shell().run("kill -KILL $$", PATIENCE).unwrap().0, Ended::Signal);
    }

    #[test]
    fn a_pipeline_fails_where_any_part_fails() {
        assert_eq!(shell().run("false | true", PATIENCE).unwrap().0, Ended::Exit(1));
    }

    #[test]
    fn commands_of_a_page_share_a_folder_that_is_not_the_checkout() {
        let mut shell = shell();
        assert_eq!(shell.run("echo 1 > file", PATIENCE).unwrap().0, Ended::Exit(0));
        assert_eq!(shell.run("cat file", PATIENCE).unwrap().1, "1");
        assert!(!shell.root.join("file").exists());
    }

    #[test]
    fn cargo_runs_at_the_root() {
        assert!(is_workshop("cargo test --workspace"));
        assert!(is_workshop("RUST_BACKTRACE=1 cargo test"));
        assert!(is_workshop("reprise board --quick"));
        assert!(!is_workshop("reprise measure --label=cargo"));
        assert!(!is_workshop("A=cargo"));
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        assert_eq!(shell().run("echo begun; exec tail -f /dev/null", Duration::ZERO).unwrap().0, Ended::TimedOut);
    }

    #[test]
    fn a_process_left_running_does_not_hold_up_the_page() {
        let mut shell = shell();
        let (ended, pid) = shell.run("tail -f /dev/null & echo $!", PATIENCE).unwrap();
        assert_eq!(ended, Ended::Exit(0));
        drop(shell);
        let alive = format!("kill -0 {pid} 2>/dev/null && grep -q tail /proc/{pid}/cmdline");
        let mut after = self::shell();
        let gone = (0..1000).any(|_| after.run(&alive, PATIENCE).unwrap().0 != Ended::Exit(0));
        assert!(gone, "process {pid} outlived its page");
    }

    #[test]
    fn programs_are_looked_for_on_the_path() {
        assert!(shell().has("bash"));
        assert!(!shell().has("no-such-program"));
    }
}

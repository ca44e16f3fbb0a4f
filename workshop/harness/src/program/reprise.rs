use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;
use tempfile::TempDir;

use super::{DEADLINE, Outcome, assert_valid, call_of};

/// One call of the program, in an environment without anything that it listens to.
pub struct Reprise {
    command: Command,
    /// Where the JSON document goes, for tests that leave that to the harness.
    document: Option<TempDir>,
    deadline: Duration,
}

impl Reprise {
    /// `reprise measure TARGET --json …`: the outcome holds the document.
    pub fn measure(target: impl ToString) -> Self {
        Self::new(["measure", &target.to_string()]).keeping_its_document()
    }

    /// `reprise diagnose TARGET --json …`: the outcome holds the document.
    pub fn diagnose(target: impl ToString) -> Self {
        Self::new(["diagnose", &target.to_string()]).keeping_its_document()
    }

    /// `reprise load TARGET --json …`: the outcome holds the document.
    pub fn load(target: impl ToString) -> Self {
        Self::new(["load", &target.to_string()]).keeping_its_document()
    }

    /// `reprise measure --json …`, the embedded lab.
    pub fn measure_lab() -> Self {
        Self::new(["measure"]).keeping_its_document()
    }

    /// `reprise ARGUMENTS`, nothing added.
    pub fn new(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        Self::begun_by(Command::new(program()), arguments)
    }

    /// `reprise ARGUMENTS` where no regular file takes a byte, as on a disk that is full: a limit of the process (RLIMIT_FSIZE).
    #[cfg(unix)]
    pub fn on_a_full_disk(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let mut shell = Command::new("sh");
        // Ignored, the signal leaves the error of the write.
        shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]).arg(program());
        Self::begun_by(shell, arguments)
    }

    fn begun_by(mut command: Command, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in HEARD {
            command.env_remove(name);
        }
        Self { command, document: None, deadline: DEADLINE }
    }

    /// `reprise LINE`: arguments without spaces, as one would type them.
    pub fn line(line: &str) -> Self {
        Self::new(line.split_whitespace())
    }

    /// `reprise LINE` with no TLS libraries but those that are built in or named. Many of them take long.
    pub fn without_plugins(line: &str) -> Self {
        Self::line(line).env("REPRISE_STACKS", "/nonexistent").deadline(60 * DEADLINE)
    }

    /// One more argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// More arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// More arguments, none of them with a space, as one would type them.
    pub fn flags(self, line: &str) -> Self {
        self.args(line.split_whitespace())
    }

    /// `--count`.
    pub fn count(self, count: u32) -> Self {
        self.arg("--count").arg(count.to_string())
    }

    /// `--timeout`.
    pub fn timeout(self, duration: &str) -> Self {
        self.arg("--timeout").arg(duration)
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// Runs in this directory.
    pub fn in_directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Waits longer for its end than [`DEADLINE`].
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// With this file as its standard input.
    pub fn reading(mut self, file: &Path) -> Self {
        self.command.stdin(fs::File::open(file).unwrap());
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Outcome {
        self.start().finish()
    }

    /// Runs it with `--json -`, and returns the document that it prints, which keeps its schema.
    #[track_caller]
    pub fn run_for_json(self) -> (Value, Outcome) {
        let outcome = self.args(["--json", "-"]).run();
        let document = serde_json::from_str(&outcome.page).unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr));
        assert_valid(&document);
        (document, outcome)
    }

    /// Runs it in the background.
    pub fn start(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        let stdout = child.stdout.take().map(read_in_background);
        let stderr = child.stderr.take().map(read_in_background);
        Running { call: call_of(&self.command), child, stdout, stderr, document: self.document, deadline: self.deadline }
    }

    /// Runs it with a standard output that nobody reads: its reader has gone before the first byte.
    pub fn run_into_closed_pipe(mut self) -> Outcome {
        let mut child = self.command.spawn().unwrap();
        drop(child.stdout.take());
        let stderr = child.stderr.take().map(read_in_background);
        Running {
            call: call_of(&self.command),
            child,
            stdout: None,
            stderr,
            document: self.document,
            deadline: self.deadline,
        }
        .finish()
    }

    /// With `--json …`: the outcome holds the document.
    pub fn keeping_its_document(self) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(DOCUMENT);
        Self { document: Some(directory), ..self.arg("--json").arg(path) }
    }
}

/// The program under test, which cargo builds before a test of its package. Cargo tells its path to such a test alone, not to
/// this crate; it lies beside the folder of the test.
#[must_use]
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    folder.join("reprise").with_extension(std::env::consts::EXE_EXTENSION)
}

/// What the program listens to in its environment.
const HEARD: [&str; 10] = [
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "NO_COLOR",
    "REPRISE_KEY_PASSPHRASE",
    "SSLKEYLOGFILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "RUST_BACKTRACE",
    "TERM",
];

const DOCUMENT: &str = "result.json";

/// The program at work; killed if the test gives up on it.
pub struct Running {
    call: String,
    child: Child,
    stdout: Option<Receiver<String>>,
    stderr: Option<Receiver<String>>,
    document: Option<TempDir>,
    deadline: Duration,
}

impl Running {
    /// Whether it has come to its end.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What Ctrl-C does.
    #[cfg(unix)]
    pub fn interrupt(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for its end.
    #[track_caller]
    pub fn finish(mut self) -> Outcome {
        let (call, deadline) = (std::mem::take(&mut self.call), self.deadline);
        let everything = |output: Option<Receiver<String>>| match output {
            Some(output) => {
                output.recv_timeout(deadline).unwrap_or_else(|_| panic!("{call}: still running after {deadline:?}"))
            }
            None => String::new(),
        };
        let page = everything(self.stdout.take());
        let stderr = everything(self.stderr.take());
        let status = self.child.wait().unwrap();
        let json = self.document_path().and_then(|path| fs::read_to_string(path).ok()).filter(|text| !text.is_empty());
        Outcome::new(call, status, page, stderr, json)
    }

    fn document_path(&self) -> Option<PathBuf> {
        self.document.as_ref().map(|directory| directory.path().join(DOCUMENT))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end on a thread of its own, so that a full pipe stops nobody.
fn read_in_background(mut source: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = source.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

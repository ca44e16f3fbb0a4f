//! A child process as its parent sees it: asked in turn, ended where it does not answer in time.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::message::{Answer, Failed, Outcome, Request};

/// How child processes are started.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program, most often this one.
    pub program: PathBuf,
    /// Its arguments, by which it calls [`serve_requests`](crate::serve_requests).
    pub arguments: Vec<OsString>,
    /// How long a child may take for an answer.
    pub patience: Duration,
}

/// No answer is longer.
const LONGEST_ANSWER: u64 = 1 << 20;

/// A child process, started with the first request.
pub(crate) struct Worker {
    launcher: Launcher,
    running: Option<Running>,
    /// Why it is gone: then every further request comes to the same.
    lost: Option<Failed>,
}

struct Running {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl Worker {
    pub(crate) fn new(launcher: &Launcher) -> Self {
        Self { launcher: launcher.clone(), running: None, lost: None }
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Answer, Failed> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        match self.ask_running(request) {
            Ok(Answer::Failed { outcome, reason }) => Err(Failed::new(outcome, reason)),
            Ok(answer) => Ok(answer),
            Err(Lost(failed)) => {
                self.lost = Some(failed.clone());
                self.running = None;
                Err(failed)
            }
        }
    }

    fn ask_running(&mut self, request: &Request) -> Result<Answer, Lost> {
        let broken = |error: &dyn std::fmt::Display| Lost(Failed::new(Outcome::Broken, error));
        let running = match &mut self.running {
            Some(running) => running,
            None => {
                let started = Running::start(&self.launcher).map_err(|error| broken(&error))?;
                self.running.insert(started)
            }
        };
        let mut line = serde_json::to_vec(request).map_err(|error| broken(&error))?;
        line.push(b'\n');
        // A child that is gone takes nothing: why, its end says.
        if running.requests.write_all(&line).and_then(|()| running.requests.flush()).is_err() {
            return Err(running.crashed());
        }
        match running.answers.recv_timeout(self.launcher.patience) {
            Ok(answer) => serde_json::from_str(&answer).map_err(|_| {
                let said: String = answer.chars().take(80).collect();
                Lost(Failed::new(Outcome::Broken, format!("it writes to standard output: {said:?}")))
            }),
            Err(RecvTimeoutError::Timeout) => {
                let waited = self.launcher.patience.as_secs_f64();
                Err(Lost(Failed::new(Outcome::Hung, format!("no answer within {waited} s"))))
            }
            Err(RecvTimeoutError::Disconnected) => Err(running.crashed()),
        }
    }
}

/// The child is of no use any more.
struct Lost(Failed);

impl Running {
    fn start(launcher: &Launcher) -> std::io::Result<Self> {
        let mut child = Command::new(&launcher.program)
            .args(&launcher.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C is for the parent, which ends with what there is.
            .process_group(0)
            .spawn()?;
        let missing = || std::io::Error::other("the child process has no pipes");
        let requests = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, answers) = channel();
        // It ends with the child's output, which ends with the child.
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                let mut limited = std::io::Read::take(&mut output, LONGEST_ANSWER);
                match limited.read_until(b'\n', &mut line) {
                    Ok(1..) if line.ends_with(b"\n") => {
                        if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
        Ok(Self { child, requests, answers })
    }

    /// How it ended.
    fn crashed(&mut self) -> Lost {
        // A child that only closed its output may live on: it is ended with this value.
        for _ in 0..100 {
            match self.child.try_wait() {
                Ok(Some(status)) => return Lost(Failed::new(Outcome::Crashed, format!("its process ended: {status}"))),
                Ok(None) => thread::sleep(Duration::from_millis(10)),
                Err(error) => return Lost(Failed::new(Outcome::Crashed, format!("its process is gone: {error}"))),
            }
        }
        Lost(Failed::new(Outcome::Crashed, "its process closed its output"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

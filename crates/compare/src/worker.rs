//! A child process as its parent sees it: asked in turn, ended where it does not answer in time.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::message::{Failed, FailureKind, Request};

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

/// How long the end of a child may take that has closed its output.
const GRACE: Duration = Duration::from_secs(1);

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
    /// `None` once it is to end.
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Worker {
    pub(crate) fn new(launcher: &Launcher) -> Self {
        Self { launcher: launcher.clone(), running: None, lost: None }
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask<A: DeserializeOwned>(&mut self, request: &Request) -> Result<A, Failed> {
        self.post(request)?;
        self.answer()
    }

    /// Asks; [`Worker::answer`] waits.
    pub(crate) fn post(&mut self, request: &Request) -> Result<(), Failed> {
        let sent = self.unless_lost(|worker| worker.running()?.send(request));
        sent.inspect_err(|failed| self.lose(failed))
    }

    /// Waits for the answer to what was posted.
    pub(crate) fn answer<A: DeserializeOwned>(&mut self) -> Result<A, Failed> {
        let patience = self.launcher.patience;
        let answer = self.unless_lost(|worker| worker.running()?.receive(patience));
        answer.inspect_err(|failed| self.lose(failed))?
    }

    /// Asks no more, and waits until the child has ended by itself.
    pub(crate) fn finish(&mut self) -> Result<(), Failed> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        running.requests = None;
        match running.wait(self.launcher.patience) {
            Ok(Some(status)) if status.success() => Ok(()),
            _ => Err(running.ended(Duration::ZERO)),
        }
    }

    fn unless_lost<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Failed>) -> Result<T, Failed> {
        match &self.lost {
            Some(lost) => Err(lost.clone()),
            None => work(self),
        }
    }

    fn lose(&mut self, failed: &Failed) {
        self.lost = Some(failed.clone());
        self.running = None;
    }

    fn running(&mut self) -> Result<&mut Running, Failed> {
        match self.running.take() {
            Some(running) => Ok(self.running.insert(running)),
            None => {
                let started = Running::start(&self.launcher).map_err(Failed::broken)?;
                Ok(self.running.insert(started))
            }
        }
    }
}

impl Running {
    fn send(&mut self, request: &Request) -> Result<(), Failed> {
        let mut line = serde_json::to_vec(request).map_err(Failed::broken)?;
        line.push(b'\n');
        // A child that is gone takes nothing: why, its end says.
        let sent = self.requests.as_mut().map(|requests| requests.write_all(&line).and_then(|()| requests.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended(GRACE)),
        }
    }

    /// The child's answer, which may be that it failed; or how the child itself failed.
    fn receive<A: DeserializeOwned>(&mut self, patience: Duration) -> Result<Result<A, Failed>, Failed> {
        match self.answers.recv_timeout(patience) {
            Ok(answer) => serde_json::from_str(&answer).map_err(|_| {
                let said: String = answer.chars().take(80).collect();
                Failed::broken(format!("it writes to standard output: {said:?}"))
            }),
            Err(RecvTimeoutError::Timeout) => {
                Err(Failed::new(FailureKind::Hung, format!("no answer within {} s", patience.as_secs_f64())))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ended(GRACE)),
        }
    }

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
        let requests = Some(child.stdin.take().ok_or_else(missing)?);
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
    fn ended(&mut self, grace: Duration) -> Failed {
        match self.wait(grace) {
            Ok(Some(status)) => Failed::crashed(format!("its process ended: {status}")),
            // A child that only closed its output may live on: it is ended with this value.
            Ok(None) => Failed::crashed("its process closed its output"),
            Err(error) => Failed::crashed(format!("its process is gone: {error}")),
        }
    }

    fn wait(&mut self, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait()? {
                None if begin.elapsed() < patience => thread::sleep(Duration::from_millis(10)),
                ended => return Ok(ended),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

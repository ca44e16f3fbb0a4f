//! A child process as its parent sees it: asked in turn, ended where it does not answer in time.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::line_process::LineProcess;
use crate::message::{Failed, Request};

/// How child processes are started.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program, most often this one.
    pub program: PathBuf,
    /// Its arguments, by which it calls [`serve_requests`](crate::serve_requests).
    pub arguments: Vec<OsString>,
    /// How long a child may take for an answer.
    pub patience: Duration,
    /// What is set in its environment beside what this process has.
    pub environment: Vec<(&'static str, OsString)>,
}

/// A child process, started with the first request.
pub(crate) struct Worker {
    launcher: Launcher,
    running: Option<LineProcess>,
    /// Why it is gone: then every further request comes to the same.
    lost: Option<Failed>,
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
        let mut line = serde_json::to_vec(request).map_err(Failed::broken)?;
        line.push(b'\n');
        self.unless_lost(|worker| worker.running()?.send(&line))
    }

    /// Waits for the answer to what was posted.
    pub(crate) fn answer<A: DeserializeOwned>(&mut self) -> Result<A, Failed> {
        let patience = self.launcher.patience;
        self.unless_lost(|worker| {
            let line = worker.running()?.receive(patience)?;
            serde_json::from_str::<Result<A, Failed>>(&line).map_err(|_| {
                let said: String = line.chars().take(80).collect();
                Failed::broken(format!("it writes to standard output: {said:?}"))
            })
        })?
    }

    /// Asks no more, and waits until the child has ended by itself.
    pub(crate) fn finish(&mut self) -> Result<(), Failed> {
        self.running.take().map_or(Ok(()), |running| running.finish(self.launcher.patience))
    }

    /// Does it; where the child fails at it, it is lost.
    fn unless_lost<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Failed>) -> Result<T, Failed> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        work(self).inspect_err(|failed| {
            self.lost = Some(failed.clone());
            self.running = None;
        })
    }

    fn running(&mut self) -> Result<&mut LineProcess, Failed> {
        match self.running.take() {
            Some(running) => Ok(self.running.insert(running)),
            None => {
                let mut command = Command::new(&self.launcher.program);
                // Ctrl-C is for the parent, which ends with what there is.
                command
                    .args(&self.launcher.arguments)
                    .envs(self.launcher.environment.iter().map(|(name, value)| (name, value)))
                    .process_group(0);
                Ok(self.running.insert(LineProcess::start(&mut command).map_err(Failed::broken)?))
            }
        }
    }
}

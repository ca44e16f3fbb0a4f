//! A child process as its parent sees it: asked in turn, ended where it does not answer in time.

use std::ffi::OsString;
use std::marker::PhantomData;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::ask::Ask;
use crate::failed::Failed;
use crate::line_process::LineProcess;

/// How child processes are started.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program, most often this one.
    pub program: PathBuf,
    /// Its arguments, by which it calls [`serve`](crate::serve).
    pub arguments: Vec<OsString>,
    /// How long a child may take for an answer.
    pub patience: Duration,
    /// What is set in its environment beside what this process has.
    pub environment: Vec<(&'static str, OsString)>,
}

/// A child process, started with the first request.
pub struct Worker {
    launcher: Launcher,
    running: Option<LineProcess>,
    /// Why it is gone: then every further request comes to the same.
    lost: Option<Failed>,
}

/// That a question was posted, whose answer is to come.
#[must_use]
pub(crate) struct Asked<A>(PhantomData<A>);

impl Worker {
    /// One that is not started yet.
    pub fn new(launcher: &Launcher) -> Self {
        Self { launcher: launcher.clone(), running: None, lost: None }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// Why there is none.
    pub fn ask<A: Ask>(&mut self, question: &A) -> Result<A::Answer, Failed> {
        let asked = self.post(question)?;
        self.answer(asked)
    }

    /// Asks; [`Worker::answer`] waits.
    pub(crate) fn post<A: Ask>(&mut self, question: &A) -> Result<Asked<A>, Failed> {
        let line = question.line().map_err(Failed::broken)?;
        self.unless_lost(|worker| worker.running()?.send(&line))?;
        Ok(Asked(PhantomData))
    }

    /// Waits for the answer to what was posted.
    pub(crate) fn answer<A: Ask>(&mut self, _: Asked<A>) -> Result<A::Answer, Failed> {
        let patience = self.launcher.patience;
        self.unless_lost(|worker| A::read(&worker.running()?.receive(patience)?))?
    }

    /// Asks no more, and waits until the child has ended by itself.
    ///
    /// # Errors
    /// If it does not, or not well.
    pub fn finish(&mut self) -> Result<(), Failed> {
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

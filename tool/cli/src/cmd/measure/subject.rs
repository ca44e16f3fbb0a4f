//! What is measured, once or again and again: one target or the embedded lab.

use anyhow::bail;
use reprise_connection::Target;
use reprise_model::Failure;
use reprise_model::document::ServerCpu;
use reprise_probe::saved::Unused;
use reprise_probe::{Interrupt, Options};

use super::calibration::Calibrating;
use super::flags::MeasureArgs;
use super::measured::{Measured, explained};
use super::{clients, lab};
use crate::progress::Progress;
use crate::provenance::provenance;
use crate::server_process::server_cpu;
use crate::session_files::SessionFiles;
use crate::values::Like;

/// What to measure.
pub(super) enum Subject {
    /// One target, and the process of its server, where that is named.
    Target(Target, Box<Options>, Option<u32>),
    /// One target, with the options of each client.
    Clients(Vec<(Target, Options)>),
    /// The embedded lab.
    Lab(Box<MeasureArgs>),
}

impl Subject {
    /// Reads every file that the arguments name.
    pub(super) fn of(arguments: MeasureArgs) -> anyhow::Result<(Self, SessionFiles)> {
        if matches!(arguments.probe.connection.like, Some(Like::All)) {
            return Ok((Self::Clients(clients::targets(arguments)?), SessionFiles::default()));
        }
        let Some(target) = arguments.target() else {
            if arguments.session_files.need_a_target() {
                bail!("--session-in and --session-out need a target");
            }
            return Ok((Self::Lab(Box::new(arguments)), SessionFiles::default()));
        };
        let files = arguments.session_files.clone();
        let server_pid = arguments.gate.server_pid;
        let mut options = arguments.into_options(None)?;
        let files = files.open(&target, &mut options)?;
        Ok((Self::Target(target, Box::new(options), server_pid), files))
    }

    /// Measures it. What ended that before its time stands beside what was measured until then, and beside it the sessions
    /// that a target leaves to another process.
    pub(super) fn measure(&self, interrupt: &Interrupt) -> anyhow::Result<(Measured, Option<Failure>, Option<Unused>)> {
        let progress = Progress::of("connections");
        let (measured, failure, unused) = match self {
            Self::Target(target, options, server_pid) => {
                let before = server_pid.and_then(server_cpu);
                let calibrating = Calibrating::beside(&progress, interrupt);
                let measurement = reprise_probe::measure(target, options, &calibrating, interrupt);
                let (mut document, failure) = explained(target, options, &measurement, provenance());
                document.calibration = calibrating.finish(options.seed);
                document.server_cpu = before.zip(server_pid.and_then(server_cpu)).and_then(|(before, after)| {
                    let connections = document.all_connections.total();
                    // A process of the tree that ended took its time with it: then the sum is unknown, not 0.
                    let used = after.0.checked_sub(before.0).filter(|used| *used > 0)?;
                    Some(ServerCpu { connections, per_connection_ns: used.checked_div(connections)? })
                });
                (Measured::Target(Box::new(document)), failure, Some(measurement.unused))
            }
            Self::Clients(targets) => {
                let (document, failure) = clients::measure(targets, provenance(), &progress, interrupt);
                (Measured::Clients(Box::new(document)), failure, None)
            }
            Self::Lab(arguments) => {
                let (document, failure) = lab::measure(arguments, provenance(), &progress, interrupt)?;
                (Measured::Lab(Box::new(document)), failure, None)
            }
        };
        progress.finish();
        Ok((measured, failure, unused))
    }
}

//! What is measured, and what that comes to: one target or the embedded lab, once or again and again.

use std::io;

use anyhow::bail;
use reprise_connection::Target;
use reprise_model::Failure;
use reprise_model::document::{ConditionRecord, LabDocument, MeasureDocument, Provenance, ServerCpu};
use reprise_probe::saved::Unused;
use reprise_probe::{Interrupt, Measurement, Options};
use reprise_report::Document;
use reprise_results::{Condition, Judged, Value, Words};
use serde::Serialize;

use super::calibration::Calibrating;
use super::{MeasureArgs, lab};
use crate::progress::Progress;
use crate::provenance::provenance;
use crate::server_process::server_cpu;
use crate::session_files::SessionFiles;

/// What to measure.
pub(super) enum Subject {
    /// One target, and the process of its server, where that is named.
    Target(Target, Box<Options>, Option<u32>),
    /// The embedded lab.
    Lab(Box<MeasureArgs>),
}

/// What came of it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Measured {
    Target(Box<MeasureDocument>),
    Lab(Box<LabDocument>),
}

impl Subject {
    /// Reads every file that the arguments name.
    pub(super) fn of(arguments: MeasureArgs) -> anyhow::Result<(Self, SessionFiles)> {
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
            Self::Lab(arguments) => {
                let (document, failure) = lab::measure(arguments, provenance(), &progress, interrupt)?;
                (Measured::Lab(Box::new(document)), failure, None)
            }
        };
        progress.finish();
        Ok((measured, failure, unused))
    }
}

/// What a measurement means, and what ended it before its time.
pub(super) fn explained(
    target: &Target,
    options: &Options,
    measurement: &Measurement,
    provenance: Provenance,
) -> (MeasureDocument, Option<Failure>) {
    let document = reprise_results::measure_document(target, options, measurement, provenance);
    let failure = measurement.ended_by.as_ref().map(|failed| reprise_results::failure_of(failed, options));
    (document, failure)
}

impl Measured {
    pub(super) fn document(&self) -> Document<'_> {
        match self {
            Self::Target(document) => Document::Measure(document),
            Self::Lab(document) => Document::Lab(document),
        }
    }

    /// One result for each server.
    pub(super) fn results(&self) -> &[MeasureDocument] {
        match self {
            Self::Target(document) => std::slice::from_ref(document),
            Self::Lab(document) => &document.results,
        }
    }

    pub(super) fn results_mut(&mut self) -> &mut [MeasureDocument] {
        match self {
            Self::Target(document) => std::slice::from_mut(document),
            Self::Lab(document) => &mut document.results,
        }
    }

    /// What came of the conditions stands in the document, of the lab in the one of all servers.
    pub(super) fn keep_conditions(&mut self, conditions: Vec<ConditionRecord>) {
        match self {
            Self::Target(document) => document.conditions = conditions,
            Self::Lab(document) => document.conditions = conditions,
        }
    }

    /// As one line of JSON, with its end.
    pub(super) fn json_line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

impl Judged for Measured {
    fn values(&self, words: &Words, condition: &Condition) -> Vec<Value> {
        match self {
            Self::Target(document) => document.values(words, condition),
            Self::Lab(document) => document.values(words, condition),
        }
    }
}

//! What is measured, and what that comes to: one target or the embedded lab, once or again and again.

use std::io;

use reprise_probe::{Interrupt, Options, Target};
use reprise_trace::Failure;
use reprise_trace::document::{LabDocument, MeasureDocument};
use serde::Serialize;

use super::{MeasureArgs, lab, target};
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;

/// What to measure.
pub(super) enum Subject {
    /// One target.
    Target(Target, Box<Options>),
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
    pub(super) fn of(arguments: MeasureArgs) -> anyhow::Result<Self> {
        Ok(match arguments.target() {
            Some(target) => Self::Target(target, Box::new(arguments.into_options(target::Trust::Roots)?)),
            None => Self::Lab(Box::new(arguments)),
        })
    }

    /// Measures it. What ended that before its time stands beside what was measured until then.
    pub(super) fn measure(&self, interrupt: &Interrupt) -> anyhow::Result<(Measured, Option<Failure>)> {
        let progress = Progress::new();
        let (measured, failure) = match self {
            Self::Target(target, options) => {
                let (document, failure) = target::measure(target, options, provenance(), &progress, interrupt);
                (Measured::Target(Box::new(document)), failure)
            }
            Self::Lab(arguments) => {
                let (document, failure) = lab::measure(arguments, provenance(), &progress, interrupt)?;
                (Measured::Lab(Box::new(document)), failure)
            }
        };
        progress.finish();
        Ok((measured, failure))
    }
}

impl Measured {
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

    /// Writes it wherever it is wanted.
    pub(super) fn write(&self, outputs: Outputs, failed: bool) -> anyhow::Result<()> {
        match self {
            // A page of nothing; but who reads the document reads there why, and not an older one's figures.
            Self::Target(document) if document.runs.is_empty() && failed => outputs.write_documents(&**document),
            Self::Target(document) => outputs.write(&**document),
            Self::Lab(document) => outputs.write(&**document),
        }
    }

    /// As one line of JSON, with its end.
    pub(super) fn json_line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

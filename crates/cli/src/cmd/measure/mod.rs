//! `reprise measure [TARGET]`: what does a connection cost, new and resumed, phase by phase?

mod flags;
mod lab;
mod target;

pub(crate) use flags::MeasureArgs;

use std::io;

use reprise_probe::Interrupt;
use reprise_report::terminal::Style;
use reprise_trace::document::{LabDocument, MeasureDocument, Provenance};
use reprise_trace::{Asked, Failure, FailureClass, Kind};

use crate::ending::Ending;
use crate::outputs::{Outputs, Rendered};
use crate::progress::Progress;
use crate::redact;

pub(crate) fn run(arguments: MeasureArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let outputs = Outputs::open(&arguments.output)?;
    let kinds = arguments.kinds.clone();
    let progress = Progress::new();
    match arguments.target.clone() {
        Some(target) => {
            let options = arguments.into_options(target::Trust::Roots)?;
            let (document, failure) = target::measure(&target, &options, provenance(), &progress, interrupt);
            progress.finish();
            let refused = missed(&document, &kinds);
            if document.runs.is_empty() && failure.is_some() {
                // A page of nothing; but who reads the document reads there why, and not an older one's figures.
                outputs.write_documents(&document)?;
            } else {
                outputs.write(&document)?;
            }
            Ok(ending(failure, refused))
        }
        None => {
            let (document, failure) = lab::measure(&arguments, provenance(), &progress, interrupt)?;
            progress.finish();
            let refused: Vec<String> = document.results.iter().filter_map(|result| missed(result, &kinds)).collect();
            let refused = (!refused.is_empty()).then(|| refused.join("\n  "));
            outputs.write(&document)?;
            Ok(ending(failure, refused))
        }
    }
}

/// The kinds that were named and not observed in every one of their samples, each on a line; `None` if there are none.
fn missed(document: &MeasureDocument, named: &[Kind]) -> Option<String> {
    let mut missed = Vec::new();
    for run in document.runs.iter().filter(|run| named.contains(&run.asked.kind)) {
        let samples = run.observed.kinds.total() + run.failed;
        if run.n < samples {
            let Asked { tls, kind } = run.asked;
            missed
                .push(format!("{}: {kind} under {tls} was observed in {} of {samples} connections", document.label, run.n));
        }
    }
    (!missed.is_empty()).then(|| missed.join("\n  "))
}

fn ending(failure: Option<Failure>, refused: Option<String>) -> Ending {
    match (failure, refused) {
        (Some(failure), _) => Ending::Failed(failure),
        (None, Some(why)) => Ending::BadAnswer(why),
        (None, None) => Ending::Done,
    }
}

fn provenance() -> Provenance {
    reprise_probe::provenance(env!("CARGO_PKG_VERSION"), option_env!("REPRISE_COMMIT"), redact::command_line())
}

fn was_interrupted(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| failure.class == FailureClass::Interrupted)
}

impl Rendered for MeasureDocument {
    fn terminal(&self, style: Style) -> String {
        reprise_report::terminal::measure(self, style)
    }

    fn json(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        reprise_report::json::write(self, &mut out)?;
        Ok(out)
    }

    fn csv(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        reprise_report::csv::measure(self, &mut out)?;
        Ok(out)
    }

    fn markdown(&self) -> String {
        reprise_report::markdown::measure(self)
    }
}

impl Rendered for LabDocument {
    fn terminal(&self, style: Style) -> String {
        reprise_report::terminal::lab(self, style)
    }

    fn json(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        reprise_report::json::write(self, &mut out)?;
        Ok(out)
    }

    fn csv(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        reprise_report::csv::lab(self, &mut out)?;
        Ok(out)
    }

    fn markdown(&self) -> String {
        reprise_report::markdown::lab(self)
    }
}

//! `reprise measure [TARGET]`: what does a connection cost, new and resumed, phase by phase?

mod flags;
mod lab;
mod target;

pub(crate) use flags::MeasureArgs;

use reprise_probe::Interrupt;
use reprise_trace::document::MeasureDocument;
use reprise_trace::{Asked, Failure, FailureClass, Kind};

use crate::ending::Ending;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;

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

fn was_interrupted(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| failure.class == FailureClass::Interrupted)
}

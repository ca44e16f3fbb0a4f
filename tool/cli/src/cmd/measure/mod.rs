//! `reprise measure [TARGET]`: what does a connection cost, new and resumed, phase by phase?

mod baseline;
mod calibration;
mod clients;
mod flags;
mod gate;
mod journal;
mod lab;
mod measured;
mod metrics;
mod subject;
mod watch;

pub(crate) use flags::MeasureArgs;

use reprise_model::{Failure, FailureClass};
use reprise_probe::Interrupt;

use self::gate::{Complaints, Gate};
use self::measured::Measured;
use self::subject::Subject;
use self::watch::Watch;
use crate::ending::Ending;
use crate::notice::notice;
use crate::outputs::Outputs;

pub(crate) fn run(arguments: MeasureArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let gate = Gate::open(&arguments)?;
    if let Some(watch) = Watch::open(&arguments)? {
        // A session is used once, and a watch makes the same measurement again: the two exclude each other.
        return watch.run(&Subject::of(arguments)?.0, &gate, interrupt);
    }
    let outputs = Outputs::open(&arguments.output, &arguments.session_files.files())?;
    let software = arguments.server_software.clone();
    let (subject, files) = Subject::of(arguments)?;
    let (mut measured, failure, unused) = subject.measure(interrupt)?;
    if software.is_some() {
        measured.results_mut().iter_mut().for_each(|result| result.software.clone_from(&software));
    }
    let saved = unused.map_or(Ok(()), |unused| files.save(&unused, measured.document()));
    gate.compare(&mut measured);
    let complaints = gate.judge(&mut measured);
    let gated = gate.gated(&measured);
    // Why one target could not be measured is said last; there is nothing to show beside.
    let is_one = matches!(measured, Measured::Target(_));
    let without_page = is_one && failure.is_some() && gated.document.is_nothing();
    let written = if without_page { outputs.write_documents(gated) } else { outputs.write(gated) };
    written?;
    saved?;
    Ok(ending(failure, complaints))
}

/// A failure outweighs a bad answer; what could not be told for its sake is no news.
fn ending(failure: Option<Failure>, complaints: Complaints) -> Ending {
    match failure {
        Some(failure) => {
            complaints.met.iter().for_each(notice);
            Ending::Failed(failure)
        }
        None => complaints.in_words().map_or(Ending::Done, Ending::BadAnswer),
    }
}

fn was_interrupted(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| failure.class == FailureClass::Interrupted)
}

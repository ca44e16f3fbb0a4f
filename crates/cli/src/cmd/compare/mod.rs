//! `reprise compare` and `reprise stacks`: every TLS stack on one bench.

mod flags;
mod list;
mod plugins;

use std::io;

use anyhow::{bail, ensure};
use reprise_bench::{Audience, Comparison, Effort, Found, Keys, Scenario, Selection, compare, serve_requests};
use reprise_probe::{Interrupt, Observer};

use crate::ending::Ending;
use crate::outputs::{Outputs, check_that_files_differ};
use crate::progress::Progress;
use crate::provenance::provenance;

pub(crate) use flags::{CompareArgs, StacksArgs};
pub(crate) use list::run as run_stacks;

pub(crate) fn run(arguments: CompareArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    check_that_files_differ(&arguments.outputs.files())?;
    let stacks = chosen(plugins::found(&arguments.plugins)?, &arguments.stacks)?;
    let selection = Selection {
        versions: arguments.tls.clone(),
        keys: arguments.keys.clone(),
        groups: arguments.groups.clone(),
        suites: arguments.suites.clone(),
    };
    let scenario = Scenario::from(arguments.scenario);
    let cases = scenario.cases(&selection);
    ensure!(!cases.is_empty(), "no handshake of '{}' fits these flags: leave one of them out", scenario.name());
    let launcher = plugins::launcher(arguments.timeout)?;
    let outputs = Outputs::open(&arguments.outputs)?;
    let keys = Keys::make(cases.iter().map(|case| case.key))?;
    let effort = match arguments.quick {
        true => Effort::QUICK,
        false => Effort { samples: arguments.samples, ..Effort::USUAL },
    };
    let comparison = Comparison {
        scenario,
        cases: &cases,
        stacks: &stacks,
        crossed: arguments.crossed,
        keys: &keys,
        effort,
        seed: arguments.seed,
    };
    let mut waiting = Waiting { progress: Progress::of("samples"), interrupt };
    let document = compare(&comparison, &launcher, provenance(), &mut waiting);
    waiting.progress.finish();
    outputs.write(&document)?;
    Ok(match (document.interrupted, document.rows.is_empty()) {
        (true, _) => Ending::interrupted(),
        (false, true) => Ending::BadAnswer("no stack made any of these handshakes: 'Skipped' says why".to_owned()),
        (false, false) => Ending::Done,
    })
}

/// What a child process does until it is asked no more.
pub(crate) fn run_child() -> anyhow::Result<Ending> {
    serve_requests(io::stdin().lock(), io::stdout().lock())?;
    Ok(Ending::Done)
}

/// Those of these names; all, where none is named.
fn chosen(found: Vec<Found>, names: &[String]) -> anyhow::Result<Vec<Found>> {
    if names.is_empty() {
        return Ok(found);
    }
    let known: Vec<&str> = found.iter().map(|stack| stack.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no stack '{unknown}': there are {}, and 'reprise stacks' says how to get more", known.join(", "));
    }
    Ok(found.into_iter().filter(|stack| names.contains(&stack.name)).collect())
}

/// Who sits before the terminal.
struct Waiting<'a> {
    progress: Progress,
    interrupt: &'a Interrupt,
}

impl Audience for Waiting<'_> {
    fn proceeded(&mut self, done: u64, planned: u64) {
        Observer::proceeded(&self.progress, done, planned);
    }

    fn stops(&self) -> bool {
        self.interrupt.is_raised()
    }
}

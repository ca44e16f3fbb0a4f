//! `reprise compare`: every TLS stack on one bench.

mod flags;
mod gate;
mod link;
pub(crate) mod plugins;

use anyhow::{Context, bail, ensure};
use reprise_compare::{Callgrind, ComparisonPlan, Selection, compare};
use reprise_model::document::CompareOver;
use reprise_pairs::{Audience, Effort, FoundStack, HandshakePlan, Keys};
use reprise_probe::{Interrupt, Observer};
use reprise_report::{Document, json};

use crate::ending::Ending;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::provenance::provenance;

pub(crate) use flags::{CompareArgs, PluginArgs, transports};
use gate::Gate;

/// What counts the heap of the child processes.
const HEAP_COUNTER: &str = "reprise-heap";

pub(crate) fn run(arguments: CompareArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let launcher = plugins::launcher(arguments.timeout)?;
    let stacks = chosen(plugins::found_and_usable(&arguments.plugins, &launcher)?, &arguments.stacks)?;
    let selection = Selection {
        versions: arguments.tls.clone(),
        keys: arguments.keys.clone(),
        groups: arguments.groups.clone(),
        suites: arguments.suites.clone(),
        records: arguments.records.clone(),
    };
    let scenario = arguments.scenario;
    let threads = threads(&arguments)?;
    let mut cases = scenario.cases(&selection);
    // What a client says beside the handshake is no matter of threads.
    cases.retain(|case| threads.is_empty() || !case.request);
    ensure!(!cases.is_empty(), "no handshake of '{}' matches these flags: remove one of them", scenario.name);
    ensure!(!(scenario.weighs() && arguments.instructions), "'memory' counts no instructions: remove --instructions");
    let earlier = if arguments.resume { gate::earlier(arguments.outputs.file(&json::FORMAT))? } else { None };
    let callgrind = arguments.instructions.then(Callgrind::find).transpose()?;
    let keys = Keys::make(cases.iter().map(|case| (case.key, case.chain)))?;
    let effort = match arguments.quick {
        true => Effort::QUICK,
        false => Effort { samples: arguments.samples, ..Effort::USUAL },
    };
    let heap_counter = plugins::beside(&arguments.plugins, HEAP_COUNTER);
    let comparison = ComparisonPlan {
        scenario,
        handshakes: HandshakePlan {
            cases: &cases,
            stacks: &stacks,
            crossed: arguments.crossed,
            keys: &keys,
            effort,
            seed: arguments.seed,
            over: arguments.over,
        },
        callgrind: callgrind.as_ref(),
        earlier: earlier.as_ref(),
        links: arguments.link.plan(&scenario, &cases, arguments.over, arguments.seed)?,
        threads: &threads,
        heap_counter: heap_counter.as_deref(),
    };
    let gate = Gate::open(&arguments.gate, &comparison)?;
    let outputs = Outputs::open(&arguments.outputs, &[])?;
    let mut waiting = Waiting::new("stacks loaded", interrupt);
    let compared = compare(&comparison, &launcher, provenance(), &mut waiting);
    waiting.progress.finish();
    let mut document = compared.context("--resume")?;
    let complaints = gate.judge(&mut document);
    outputs.write(Document::Compare(&document))?;
    let scales = document.scaling.as_ref().is_some_and(|scaling| !scaling.rows.is_empty());
    let is_nothing = document.rows.is_empty() && document.memory.is_empty() && !scales;
    Ok(match (document.interrupted, is_nothing, complaints) {
        (true, _, _) => Ending::Interrupted,
        (false, true, _) => Ending::BadAnswer("no stack made any of these handshakes: see 'Skipped'".to_owned()),
        (false, false, Some(complaints)) => Ending::BadAnswer(complaints),
        (false, false, None) => Ending::Done,
    })
}

/// The numbers of threads, each once.
fn threads(arguments: &CompareArgs) -> anyhow::Result<Vec<u32>> {
    let mut threads = arguments.threads.clone();
    threads.sort_unstable();
    threads.dedup();
    let may = threads.is_empty() || arguments.scenario.scales();
    ensure!(may, "'--threads' is of 'resumption', not of '{}'", arguments.scenario.name);
    let is_over_memory = threads.is_empty() || arguments.over == CompareOver::Memory;
    ensure!(is_over_memory, "'--threads' makes connections over memory: remove '--over loopback'");
    Ok(threads)
}

/// Those of these names; all, where none is named.
pub(crate) fn chosen(found: Vec<FoundStack>, names: &[String]) -> anyhow::Result<Vec<FoundStack>> {
    if names.is_empty() {
        return Ok(found);
    }
    let known: Vec<&str> = found.iter().map(|stack| stack.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("unknown stack '{unknown}'; available: {}; 'reprise stacks' shows how to get more", known.join(", "));
    }
    Ok(found.into_iter().filter(|stack| names.contains(&stack.name)).collect())
}

/// Shows the progress of a comparison, and stops it on Ctrl-C.
pub(crate) struct Waiting<'a> {
    pub(crate) progress: Progress,
    interrupt: &'a Interrupt,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(steps: &str, interrupt: &'a Interrupt) -> Self {
        Self { progress: Progress::of(steps), interrupt }
    }
}

impl Audience for Waiting<'_> {
    fn begins(&mut self, steps: &'static str) {
        self.progress.finish();
        self.progress = Progress::of(steps);
    }

    fn proceeded(&mut self, done: u64, planned: u64) {
        Observer::proceeded(&self.progress, done, planned);
    }

    fn stops(&self) -> bool {
        self.interrupt.is_raised()
    }
}

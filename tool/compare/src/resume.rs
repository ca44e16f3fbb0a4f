//! A run that was interrupted goes on: the same handshakes, in the same order, with the samples that are there.

use reprise_model::document::{CompareDocument, ComparedStack, Provenance};
use thiserror::Error;

/// A result is no part of this run: what differs, in words.
#[derive(Debug, Error)]
#[error("it is of another run, and cannot be resumed: {}", .0.join("; "))]
pub struct OtherRun(Vec<String>);

/// Whether the earlier result is the begin of what is now planned; `now` has all but figures.
pub(crate) fn check(earlier: &CompareDocument, now: &CompareDocument) -> Result<(), OtherRun> {
    let differs = |what: &str, before: &dyn ToString, after: &dyn ToString| {
        let (before, after) = (before.to_string(), after.to_string());
        (before != after).then(|| format!("{what} was {before}, is {after}"))
    };
    let mut all: Vec<String> = [
        differs("the scenario", &earlier.scenario, &now.scenario),
        differs("--over", &earlier.over.name(), &now.over.name()),
        differs("--seed", &earlier.seed, &now.seed),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let (Some(before), Some(after)) = (&earlier.plan, &now.plan) {
        all.extend(differs("--samples", &before.samples, &after.samples));
        all.extend(differs("the length of a sample in ns", &before.sample_ns, &after.sample_ns));
        all.extend(differs("--crossed", &before.crossed, &after.crossed));
        all.extend(differs("--instructions", &before.instructions, &after.instructions));
        if before.cases != after.cases {
            let (before, after) = (before.cases.len(), after.cases.len());
            all.push(format!("the handshakes are not the same: {before} were planned, {after} are"));
        }
    } else {
        all.push("it does not say what was planned".to_owned());
    }
    all.extend(stacks(&earlier.stacks, &now.stacks));
    all.extend(program(&earlier.provenance, &now.provenance));
    if all.is_empty() { Ok(()) } else { Err(OtherRun(all)) }
}

fn stacks(before: &[ComparedStack], after: &[ComparedStack]) -> Vec<String> {
    let identity = |stack: &ComparedStack| {
        let hash = stack.sha256.as_deref().map(|hash| format!(", sha256 {hash}")).unwrap_or_default();
        format!("{} {}{hash}", stack.library, stack.version)
    };
    let mut differences = Vec::new();
    for stack in before {
        match after.iter().find(|it| it.name == stack.name) {
            None => differences.push(format!("the stack {} is gone", stack.name)),
            Some(it) if identity(it) != identity(stack) => {
                differences.push(format!("the stack {} was {}, is {}", stack.name, identity(stack), identity(it)));
            }
            Some(_) => {}
        }
    }
    let new = after.iter().filter(|stack| before.iter().all(|it| it.name != stack.name));
    differences.extend(new.map(|stack| format!("the stack {} is new", stack.name)));
    differences
}

/// The stacks that are built in have no hash: they are this program's.
fn program(before: &Provenance, after: &Provenance) -> Option<String> {
    let identity = |it: &Provenance| {
        let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        format!("{} ({}) on {}, {}", it.version, or(&it.commit), or(&it.machine), or(&it.cpu))
    };
    (identity(before) != identity(after)).then(|| format!("reprise was {}, is {}", identity(before), identity(after)))
}

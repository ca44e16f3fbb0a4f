//! What a comparison is held against: `--baseline`, `--fail-if`; and the interrupted one that it goes on from, `--resume`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use reprise_compare::ComparisonPlan;
use reprise_model::document::{CompareCase, CompareDocument};
use reprise_pairs::Case;
use reprise_results::{ComparePlanned, EarlierComparison, compare_stacks};

use crate::gate::{self, complaints};
use crate::saved_result::Saved;

/// The flags that hold a result against something.
#[derive(Args, Clone)]
#[command(next_help_heading = "Gate")]
pub(crate) struct GateArgs {
    /// Compare with earlier results, written by --json: show what changed beyond its interval, and what remains relative to
    /// a stack that did not change. With three or more, the interval covers the variation between runs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    baseline: Vec<PathBuf>,
    #[command(flatten)]
    fail_if: gate::ConditionArgs,
}

/// What `--fail-if` may name.
pub(super) const CONDITIONS: &str = "\
Exit with 1 if this condition is met or cannot be evaluated; repeatable. Ratios and instructions are reliable on a busy machine: \
'server.mine.resumed.ratio < 3', 'baseline.server.mine.change.low > 5%', which excludes the change of a stack that is the same in \
both, 'baseline.server.mine.instructions > 2%'. Absolute times are not: 'server.mine.1.3.full > 500us'. And 'failed > 0', or any \
figure by its path in the JSON: '.rows[].n < 100'";

/// What a result is held against.
pub(super) struct Gate {
    conditions: gate::Gate,
    /// With their files, the newest last.
    baseline: Vec<(String, CompareDocument)>,
    seed: u64,
}

impl Gate {
    /// Reads the baseline, and refuses conditions that such a comparison cannot answer.
    pub(super) fn open(arguments: &GateArgs, comparison: &ComparisonPlan<'_>) -> anyhow::Result<Self> {
        let baseline =
            arguments.baseline.iter().map(|path| read(path).context("--baseline")).collect::<anyhow::Result<Vec<_>>>()?;
        let stacks: Vec<String> = comparison.handshakes.stacks.iter().map(|stack| stack.name.clone()).collect();
        let cases: Vec<CompareCase> = comparison.handshakes.cases.iter().map(Case::document).collect();
        let planned = ComparePlanned {
            stacks: &stacks,
            cases: &cases,
            over: comparison.handshakes.over,
            samples: comparison.handshakes.effort.samples,
            instructions: comparison.callgrind.is_some(),
            baseline: !baseline.is_empty(),
        };
        let conditions = gate::Gate::open(&arguments.fail_if, &planned)?;
        Ok(Self { conditions, baseline, seed: comparison.handshakes.seed })
    }

    /// Notes what is other than before, and what came of each condition: those that are met or unknown, in words.
    pub(super) fn judge(&self, document: &mut CompareDocument) -> Option<String> {
        let earlier: Vec<EarlierComparison<'_>> =
            self.baseline.iter().map(|(file, result)| EarlierComparison { result, file }).collect();
        document.baseline = compare_stacks(document, &earlier, self.seed).map(Box::new);
        document.conditions = self.conditions.judge(document);
        complaints(&document.conditions)
    }
}

/// The result that `--resume` goes on from; `None` where there is none yet.
pub(super) fn earlier(json: Option<&Path>) -> anyhow::Result<Option<CompareDocument>> {
    let Some(json) = json.filter(|json| *json != Path::new("-")) else {
        bail!("--resume needs the file to resume from: add --json FILE");
    };
    let is_empty = json.metadata().map_or(true, |it| it.len() == 0);
    if is_empty { Ok(None) } else { read(json).context("--resume").map(|(_, document)| Some(document)) }
}

fn read(path: &Path) -> anyhow::Result<(String, CompareDocument)> {
    let saved = Saved::read(path)?;
    let Saved { file, schema, .. } = &saved;
    ensure!(
        schema == CompareDocument::SCHEMA,
        "{file} is a '{schema}', not a result of compare ({})",
        CompareDocument::SCHEMA
    );
    let document = saved.document()?;
    Ok((saved.file, document))
}

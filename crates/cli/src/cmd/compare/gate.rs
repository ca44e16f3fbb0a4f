//! What a comparison is held against: `--baseline`, `--fail-if`; and the interrupted one that it goes on from, `--resume`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use reprise_compare::ComparisonPlan;
use reprise_model::document::{CompareCase, CompareDocument};
use reprise_results::{CompareCondition, ComparePlanned, EarlierComparison, compare_stacks};

use crate::complaint::complaints;
use crate::saved_result::{Named, parse, read_text, shown};

/// The flags that hold a result against something.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Gate")]
pub(crate) struct GateArgs {
    /// Compare with earlier results, written by --json: show what changed beyond its interval, and what remains relative to
    /// a stack that did not change. With three or more, the interval covers the variation between runs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    baseline: Vec<PathBuf>,
    /// Exit with 1 if this condition is met or cannot be evaluated; repeatable. Ratios and instructions are reliable on a
    /// busy machine: 'server.mine.resumed.ratio < 3', 'baseline.server.mine.change.low > 5%', which excludes the change of a
    /// stack that is the same in both, 'baseline.server.mine.instructions > 2%'. Absolute times are not:
    /// 'server.mine.1.3.full > 500us'. And 'failed > 0'
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
}

/// What a result is held against.
pub(super) struct Gate {
    conditions: Vec<CompareCondition>,
    /// With their files, the newest last.
    baseline: Vec<(String, CompareDocument)>,
    seed: u64,
}

impl Gate {
    /// Reads the baseline, and refuses conditions that such a comparison cannot answer.
    pub(super) fn open(arguments: &GateArgs, comparison: &ComparisonPlan<'_>) -> anyhow::Result<Self> {
        let read = |path: &PathBuf| Ok((shown(path), read(path).context("--baseline")?));
        let baseline = arguments.baseline.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
        let stacks: Vec<String> = comparison.stacks.iter().map(|stack| stack.name.clone()).collect();
        let cases: Vec<CompareCase> = comparison.cases.iter().map(reprise_compare::Case::document).collect();
        let planned = ComparePlanned {
            stacks: &stacks,
            cases: &cases,
            over: comparison.over,
            samples: comparison.effort.samples,
            instructions: comparison.callgrind.is_some(),
            baseline: !baseline.is_empty(),
        };
        let mut conditions = Vec::new();
        for text in &arguments.fail_if {
            let condition = match CompareCondition::read(text, &planned) {
                Ok(condition) => condition,
                Err(error) => bail!("--fail-if: {error}"),
            };
            if let Some(why) = condition.impossible(&planned) {
                bail!("--fail-if '{condition}' cannot be evaluated: {why}");
            }
            conditions.push(condition);
        }
        Ok(Self { conditions, baseline, seed: comparison.seed })
    }

    /// Notes what is other than before, and what came of each condition: those that are met or unknown, in words.
    pub(super) fn judge(&self, document: &mut CompareDocument) -> Option<String> {
        let earlier: Vec<EarlierComparison<'_>> =
            self.baseline.iter().map(|(file, result)| EarlierComparison { result, file }).collect();
        document.baseline = compare_stacks(document, &earlier, self.seed).map(Box::new);
        document.conditions = self.conditions.iter().map(|condition| condition.record(document)).collect();
        complaints(&document.conditions)
    }
}

/// The result that `--resume` goes on from; `None` where there is none yet.
pub(super) fn earlier(json: Option<&Path>) -> anyhow::Result<Option<CompareDocument>> {
    let Some(json) = json.filter(|json| *json != Path::new("-")) else {
        bail!("--resume needs the file to resume from: add --json FILE");
    };
    let is_empty = json.metadata().map_or(true, |it| it.len() == 0);
    if is_empty { Ok(None) } else { read(json).context("--resume").map(Some) }
}

fn read(path: &Path) -> anyhow::Result<CompareDocument> {
    let file = shown(path);
    let text = read_text(path)?;
    let named: Named = parse(&text).with_context(|| format!("{file} is not a result of reprise"))?;
    ensure!(
        named.schema == CompareDocument::SCHEMA,
        "{file} is a '{}', not a result of compare ({})",
        named.schema,
        CompareDocument::SCHEMA
    );
    parse(&text).with_context(|| format!("{file} claims to be {}, but does not match its schema", CompareDocument::SCHEMA))
}

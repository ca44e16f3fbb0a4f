//! `--baseline FILE`: an earlier result, read and judged before anything is measured.

use std::path::Path;

use anyhow::{Context, bail};
use reprise_explain::Scope;
use reprise_trace::document::{LabDocument, MeasureDocument};

use crate::saved_result::{Named, parse, read_text, shown};

/// An earlier result to compare with.
pub(super) struct Baseline {
    file: String,
    results: Vec<MeasureDocument>,
    of_lab: bool,
    scope: Scope,
}

impl Baseline {
    /// Reads `path`. `of_lab` says whether the embedded lab is about to be measured, and not a target.
    pub(super) fn read(path: &Path, of_lab: bool, scope: Scope) -> anyhow::Result<Self> {
        let file = shown(path);
        let text = read_text(path).context("--baseline")?;
        let named: Named = parse(&text).with_context(|| format!("--baseline: {file} holds no result of reprise"))?;
        let results = match (named.schema.as_str(), of_lab) {
            (MeasureDocument::SCHEMA, false) => vec![parse(&text).with_context(|| broken(&file, MeasureDocument::SCHEMA))?],
            (LabDocument::SCHEMA, true) => {
                parse::<LabDocument>(&text).with_context(|| broken(&file, LabDocument::SCHEMA))?.results
            }
            (LabDocument::SCHEMA, false) => {
                bail!("--baseline: {file} is of the embedded lab, which is measured without a TARGET")
            }
            (MeasureDocument::SCHEMA, true) => {
                bail!("--baseline: {file} is of one target: name it, 'reprise measure TARGET --baseline {file}'")
            }
            (other, _) => bail!("--baseline: {}", why_not(&file, other)),
        };
        Ok(Self { file, results, of_lab, scope })
    }

    /// The earlier results.
    pub(super) fn results(&self) -> &[MeasureDocument] {
        &self.results
    }

    /// Notes in `document` what is other than in the earlier result of its label. The intervals follow from `seed`.
    pub(super) fn compare(&self, document: &mut MeasureDocument, seed: u64) {
        let comparison = match self.earlier(&document.label) {
            Some(earlier) => reprise_explain::compare(document, earlier, &self.file, &self.scope, seed),
            None => reprise_explain::no_such_result(document, &self.file),
        };
        document.baseline = Some(Box::new(comparison));
    }

    /// The earlier result with this label; of a target the only one, whose name may have changed.
    fn earlier(&self, label: &str) -> Option<&MeasureDocument> {
        self.results.iter().find(|result| !self.of_lab || result.label == label)
    }
}

fn broken(file: &str, schema: &str) -> String {
    format!("--baseline: {file} says that it is {schema}, and is not")
}

fn why_not(file: &str, schema: &str) -> String {
    let known = [MeasureDocument::SCHEMA, LabDocument::SCHEMA];
    let family = |schema: &str| schema.split_once('/').map(|(family, _)| family.to_owned());
    if family(schema).is_some_and(|it| known.iter().any(|known| family(known).is_some_and(|known| known == it))) {
        return format!("{file} is '{schema}', of another version of reprise: this one reads {}", known.join(" and "));
    }
    format!("{file} is '{schema}', and no result of measure")
}

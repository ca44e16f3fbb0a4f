//! `--baseline FILE...`: earlier results, read and judged before anything is measured.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use reprise_model::document::{LabDocument, MeasureDocument};
use reprise_results::{EarlierResult, Scope};

use crate::saved_result::Saved;

/// Earlier results to compare with.
pub(super) struct Baseline {
    /// As they were named, the newest last.
    files: Vec<String>,
    /// Of all files.
    results: Vec<MeasureDocument>,
    /// For each result, the place of its file.
    of_file: Vec<usize>,
    of_lab: bool,
    scope: Scope,
}

impl Baseline {
    /// Reads `paths`; `None` without any. `of_lab` says whether the embedded lab is about to be measured, and not a target.
    pub(super) fn read(paths: &[PathBuf], of_lab: bool, scope: Scope) -> anyhow::Result<Option<Self>> {
        refuse_target(paths, of_lab)?;
        let mut baseline = Self { files: Vec::new(), results: Vec::new(), of_file: Vec::new(), of_lab, scope };
        for path in paths {
            let (file, results) = read(path, of_lab).context("--baseline")?;
            baseline.of_file.extend(std::iter::repeat_n(baseline.files.len(), results.len()));
            baseline.files.push(file);
            baseline.results.extend(results);
        }
        Ok(Some(baseline).filter(|_| !paths.is_empty()))
    }

    /// The earlier results.
    pub(super) fn results(&self) -> &[MeasureDocument] {
        &self.results
    }

    /// Which changes a measurement with so many connections of each kind would miss, in words.
    pub(super) fn foresight(&self, count: u32) -> Option<String> {
        let labels: BTreeSet<&str> = self.results.iter().map(|it| it.label.as_str()).collect();
        let of_servers: Vec<Vec<EarlierResult<'_>>> = match self.of_lab {
            true => labels.into_iter().map(|label| self.earlier(label).collect()).collect(),
            false => vec![self.earlier("").collect()],
        };
        reprise_results::foresight(&of_servers, count.into())
    }

    /// Notes in `document` what is other than in the earlier results of its label. The intervals follow from `seed`.
    pub(super) fn compare(&self, document: &mut MeasureDocument, seed: u64) {
        let earlier: Vec<EarlierResult<'_>> = self.earlier(&document.label).collect();
        let comparison = reprise_results::compare(document, &earlier, &self.scope, seed)
            .unwrap_or_else(|| reprise_results::no_such_result(document, &self.files.join(", ")));
        document.baseline = Some(Box::new(comparison));
    }

    /// The earlier results with this label; of a target all, whose name may have changed.
    fn earlier(&self, label: &str) -> impl Iterator<Item = EarlierResult<'_>> {
        let all = self.results.iter().zip(&self.of_file);
        let with_label = all.filter(move |(result, _)| !self.of_lab || result.label == label);
        with_label.filter_map(|(result, file)| Some(EarlierResult { result, file: self.files.get(*file)? }))
    }
}

fn read(path: &Path, of_lab: bool) -> anyhow::Result<(String, Vec<MeasureDocument>)> {
    let saved = Saved::read(path)?;
    let file = &saved.file;
    let results = match (saved.schema.as_str(), of_lab) {
        (MeasureDocument::SCHEMA, false) => vec![saved.document()?],
        (LabDocument::SCHEMA, true) => saved.document::<LabDocument>()?.results,
        (LabDocument::SCHEMA, false) => bail!("{file} is a result of the embedded lab: remove TARGET"),
        (MeasureDocument::SCHEMA, true) => {
            bail!("{file} is a result of one target: add it, 'reprise measure TARGET --baseline {file}'")
        }
        (other, _) => bail!("{}", why_not(file, other)),
    };
    Ok((saved.file, results))
}

/// `--baseline a.json example.org` takes both for files.
fn refuse_target(paths: &[PathBuf], of_lab: bool) -> anyhow::Result<()> {
    match paths {
        [_, .., last] if of_lab && last.as_os_str() != "-" && !last.exists() => {
            bail!("--baseline: no such file '{}'; if it is the TARGET, put it before --baseline", last.display())
        }
        _ => Ok(()),
    }
}

fn why_not(file: &str, schema: &str) -> String {
    let known = [MeasureDocument::SCHEMA, LabDocument::SCHEMA];
    let family = |schema: &'static str| schema.split_once('/').map(|(family, _)| family);
    if known.into_iter().any(|known| family(known) == schema.split_once('/').map(|(family, _)| family)) {
        return format!("{file} is '{schema}', from another version of reprise: this one reads {}", known.join(" and "));
    }
    format!("{file} is '{schema}', not a result of measure")
}

//! `reprise report FILE…`: saved results again, in any format; several side by side; several results of one load as one.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use reprise_board::document::BoardDocument;
use reprise_model::document::{
    ClientsDocument, CompareDocument, DiagnoseDocument, ExplainDocument, LabDocument, LayersDocument, LoadDocument,
    MeasureDocument, SideBySideDocument, SpeedDocument, TraceDocument,
};
use reprise_page::Shown;
use reprise_probe::Interrupt;
use reprise_report::{Document, Report};
use reprise_results::{loads_side_by_side, measurements_side_by_side};

use crate::ending::Ending;
use crate::outputs::{OutputArgs, Outputs};
use crate::saved_result::Saved;

/// Show a saved result again, in any format.
///
/// Of several, each figure of each kind and phase stands in a row, with the ratio to the first result and its interval; what else
/// is not the same is named. Results that have nothing in common are refused.
///
/// With --merge, the results of several generators that loaded one server at the same time become one: counts add up, and
/// the latencies are recomputed from the histograms, so that nothing is lost.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Results written by --json; '-' is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Merge several results of `load` into one
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    output: OutputArgs,
    /// Show every experiment of a diagnosis and its result
    #[arg(long, help_heading = "Output")]
    experiments: bool,
}

const EXAMPLES: &str = "\
Examples:
  reprise report result.json --markdown result.md    one result, in another format
  reprise report nginx.json haproxy.json             side by side, with the ratio to the first
  reprise report --merge one.json two.json           several generators of one load as one result";

pub(super) fn run(arguments: ReportArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let open = |schema: &str| {
        ensure!(
            !arguments.experiments || schema == DiagnoseDocument::SCHEMA,
            "--experiments applies only to results of diagnose"
        );
        arguments.output.check(schema)?;
        Outputs::open(&arguments.output, &[])
    };
    if arguments.merge {
        let outputs = open(LoadDocument::SCHEMA)?;
        let documents = arguments.files.iter().map(|file| load(file)).collect::<anyhow::Result<Vec<_>>>()?;
        outputs.write(Document::Load(&reprise_results::merge(&documents)?))?;
        return Ok(Ending::Done);
    }
    let [file] = arguments.files.as_slice() else {
        open(SideBySideDocument::SCHEMA)?.write(Document::SideBySide(&side_by_side(&arguments.files)?))?;
        return Ok(Ending::Done);
    };
    let saved = Saved::read(file)?;
    let outputs = open(&saved.schema)?;
    let part = Shown { experiments: arguments.experiments, ..Shown::default() };
    let write = |document: Document<'_>| outputs.write(Report { shown: part, ..document.into() });
    match saved.schema.as_str() {
        DiagnoseDocument::SCHEMA => write(Document::Diagnose(&saved.document()?))?,
        MeasureDocument::SCHEMA => write(Document::Measure(&saved.document()?))?,
        ClientsDocument::SCHEMA => write(Document::Clients(&saved.document()?))?,
        LabDocument::SCHEMA => write(Document::Lab(&saved.document()?))?,
        LoadDocument::SCHEMA => write(Document::Load(&saved.document()?))?,
        CompareDocument::SCHEMA => write(Document::Compare(&saved.document()?))?,
        LayersDocument::SCHEMA => write(Document::Layers(&saved.document()?))?,
        SpeedDocument::SCHEMA => write(Document::Speed(&saved.document()?))?,
        ExplainDocument::SCHEMA => write(Document::Explain(&saved.document()?))?,
        SideBySideDocument::SCHEMA => write(Document::SideBySide(&saved.document()?))?,
        BoardDocument::SCHEMA => write(Document::Board(&saved.document()?))?,
        TraceDocument::SCHEMA => write(Document::Trace(&saved.document()?))?,
        other => bail!("{}: unknown schema '{other}'", saved.file),
    }
    Ok(Ending::Done)
}

/// Several results of one command.
fn side_by_side(files: &[PathBuf]) -> anyhow::Result<SideBySideDocument> {
    let saved = files.iter().map(|file| Saved::read(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<String> = saved.iter().map(|saved| saved.file.clone()).collect();
    let Some(Saved { file, schema: first, .. }) = saved.first() else { bail!("no results") };
    if let Some(other) = saved.iter().find(|saved| saved.schema != *first) {
        bail!("{file} is of {first} and {} of {}: only results of one command stand side by side", other.file, other.schema);
    }
    match first.as_str() {
        MeasureDocument::SCHEMA => {
            let results = saved.iter().map(Saved::document).collect::<anyhow::Result<Vec<MeasureDocument>>>()?;
            Ok(measurements_side_by_side(&names, &results)?)
        }
        LoadDocument::SCHEMA => {
            let results = saved.iter().map(Saved::document).collect::<anyhow::Result<Vec<LoadDocument>>>()?;
            Ok(loads_side_by_side(&names, &results)?)
        }
        other => bail!(
            "{file} is of {other}: results of measure and of load can stand side by side; several of one load become one with --merge"
        ),
    }
}

/// What can be merged.
fn load(file: &Path) -> anyhow::Result<LoadDocument> {
    let saved = Saved::read(file)?;
    let Saved { file, schema, .. } = &saved;
    ensure!(
        schema == LoadDocument::SCHEMA,
        "{file}: --merge needs results of load ({}), this is {schema}",
        LoadDocument::SCHEMA
    );
    saved.document()
}

//! `reprise report FILE…`: saved results again, in any format; several results of one load as one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use reprise_trace::document::{LabDocument, LoadDocument, MeasureDocument, TraceDocument};
use serde::Deserialize;

use crate::ending::Ending;
use crate::outputs::{OutputArgs, Outputs};

/// Show a saved result again, in any format.
///
/// With --merge, the results of several generators that loaded one server at the same time become one: counts add up, and
/// the latencies are computed anew from the histograms, so that nothing is lost.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArgs {
    /// Results in JSON, as --json has written them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Make one result of several of `load`
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// What every document says of itself.
#[derive(Deserialize)]
struct Named {
    schema: String,
}

pub(crate) fn run(arguments: ReportArgs) -> anyhow::Result<Ending> {
    let outputs = Outputs::open(&arguments.output)?;
    if arguments.merge {
        let documents = arguments.files.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<LoadDocument>>>()?;
        outputs.write(&reprise_load::merge(&documents)?)?;
        return Ok(Ending::Done);
    }
    let [file] = arguments.files.as_slice() else {
        bail!("one FILE at a time; several results of one load become one with --merge");
    };
    match read::<Named>(file)?.schema.as_str() {
        MeasureDocument::SCHEMA => outputs.write(&read::<MeasureDocument>(file)?)?,
        LabDocument::SCHEMA => outputs.write(&read::<LabDocument>(file)?)?,
        LoadDocument::SCHEMA => outputs.write(&read::<LoadDocument>(file)?)?,
        TraceDocument::SCHEMA => outputs.write(&read::<TraceDocument>(file)?)?,
        other => bail!("{}: '{other}' is no result that this version knows", file.display()),
    }
    Ok(Ending::Done)
}

fn read<T: for<'a> Deserialize<'a>>(file: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds no such result", file.display()))
}

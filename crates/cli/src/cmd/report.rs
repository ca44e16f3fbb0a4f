//! `reprise report FILE…`: saved results again, in any format; several results of one load as one.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use reprise_trace::document::{
    CompareDocument, DiagnoseDocument, LabDocument, LoadDocument, MeasureDocument, TraceDocument,
};
use serde::Deserialize;

use crate::cmd::diagnose::formats::{FormatArgs, Formats};
use crate::ending::Ending;
use crate::outputs::{OutputArgs, Outputs};
use crate::saved_result::{Named, parse, read_text, shown};

/// Show a saved result again, in any format.
///
/// With --merge, the results of several generators that loaded one server at the same time become one: counts add up, and
/// the latencies are computed anew from the histograms, so that nothing is lost.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReportArgs {
    /// Results in JSON, as --json has written them; '-' is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Make one result of several of `load`
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    of_diagnosis: FormatArgs,
}

pub(crate) fn run(arguments: ReportArgs) -> anyhow::Result<Ending> {
    if arguments.merge {
        refuse_formats(&arguments.of_diagnosis)?;
        let outputs = Outputs::open(&arguments.output)?;
        let documents = arguments.files.iter().map(|file| Saved::read(file)?.load()).collect::<anyhow::Result<Vec<_>>>()?;
        outputs.write(&reprise_explain::merge(&documents)?)?;
        return Ok(Ending::Done);
    }
    let [file] = arguments.files.as_slice() else {
        bail!("one FILE at a time; several results of one load become one with --merge");
    };
    let saved = Saved::read(file)?;
    if saved.schema == DiagnoseDocument::SCHEMA {
        Formats::open(&arguments.output, &arguments.of_diagnosis)?.write(&saved.document()?)?;
        return Ok(Ending::Done);
    }
    refuse_formats(&arguments.of_diagnosis)?;
    let outputs = Outputs::open(&arguments.output)?;
    match saved.schema.as_str() {
        MeasureDocument::SCHEMA => outputs.write(&saved.document::<MeasureDocument>()?)?,
        LabDocument::SCHEMA => outputs.write(&saved.document::<LabDocument>()?)?,
        LoadDocument::SCHEMA => outputs.write(&saved.document::<LoadDocument>()?)?,
        CompareDocument::SCHEMA => outputs.write(&saved.document::<CompareDocument>()?)?,
        TraceDocument::SCHEMA => outputs.write(&saved.document::<TraceDocument>()?)?,
        other => bail!("{}: this version does not know results of the schema '{other}'", shown(file)),
    }
    Ok(Ending::Done)
}

/// What only a diagnosis can be shown in.
fn refuse_formats(formats: &FormatArgs) -> anyhow::Result<()> {
    if let Some((flag, _)) = formats.files().first() {
        bail!("{flag} is for results of diagnose alone");
    }
    ensure!(!formats.experiments, "--experiments is for results of diagnose alone");
    Ok(())
}

/// A file that says which document it holds.
struct Saved<'a> {
    file: &'a Path,
    text: String,
    schema: String,
}

impl<'a> Saved<'a> {
    fn read(file: &'a Path) -> anyhow::Result<Self> {
        let text = read_text(file)?;
        let Named { schema } = parse(&text).with_context(|| format!("{} holds no result of reprise", shown(file)))?;
        Ok(Self { file, text, schema })
    }

    fn document<T: for<'b> Deserialize<'b>>(&self) -> anyhow::Result<T> {
        let Self { file, text, schema } = self;
        parse(text).with_context(|| format!("{} says that it is {schema}, and is not", shown(file)))
    }

    /// What can be merged.
    fn load(&self) -> anyhow::Result<LoadDocument> {
        let (file, schema) = (shown(self.file), &self.schema);
        ensure!(
            schema == LoadDocument::SCHEMA,
            "{file}: --merge takes results of load, {}, and this is {schema}",
            LoadDocument::SCHEMA
        );
        self.document()
    }
}

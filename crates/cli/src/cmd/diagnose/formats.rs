//! The formats of a diagnosis: those of every result, SARIF and JUnit.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use reprise_report::{Shown, junit, sarif};
use reprise_trace::document::DiagnoseDocument;

use crate::outputs::{Output, OutputArgs, Outputs, check_standard_output, check_that_files_differ};
use crate::rendered::Found;

/// What only a diagnosis has.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormatArgs {
    /// Show every experiment and its result
    #[arg(long)]
    pub(crate) experiments: bool,
    /// Write the findings as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write the findings as JUnit XML: a suite per target, a case per cause; of measure and load, a case per condition
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

impl FormatArgs {
    /// The files that are named, with their flags.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let named = [("--sarif", &self.sarif), ("--junit", &self.junit)];
        named.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?))).collect()
    }
}

/// All outputs of a diagnosis, opened before anything is tried.
pub(crate) struct Formats {
    outputs: Outputs,
    sarif: Option<Output>,
    junit: Option<Output>,
    shown: Shown,
}

impl Formats {
    /// Opens every file; fails where one cannot be written or is named twice, or where two documents want standard output.
    pub(crate) fn open(output: &OutputArgs, formats: &FormatArgs, in_full: bool) -> anyhow::Result<Self> {
        let files = [output.files(), formats.files()].concat();
        check_that_files_differ(&files)?;
        check_standard_output(files)?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(Output::open).transpose();
        let outputs = Outputs::open(output)?;
        Ok(Self {
            sarif: open(&formats.sarif)?,
            junit: open(&formats.junit)?,
            shown: Shown { in_full, experiments: formats.experiments },
            outputs,
        })
    }

    /// Writes the result in every format that was asked for, and the page unless a document took standard output. One output
    /// that fails does not take the others along.
    pub(crate) fn write(self, document: &DiagnoseDocument) -> anyhow::Result<()> {
        let is_standard_taken = self.own().any(Output::is_standard);
        let Self { outputs, sarif, junit, shown } = self;
        let shown = Found { document, shown };
        let common = if is_standard_taken { outputs.write_documents(&shown) } else { outputs.write(&shown) };
        let write = |output: Option<Output>, render: fn(&DiagnoseDocument, &mut Vec<u8>) -> io::Result<()>| {
            output.map_or(Ok(()), |output| output.write_with(|out| render(document, out)))
        };
        let sarif = write(sarif, |document, out| sarif::diagnose(document, out));
        let junit = write(junit, |document, out| junit::diagnose(document, out));
        common.and(sarif).and(junit)
    }

    /// Those that other results do not have.
    fn own(&self) -> impl Iterator<Item = &Output> {
        [&self.sarif, &self.junit].into_iter().flatten()
    }
}

//! The formats of a diagnosis that not every result has: SARIF and JUnit.

use std::path::PathBuf;

use clap::Args;
use reprise_report::{junit, sarif};

use crate::outputs::NamedOutput;

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
    /// The files that are named.
    pub(crate) fn files(&self) -> Vec<NamedOutput<'_>> {
        let named = [("--sarif", &sarif::FORMAT, &self.sarif), ("--junit", &junit::FORMAT, &self.junit)];
        named.into_iter().filter_map(|(flag, format, path)| Some((flag, format, path.as_deref()?))).collect()
    }
}

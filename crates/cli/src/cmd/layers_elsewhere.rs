//! `reprise layers` where it cannot run: it says so, whatever its flags.

use std::ffi::OsString;

use anyhow::bail;
use clap::Args;
use reprise_probe::Interrupt;

use crate::ending::Ending;

/// What does it cost to start again at each level: on Linux alone.
#[derive(Args, Clone, Debug)]
pub(crate) struct LayersArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

pub(crate) fn run(_arguments: LayersArgs, _interrupt: &Interrupt) -> anyhow::Result<Ending> {
    bail!("layers requires Linux, this is {}: report shows saved results", std::env::consts::OS)
}

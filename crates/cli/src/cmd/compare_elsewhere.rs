//! `reprise compare` and `reprise stacks` where they cannot run: they say so, whatever their flags.

use std::ffi::OsString;

use anyhow::bail;
use clap::Args;
use reprise_probe::Interrupt;

use crate::ending::Ending;

/// What does a handshake cost in each TLS library: on Linux alone.
///
/// It needs that kernel's CPU clock of a thread and its way of loading plugins. report shows results of Linux here.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompareArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

/// Which TLS libraries are there to be compared: on Linux alone.
#[derive(Args, Clone, Debug)]
pub(crate) struct StacksArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

pub(crate) fn run(_arguments: CompareArgs, _interrupt: &Interrupt) -> anyhow::Result<Ending> {
    bail!("compare requires Linux, this is {}: report shows saved results", std::env::consts::OS)
}

pub(crate) fn run_stacks(_arguments: StacksArgs) -> anyhow::Result<Ending> {
    bail!("stacks requires Linux, this is {}", std::env::consts::OS)
}

pub(crate) fn run_child() -> anyhow::Result<Ending> {
    bail!("compare requires Linux")
}

//! `reprise load` where it cannot run: it says so, whatever its flags.

use std::ffi::OsString;

use anyhow::bail;
use clap::Args;
use reprise_probe::Interrupt;

use crate::ending::Ending;

/// Load a server with handshakes: on Linux alone.
///
/// The generator needs that kernel's timers, processors by name and account of who used them. measure, trace and report run
/// here, and report --merge makes one of results that generators on Linux have written.
#[derive(Args, Clone, Debug)]
pub(crate) struct LoadArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

pub(crate) fn run(_arguments: LoadArgs, _interrupt: &Interrupt) -> anyhow::Result<Ending> {
    bail!("load requires Linux, this is {}: measure and trace run here", std::env::consts::OS)
}

//! `reprise diagnose TARGET…`: does it resume everywhere; if not, why, and how to fix it?

mod flags;
pub(crate) mod formats;

pub(crate) use flags::DiagnoseArgs;

use reprise_probe::Interrupt;

use crate::ending::Ending;

pub(crate) fn run(arguments: DiagnoseArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let _ = (arguments.targets, interrupt);
    Ok(Ending::Done)
}

//! `reprise diagnose TARGET…`: does it resume everywhere; if not, why, and how to fix it?

mod command;
mod flags;
mod listen;
mod listen_flags;

pub(crate) use flags::DiagnoseArgs;

use reprise_probe::Interrupt;

use crate::ending::Ending;

pub(crate) fn run(arguments: DiagnoseArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    arguments.listen.check()?;
    if let Some(address) = arguments.listen.listen {
        return listen::run(&arguments, address, interrupt);
    }
    let _ = (arguments.targets, interrupt);
    Ok(Ending::Done)
}

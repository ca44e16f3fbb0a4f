//! What `compare`, `layers`, `speed`, `explain` and `stacks` run a TLS library in: a child process that is asked until its parent is gone.

use std::io;

use clap::Args;
use reprise_pairs::serve;
use reprise_probe::Interrupt;

use crate::ending::Ending;

/// Load a TLS library, and do with it what standard input asks
#[derive(Args, Clone)]
#[command(hide = true)]
pub(crate) struct StackChildArgs {}

/// What a child process does until it is asked no more.
pub(super) fn run(_: StackChildArgs, _: &Interrupt) -> anyhow::Result<Ending> {
    let questions =
        [reprise_pairs::QUESTIONS, reprise_compare::QUESTIONS, reprise_layers::QUESTIONS, reprise_speed::QUESTIONS].concat();
    serve(&questions, io::stdin().lock(), io::stdout().lock())?;
    Ok(Ending::Done)
}

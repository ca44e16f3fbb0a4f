//! The flags of `diagnose`, and what they mean to the probe.

use clap::Args;
use reprise_attempt::Target;

use super::listen_flags::ListenArgs;
use crate::connection_flags::ConnectionArgs;
use crate::outputs::OutputArgs;
use crate::values::parse_target;

/// Find out whether a server resumes, and if not, why, and how to fix it.
#[derive(Args, Clone, Debug)]
pub(crate) struct DiagnoseArgs {
    /// HOST[:PORT][/PATH] or an https URL, one or more
    #[arg(value_name = "TARGET", value_parser = parse_target)]
    pub(super) targets: Vec<Target>,

    #[command(flatten)]
    pub(super) listen: ListenArgs,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

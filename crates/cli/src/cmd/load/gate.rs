//! When a load is a bad answer: `--fail-if`, and what CI systems read of it, `--junit`.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use reprise_model::Kind;
use reprise_model::document::LoadDocument;
use reprise_report::junit;
use reprise_results::{ConditionError, LoadCondition, LoadPlanned};

use super::LoadArgs;
use crate::complaint::complaints;
use crate::outputs::NamedOutput;

/// The flags that hold a result against something.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Gate")]
pub(crate) struct GateArgs {
    /// Exit with 1 if this condition is met or cannot be evaluated; repeatable: 'failed > 0.1%', 'status.5xx > 0',
    /// 'rate < 2000', 'ticket.rate < 500/s', 'latency.p99 > 20ms' (from the intended start), 'ticket.tls.p95 > 5ms',
    /// 'kinds.ticket < 90%', 'refused > 0', 'not_started > 0', 'server_cpu > 300us' and 'client_cpu > 50us' (a connection),
    /// 'client_busy > 90%'
    #[arg(long, value_name = "CONDITION", value_parser = parse_condition)]
    fail_if: Vec<LoadCondition>,
    /// Write what came of each --fail-if as JUnit XML, for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl GateArgs {
    /// The file that is named to be written.
    pub(super) fn files(&self) -> Vec<NamedOutput<'_>> {
        self.junit.as_deref().map(|path| ("--junit", &junit::FORMAT, path)).into_iter().collect()
    }
}

/// What a result is held against.
pub(super) struct Gate {
    conditions: Vec<LoadCondition>,
}

impl Gate {
    /// Refuses conditions that such a load cannot answer.
    pub(super) fn open(arguments: &LoadArgs) -> anyhow::Result<Self> {
        let kinds: Vec<Kind> = arguments.mix.0.iter().map(|(kind, _)| *kind).collect();
        let planned = LoadPlanned {
            kinds: &kinds,
            requests: arguments.requests,
            http: arguments.starttls.is_none(),
            server_cpu: arguments.server_pid.is_some(),
            open: arguments.rate.is_some(),
        };
        for condition in &arguments.gate.fail_if {
            if let Some(why) = condition.impossible(&planned) {
                bail!("--fail-if '{condition}' cannot be evaluated: {why}");
            }
        }
        Ok(Self { conditions: arguments.gate.fail_if.clone() })
    }

    /// Notes what came of each condition: those that are met or unknown, in words.
    pub(super) fn judge(&self, document: &mut LoadDocument) -> Option<String> {
        document.conditions = self.conditions.iter().map(|condition| condition.record(document)).collect();
        complaints(&document.conditions)
    }
}

fn parse_condition(text: &str) -> Result<LoadCondition, String> {
    text.parse().map_err(|error: ConditionError| error.to_string())
}

//! `reprise speed`: how fast the operations are that handshakes are made of, and the floor.

use std::time::Duration;

use anyhow::ensure;
use clap::Args;
use reprise_model::Operation;
use reprise_model::document::CompareOver;
use reprise_pairs::Effort;
use reprise_probe::Interrupt;
use reprise_report::Document;
use reprise_speed::{Primitive, SpeedPlan, catalogue, speed};

use crate::cmd::compare::{PluginArgs, Waiting, chosen, plugins, transports};
use crate::ending::Ending;
use crate::outputs::{OutputArgs, Outputs};
use crate::provenance::provenance;
use crate::values::{self, one_of};

/// Measure the operations that handshakes and records are made of, in every TLS library, and the least that a handshake can
/// cost.
///
/// Signatures, key exchanges, AEADs, hashes, key derivation and random bytes, each in every stack, with the CPU's instructions
/// for AES and SHA and without. Then handshakes of each stack, and how far they stand above the floor: the operations that the
/// protocol demands, each at the best that was measured.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES)]
pub(super) struct SpeedArgs {
    /// Operations; all of them by default
    #[arg(value_parser = one_of(Operation::ALL.map(|it| (it.name(), it))))]
    operations: Vec<Operation>,
    /// Algorithms, as tables name them: p-256, aes-128-gcm
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Narrow")]
    algorithms: Vec<String>,
    /// Use these stacks, by their names in 'reprise stacks'
    #[arg(long, value_delimiter = ',', help_heading = "Narrow")]
    stacks: Vec<String>,
    /// Do not measure without the CPU's instructions
    #[arg(long, help_heading = "Narrow")]
    no_software: bool,
    /// Do not measure handshakes, and show no floor
    ///
    /// So also where operations or algorithms are named.
    #[arg(long, help_heading = "Narrow")]
    no_floor: bool,
    /// Predict handshakes over memory, or loopback too
    ///
    /// By CPU time in memory; over loopback also between two processes, each on its own core if there are two, by wall-clock time.
    #[arg(long, value_parser = one_of(transports()), default_value = "memory", hide_possible_values = true, help_heading = "Measure")]
    over: CompareOver,
    /// Samples per operation
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "quick", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Measure")]
    samples: u32,
    /// Fewer and shorter samples, for an overview
    #[arg(long, help_heading = "Measure")]
    quick: bool,
    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measure")]
    seed: u64,
    /// Maximum time a library may take to answer; then its process is killed
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = values::parse_duration, help_heading = "Measure")]
    timeout: Duration,
    #[command(flatten)]
    plugins: PluginArgs,
    #[command(flatten)]
    outputs: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise speed                                  everything, and the floor
  reprise speed sign verify --algorithms p-256   ECDSA alone
  reprise speed --over loopback                  and handshakes predicted on a clock
  reprise speed --quick --json speed.json        an overview, and its figures";

/// CPU time of one sample.
const SAMPLE: Duration = Duration::from_millis(2);
/// Of an overview.
const QUICK: Effort = Effort { samples: 6, sample_ns: 500_000 };

pub(super) fn run(arguments: SpeedArgs, interrupt: &Interrupt) -> anyhow::Result<Ending> {
    let primitives = narrowed(&arguments.operations, &arguments.algorithms)?;
    let launcher = plugins::launcher(arguments.timeout)?;
    let stacks = chosen(plugins::found_and_usable(&arguments.plugins, &launcher)?, &arguments.stacks)?;
    let outputs = Outputs::open(&arguments.outputs, &[])?;
    let usual = Effort { samples: arguments.samples, sample_ns: SAMPLE.as_nanos() as u64 };
    let is_all = primitives.len() == catalogue().len();
    ensure!(
        arguments.over == CompareOver::Memory || (is_all && !arguments.no_floor),
        "'--over loopback' is for handshakes: remove '--no-floor', and the operations and algorithms that are named"
    );
    let plan = SpeedPlan {
        primitives: &primitives,
        stacks: &stacks,
        effort: if arguments.quick { QUICK } else { usual },
        without_instructions: !arguments.no_software,
        floor: is_all && !arguments.no_floor,
        over: arguments.over,
        seed: arguments.seed,
    };
    let mut waiting = Waiting::new("stacks prepared", interrupt);
    let measured = speed(&plan, &launcher, provenance(), &mut waiting);
    waiting.progress.finish();
    let document = measured?;
    outputs.write(Document::Speed(&document))?;
    Ok(match (document.interrupted, document.rows.is_empty()) {
        (true, _) => Ending::Interrupted,
        (false, true) => Ending::BadAnswer("no stack has any of these operations: see 'Not measured'".to_owned()),
        (false, false) => Ending::Done,
    })
}

/// The operations and algorithms that are named; all, where none is.
fn narrowed(operations: &[Operation], algorithms: &[String]) -> anyhow::Result<Vec<Primitive>> {
    let all = catalogue();
    if let Some(unknown) = algorithms.iter().find(|name| all.iter().all(|it| it.algorithm != **name)) {
        let mut known: Vec<&str> = Vec::new();
        for primitive in &all {
            if !known.contains(&primitive.algorithm) {
                known.push(primitive.algorithm);
            }
        }
        anyhow::bail!("unknown algorithm '{unknown}'; known: {}", known.join(", "));
    }
    let is_wanted = |it: &Primitive| {
        (operations.is_empty() || operations.contains(&it.operation))
            && (algorithms.is_empty() || algorithms.iter().any(|name| it.algorithm == name))
    };
    let wanted: Vec<Primitive> = all.into_iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "none of these operations has one of these algorithms");
    Ok(wanted)
}

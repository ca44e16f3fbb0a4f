//! The flags of `reprise compare`, and those of all commands that load plugins.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use reprise_compare::Scenario;
use reprise_model::Version;
use reprise_model::document::CompareOver;
use reprise_pairs::{Key, LARGEST_RECORD};
use reprise_wire::{CipherSuite, NamedGroup};

use super::gate::{CONDITIONS, GateArgs};
use super::link::LinkArgs;
use crate::outputs::OutputArgs;
use crate::values::{self, explained, one_of};

/// Compare TLS libraries side by side
///
/// A client and a server of the same library make connections in memory, each side's CPU time on its own clock, or over loopback, each
/// side in a process of its own; every library, key, version and kind in turn, in a random order. The wire is read along: what was negotiated is what was asked for, or
/// there is no figure. Each pair runs in a process of its own, so that what crashes or hangs is one row.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES, mut_arg("fail_if", |flag| flag.help(CONDITIONS)))]
pub(crate) struct CompareArgs {
    /// What to compare
    #[arg(value_parser = scenarios())]
    pub(super) scenario: Scenario,
    /// Use only these stacks, by the names that 'reprise stacks' lists; all by default
    #[arg(long, value_delimiter = ',', help_heading = "Narrow")]
    pub(super) stacks: Vec<String>,
    /// Keys of the certificates: rsa-1024, rsa-2048, rsa-3072, rsa-4096, p-256, p-384, ed25519, ml-dsa-44, ml-dsa-65, ml-dsa-65-chain, p-256-by-ml-dsa-65; an external PSK has none
    #[arg(long, value_delimiter = ',', help_heading = "Narrow")]
    pub(super) keys: Vec<Key>,
    /// Versions: 1.2, 1.3
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', help_heading = "Narrow")]
    pub(super) tls: Vec<Version>,
    /// Groups, each offered alone: x25519, secp256r1, ffdhe2048, X25519MLKEM768, SecP256r1MLKEM768, MLKEM768
    #[arg(long, value_delimiter = ',', value_parser = group, help_heading = "Narrow")]
    pub(super) groups: Vec<NamedGroup>,
    /// Cipher suites, each offered alone, by IANA or OpenSSL name
    #[arg(long, value_delimiter = ',', value_parser = suite, help_heading = "Narrow")]
    pub(super) suites: Vec<CipherSuite>,
    /// Bytes of data in each record, of 'throughput'; at most so many, of 'memory' with small buffers
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=i64::from(LARGEST_RECORD)), help_heading = "Narrow")]
    pub(super) records: Vec<u16>,
    /// Transport: memory, for CPU time; loopback, TCP between two processes, each on its own core if there are two, for
    /// wall-clock time as well
    #[arg(long, value_parser = one_of(transports()), default_value = "memory", help_heading = "Measure")]
    pub(super) over: CompareOver,
    /// Measure every client with every server, not only each stack with itself
    #[arg(long, help_heading = "Measure")]
    pub(super) crossed: bool,
    /// Samples per row; each is the mean over about 10 ms of connections
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Measure")]
    pub(super) samples: u32,
    /// Take fewer and shorter samples: enough to rank the stacks
    #[arg(long, conflicts_with = "samples", help_heading = "Measure")]
    pub(super) quick: bool,
    /// Of 'resumption': make connections in so many threads at once over one context of each side, each number in turn, as 1,2,4. Full and
    /// resumed handshakes without a request, in place of the usual figures; of libraries that allow it
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=MOST_THREADS), conflicts_with_all = ["instructions", "resume", "baseline", "rtt"], help_heading = "Measure")]
    pub(super) threads: Vec<u32>,
    /// Also count each side's instructions with valgrind's callgrind: two short runs per side and row
    #[arg(long, help_heading = "Measure")]
    pub(super) instructions: bool,
    /// Resume an interrupted run from its --json file: same stacks, handshakes and seed; only the missing samples are taken
    #[arg(long, requires = "json", help_heading = "Measure")]
    pub(super) resume: bool,
    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measure")]
    pub(super) seed: u64,
    /// Maximum time a library may take to answer; then its process is killed
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::parse_duration, help_heading = "Measure")]
    pub(super) timeout: Duration,
    #[command(flatten)]
    pub(super) link: LinkArgs,
    #[command(flatten)]
    pub(super) gate: GateArgs,
    #[command(flatten)]
    pub(super) plugins: PluginArgs,
    #[command(flatten)]
    pub(super) outputs: OutputArgs,
}

/// More say no more of a library on any machine of today's.
const MOST_THREADS: i64 = 256;

/// Where plugins are.
#[derive(Args, Clone)]
#[command(next_help_heading = "Plugins")]
pub(crate) struct PluginArgs {
    /// Load this plugin as well
    #[arg(long = "plugin", value_name = "FILE.so")]
    pub(in crate::cmd) files: Vec<PathBuf>,
    /// Look for plugins in these directories, instead of beside the program and in the user's data directory
    #[arg(long = "plugins", value_name = "DIR", env = "REPRISE_STACKS", value_delimiter = ':')]
    pub(super) folders: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  reprise compare resumption --quick                 what resuming saves, in every stack that is there
  reprise compare resumption --threads 1,2           what more threads over one context make of it
  reprise compare full --keys p-256 --groups x25519  TLS 1.2 against 1.3
  reprise compare mutual --over loopback             where client and server compute at the same time
  reprise compare psk --keys p-256                   what a shared key saves on certificates
  reprise compare pregenerate --keys p-256           what key pairs made ahead and shorter chains save
  reprise compare post-quantum                       what ML-KEM and ML-DSA cost, in CPU time, bytes and round trips
  reprise compare full --rtt 0..200ms                from which round-trip time on TLS 1.3 is ahead
  reprise compare throughput --records 16384,512     bulk data, by suite and record size
  reprise compare memory                             the heap of a connection and of a context
  reprise compare stacks --json stacks.json          RSA and EC, full and resumed, cheapest first
  reprise stacks                                     what is there, and how to get more";

/// What connections are made over.
pub(crate) fn transports() -> [(PossibleValue, CompareOver); 2] {
    let memory = explained("memory", "Both sides in one thread, one after the other");
    let loopback = explained("loopback", "TCP on 127.0.0.1, each side in its own process, concurrently");
    [(memory, CompareOver::Memory), (loopback, CompareOver::Loopback)]
}

fn scenarios() -> impl TypedValueParser<Value = Scenario> {
    one_of(Scenario::ALL.map(|scenario| (explained(scenario.name, scenario.help), scenario)))
}

fn group(name: &str) -> Result<NamedGroup, String> {
    NamedGroup::from_name(name).ok_or_else(|| format!("unknown group '{name}'"))
}

fn suite(name: &str) -> Result<CipherSuite, String> {
    CipherSuite::from_name(name).ok_or_else(|| format!("unknown cipher suite '{name}'"))
}

//! The flags of `load`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use reprise_attempt::Target;
use reprise_trace::Version;
use reprise_wire::{CipherSuite, NamedGroup};

use super::flag_values::{self, Mix, Names, Processors};
use crate::outputs::OutputArgs;
use crate::values::{self, List};

/// Load a server with handshakes: how many a second does it hold, and who is the bottleneck?
///
/// The client costs next to nothing: it verifies no certificate and offers unit key shares, whose shared secret is the
/// server's own public value. Such connections hide nothing. The server's Finished is always verified, and every
/// connection is counted as what it was observed to be.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// HOST[:PORT][/PATH] or an https URL; of a name with several addresses, the first that accepts a connection is loaded
    #[arg(value_name = "TARGET", value_parser = values::parse_target)]
    pub(super) target: Target,
    /// The target is not on this machine, and its owner agrees to be loaded; without it, a name's addresses elsewhere are passed over
    #[arg(long)]
    pub(super) i_may_load_this_target: bool,

    /// Connections at once: a closed loop, or with --rate the most that wait for an answer
    #[arg(short, long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Shape")]
    pub(super) connections: u32,
    /// Connections each second: an open loop, whose latencies count from the intended start as well
    #[arg(short, long, value_name = "R", value_parser = flag_values::parse_rate, help_heading = "Shape")]
    pub(super) rate: Option<f64>,
    /// How the connections of --rate are spread over time
    #[arg(long, value_enum, default_value_t = SpreadArg::Constant, requires = "rate", help_heading = "Shape")]
    pub(super) spread: SpreadArg,
    /// Grow to the full load over this time
    #[arg(long, value_name = "DURATION", value_parser = values::parse_duration, help_heading = "Shape")]
    pub(super) ramp: Option<Duration>,
    /// Do not count what begins in this time
    #[arg(long, value_name = "DURATION", value_parser = values::parse_duration, help_heading = "Shape")]
    pub(super) warmup: Option<Duration>,
    /// How long, the warm-up not included: 500ms, 10s, 2m, 8h
    #[arg(short, long, value_name = "DURATION", default_value = "10s", value_parser = values::parse_long_duration, help_heading = "Shape")]
    pub(super) duration: Duration,
    /// So many connections, instead of --duration; the warm-up not included
    #[arg(short = 'n', long, conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Shape")]
    pub(super) count: Option<u64>,
    /// Search the highest rate at which this quantile stays within this latency, 'p99=20ms'; --rate is the first one tried and may
    /// be far too high, --duration the time that each is given, or longer to have enough connections to judge it by
    #[arg(long, value_name = "QUANTILE=DURATION", requires = "rate", conflicts_with = "count", value_parser = flag_values::parse_step, help_heading = "Shape")]
    pub(super) step: Option<(f64, Duration)>,

    /// The kinds of handshake by weight: full=70,id=10,ticket=20
    #[arg(long, value_name = "MIX", default_value = "full", value_parser = flag_values::parse_mix, help_heading = "Connections")]
    pub(super) mix: Mix,
    /// Requests on each connection; 0 for services that are not HTTP
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Connections")]
    pub(super) requests: u32,
    /// The path to request instead of the target's
    #[arg(long, value_parser = values::parse_path, help_heading = "Connections")]
    pub(super) path: Option<String>,
    /// A further header field, 'Name: value'; may be given more than once
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = values::parse_header, help_heading = "Connections")]
    pub(super) header: Vec<(String, String)>,
    /// How a connection ends: with a reset, which leaves no port in TIME_WAIT; with a FIN; with a close_notify and a FIN
    #[arg(long, value_enum, default_value_t = CloseArg::Rst, help_heading = "Connections")]
    pub(super) close: CloseArg,
    /// Sessions that are held for resumption, by default as many as --connections
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Connections")]
    pub(super) sessions: Option<u32>,
    /// Use TLS 1.3 tickets more than once
    #[arg(long, help_heading = "Connections")]
    pub(super) reuse_tickets: bool,

    /// The version: 1.2 or 1.3
    #[arg(long, value_name = "VERSION", default_value = "1.3", value_parser = values::parse_version, help_heading = "TLS")]
    pub(super) tls: Version,
    /// The cipher suites to offer, by IANA's or OpenSSL's names, separated by ',' or ':'
    #[arg(long, value_name = "SUITES", value_parser = values::parse_ciphers, help_heading = "TLS")]
    pub(super) ciphers: Option<List<CipherSuite>>,
    /// The groups to offer, the first with a key share: x25519, secp256r1, secp384r1, X25519MLKEM768
    #[arg(long, value_name = "GROUPS", value_parser = flag_values::parse_groups, help_heading = "TLS")]
    pub(super) groups: Option<List<NamedGroup>>,
    /// The names to send, by weight: 'a.example=3,b.example'; by default the target's host
    #[arg(long, value_name = "NAMES", value_parser = flag_values::parse_names, help_heading = "TLS")]
    pub(super) sni: Option<Names>,
    /// Where key shares come from: of no cost and no secrecy, one kept pair, or a new pair for each connection
    #[arg(long, value_enum, default_value_t = KeySharesArg::Unit, help_heading = "TLS")]
    pub(super) key_shares: KeySharesArg,
    /// Verify the server's certificate and its signatures, as a real client does
    #[arg(long, help_heading = "TLS")]
    pub(super) verify: bool,
    /// Trust the root certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", requires = "verify", help_heading = "TLS")]
    pub(super) ca: Option<PathBuf>,
    /// The client's certificate chain, PEM
    #[arg(short = 'E', long, value_name = "FILE", help_heading = "TLS")]
    pub(super) cert: Option<PathBuf>,
    /// Its private key, PEM; by default in the file of --cert
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "TLS")]
    pub(super) key: Option<PathBuf>,

    /// Threads, each with its own event loop
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Generator")]
    pub(super) threads: u32,
    /// Pin the threads to these processors, in turns: 1,3 or 2-5
    #[arg(long, value_name = "PROCESSORS", value_parser = flag_values::parse_processors, help_heading = "Generator")]
    pub(super) pin: Option<Processors>,
    /// The server's process, if it runs on this machine: its processor time, and that of its children, is shown
    #[arg(long, value_name = "PID", help_heading = "Generator")]
    pub(super) server_pid: Option<u32>,
    /// Begin at this time, in seconds since 1970, so that several generators begin together
    #[arg(long, value_name = "SECONDS", help_heading = "Generator")]
    pub(super) start_at: Option<u64>,
    /// Where the arrivals of a Poisson process come from
    #[arg(long, default_value_t = 0, help_heading = "Generator")]
    pub(super) seed: u64,
    /// The address to connect to, instead of resolving the name and taking the first of its addresses that accepts a connection
    #[arg(long, value_name = "ADDRESS", help_heading = "Generator")]
    pub(super) resolve: Option<IpAddr>,
    /// How long one connection may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = values::parse_duration, help_heading = "Generator")]
    pub(super) timeout: Duration,

    /// Do not tell on standard error how it proceeds
    #[arg(short, long, help_heading = "Output")]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  reprise load localhost:8443                                  full TLS 1.3 handshakes, 64 at once
  reprise load localhost:8443 --mix full=1,ticket=4 --tls 1.2  a mix of kinds
  reprise load localhost:8443 --rate 2000 --spread poisson     an open loop
  reprise load localhost:8443 --rate 500 --step p99=20ms       the highest rate within a latency
  reprise load localhost:8443 --server-pid $(pidof -s nginx)   whose processor time was it?";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SpreadArg {
    Constant,
    Poisson,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum CloseArg {
    Rst,
    Fin,
    Notify,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum KeySharesArg {
    Unit,
    Reused,
    Fresh,
}

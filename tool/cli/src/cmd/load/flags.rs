//! The flags of `load`.

use std::time::Duration;

use clap::Args;
use reprise_connection::Target;
use reprise_load::{ArrivalSpread, Close, KeyShareMode, Stage, WeightedName};
use reprise_model::{Kind, Version};
use reprise_results::LoadPlanned;

use super::flag_values;
use crate::connection_flags::ConnectionArgs;
use crate::gate::ConditionArgs;
use crate::outputs::OutputArgs;
use crate::values::{self, List, one_of};

/// Load-test handshakes: rate, latency, bottleneck.
///
/// The client costs next to nothing: it verifies no certificate and offers unit key shares, whose shared secret is the
/// server's own public value. Such connections hide nothing. The server's Finished is always verified, and every
/// connection is counted as what it was observed to be.
#[derive(Args, Clone)]
#[command(
    after_help = EXAMPLES,
    mut_arg("fail_if", |flag| flag.help(CONDITIONS)),
    mut_arg("alpn", |flag| flag.help(ALPN)),
    mut_arg("ca", |flag| flag.requires("verify")),
    mut_arg("groups", |flag| flag.help(GROUPS).value_parser(flag_values::parse_groups)),
    mut_arg("insecure", |flag| flag.help("Trust any certificate, as load does unless --verify is given").conflicts_with("verify")),
    mut_arg("resolve", |flag| flag.help("Connect to this address, instead of the name's first address that accepts a connection")),
    mut_arg("starttls", |flag| flag.help(STARTTLS))
)]
pub(crate) struct LoadArgs {
    /// HOST[:PORT][/PATH] or an https URL; if a name has several addresses, the first that accepts a connection is used
    #[arg(value_name = "TARGET")]
    pub(super) target: Target,
    /// Allow a target that is not on this machine: confirm that its owner agrees. Without this flag, addresses elsewhere are
    /// skipped
    #[arg(long)]
    pub(super) i_may_load_this_target: bool,

    /// Concurrent connections: a closed loop, or with --rate or --stage the maximum in flight
    #[arg(short, long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Shape")]
    pub(super) connections: u32,
    /// Start this many connections per second: an open loop; latency is also measured from the intended start
    #[arg(short, long, value_name = "R", group = "open_loop", value_parser = values::parse_rate, help_heading = "Shape")]
    pub(super) rate: Option<f64>,
    /// Start R connections per second for this time: an open loop like --rate; repeat it for the stages that follow, instead of
    /// --duration: '--stage 30s:500 --stage 1m:2000'
    #[arg(long, value_name = "DURATION:R", group = "open_loop", conflicts_with_all = ["duration", "count", "ramp", "step"], value_parser = flag_values::parse_stage, help_heading = "Shape")]
    pub(super) stage: Vec<Stage>,
    /// Arrival pattern of --rate and --stage
    #[arg(long, value_parser = one_of(SPREADS), default_value = "constant", requires = "open_loop", help_heading = "Shape")]
    pub(super) spread: ArrivalSpread,
    /// Increase to the full load over this time
    #[arg(long, value_name = "DURATION", value_parser = values::parse_wait, help_heading = "Shape")]
    pub(super) ramp: Option<Duration>,
    /// Exclude connections that start in this time
    #[arg(long, value_name = "DURATION", value_parser = values::parse_wait, help_heading = "Shape")]
    pub(super) warmup: Option<Duration>,
    /// Run this long, excluding the warm-up: 500ms, 10s, 2m, 8h
    #[arg(short, long, value_name = "DURATION", default_value = "10s", value_parser = values::parse_long_duration, help_heading = "Shape")]
    pub(super) duration: Duration,
    /// Make this many connections instead of --duration, excluding the warm-up
    #[arg(short = 'n', long, conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Shape")]
    pub(super) count: Option<u64>,
    /// Find the highest rate at which this latency quantile holds, 'p99=20ms'. Start at --rate, which may be far too high;
    /// test each rate for --duration, or longer where it needs more connections
    #[arg(long, value_name = "QUANTILE=DURATION", requires = "rate", conflicts_with = "count", value_parser = flag_values::parse_step, help_heading = "Shape")]
    pub(super) step: Option<(f64, Duration)>,

    /// One load for each of these shares of connections that offer a session, in per cent: 'resumed=0,50,100', or 'resumed=0..100' for
    /// five. With --server-pid, also what a full and a resumed connection cost the server. --mix names the kinds that resume
    #[arg(long, value_name = "resumed=SHARES", conflicts_with_all = ["step", "stage"], value_parser = flag_values::parse_sweep, help_heading = "Shape")]
    pub(super) sweep: Option<List<u32>>,
    /// Processors that this many connections per second need, today and after a restart that loses all sessions: from --sweep, by
    /// default resumed=0..100. Needs --server-pid
    #[arg(long, value_name = "R", conflicts_with_all = ["step", "stage"], value_parser = values::parse_rate, help_heading = "Plan")]
    pub(super) plan: Option<f64>,
    /// Share of the connections that resume today, in per cent; by default as measured where most offer a session
    #[arg(long, value_name = "PERCENT", requires = "plan", value_parser = flag_values::parse_share, help_heading = "Plan")]
    pub(super) share: Option<f64>,
    /// Time between two connections of one client: the plan then says how long the server takes to recover from the restart
    #[arg(long, value_name = "DURATION", requires = "plan", value_parser = values::parse_long_duration, help_heading = "Plan")]
    pub(super) gap: Option<Duration>,
    /// Processors that the server is to have; by default those that the measured server can use
    #[arg(long, value_name = "N", requires = "plan", value_parser = flag_values::parse_cores, help_heading = "Plan")]
    pub(super) cores: Option<f64>,

    /// Mix of handshake kinds, by weight: full=70,id=10,ticket=20
    #[arg(long, value_name = "MIX", default_value = "full", value_parser = flag_values::parse_mix, help_heading = "Connections")]
    pub(super) mix: List<(Kind, u32)>,
    /// Requests per connection; 0 for services other than HTTP
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Connections")]
    pub(super) requests: u32,
    /// Close connections with a reset (leaves no port in TIME_WAIT), a FIN, or a close_notify and a FIN
    #[arg(long, value_parser = one_of(CLOSES), default_value = "rst", help_heading = "Connections")]
    pub(super) close: Close,
    /// Keep this many sessions for resumption; by default as many as --connections
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Connections")]
    pub(super) sessions: Option<u32>,
    /// Use TLS 1.3 tickets more than once
    #[arg(long, help_heading = "Connections")]
    pub(super) reuse_tickets: bool,

    /// TLS version: 1.2 or 1.3
    #[arg(long, value_name = "VERSION", default_value = "1.3", help_heading = "TLS")]
    pub(super) tls: Version,
    /// Server names to send, by weight: 'a.example=3,b.example'; by default the target's host
    #[arg(long, value_name = "NAMES", value_parser = flag_values::parse_names, help_heading = "TLS")]
    pub(super) sni: Option<List<WeightedName>>,
    /// Key shares: unit (no cost, no secrecy), one reused pair, or a fresh pair per connection
    #[arg(long, value_parser = one_of(KEY_SHARES), default_value = "unit", help_heading = "TLS")]
    pub(super) key_shares: KeyShareMode,
    /// Verify the server's certificate and its signatures, as a real client does
    #[arg(long, help_heading = "Certificates")]
    pub(super) verify: bool,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,

    /// Number of threads, each with its own event loop
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Generator")]
    pub(super) threads: u32,
    /// Pin the threads to these processors, round-robin: 1,3 or 2-5
    #[arg(long, value_name = "PROCESSORS", value_parser = flag_values::parse_processors, help_heading = "Generator")]
    pub(super) pin: Option<List<usize>>,
    /// Show the processor time of this local server process and its children
    #[arg(long, value_name = "PID", help_heading = "Generator")]
    pub(super) server_pid: Option<u32>,
    /// Start at this Unix time, in seconds, so that several generators start together
    #[arg(long, value_name = "SECONDS", help_heading = "Generator")]
    pub(super) start_at: Option<u64>,
    /// Seed of the Poisson arrivals
    #[arg(long, default_value_t = 0, help_heading = "Generator")]
    pub(super) seed: u64,

    #[command(flatten)]
    pub(super) gate: ConditionArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// What differs from the flags of the same names that other commands have.
const ALPN: &str = "\
Offer these ALPN protocols: 'h2,http/1.1'; none by default. The server's choice carries the requests; 'dot' asks questions of DNS over TLS";
const GROUPS: &str = "\
Offer these groups, with a key share for the first: x25519, secp256r1, secp384r1, X25519MLKEM768";
const STARTTLS: &str = "\
Start without TLS and upgrade; after the handshake a harmless command is sent, unless --requests 0";

/// What `--fail-if` may name.
const CONDITIONS: &str = "\
Exit with 1 if this condition is met or cannot be evaluated; repeatable: 'failed > 0.1%', 'status.5xx > 0', 'rate < 2000', \
'ticket.rate < 500/s', 'latency.p99 > 20ms' (from the intended start), 'ticket.tls.p95 > 5ms', 'kinds.ticket < 90%', \
'refused > 0', 'not_started > 0', 'server_cpu > 300us' and 'client_cpu > 50us' (a connection), 'client_busy > 90%', or any figure \
by its path in the JSON: '.rate.mean < 2000'";

const EXAMPLES: &str = "\
Examples:
  reprise load localhost:8443                                  full TLS 1.3 handshakes, 64 at once
  reprise load localhost:8443 --mix full=1,ticket=4 --tls 1.2  a mix of kinds
  reprise load localhost:8443 --rate 2000 --spread poisson     an open loop
  reprise load localhost:8443 --stage 30s:500 --stage 1m:2000  a rate that changes
  reprise load localhost:8443 --rate 500 --step p99=20ms       the highest rate within a latency
  reprise load localhost:8443 --sweep resumed=0..100           what resuming saves the server
  reprise load localhost:8443 --alpn h2 --requests 10          HTTP/2, ten requests a connection
  reprise load localhost:8443 --fail-if 'latency.p99 > 20ms'   exit 1 if it is slower
  reprise load localhost:8443 --server-pid $(pidof -s nginx)   whose processor time was it?";

const SPREADS: [(&str, ArrivalSpread); 2] = [("constant", ArrivalSpread::Constant), ("poisson", ArrivalSpread::Poisson)];

const CLOSES: [(&str, Close); 3] = [("rst", Close::Rst), ("fin", Close::Fin), ("notify", Close::Notify)];

const KEY_SHARES: [(&str, KeyShareMode); 3] =
    [("unit", KeyShareMode::Unit), ("reused", KeyShareMode::Reused), ("fresh", KeyShareMode::Fresh)];

impl LoadArgs {
    /// The kinds that are asked for.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let asked = self.mix.0.iter().map(|(kind, _)| *kind);
        if self.shares().is_none() {
            return asked.collect();
        }
        let resumed: Vec<Kind> = asked.filter(|kind| kind.is_resumption()).collect();
        let resumed = if resumed.is_empty() { vec![Kind::Ticket] } else { resumed };
        std::iter::once(Kind::Full).chain(resumed).collect()
    }

    /// What conditions may ask of the load.
    pub(super) fn planned<'a>(&self, kinds: &'a [Kind]) -> LoadPlanned<'a> {
        LoadPlanned {
            kinds,
            requests: self.requests,
            http: self.is_http(),
            server_cpu: self.server_pid.is_some(),
            open: self.rate.is_some() || !self.stage.is_empty(),
        }
    }
}

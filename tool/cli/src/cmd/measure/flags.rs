//! The flags of `measure`, and what they mean to the probe.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use reprise_connection::Target;
use reprise_connection::exchange::ConnectionReuse;
use reprise_model::{Kind, Version};
use reprise_probe::Options;
use rustls_pki_types::CertificateDer;

use crate::gate::ConditionArgs;
use crate::outputs::OutputArgs;
use crate::probe_flags::{ProbeArgs, check_name};
use crate::resumption_flags::ResumptionArgs;
use crate::session_files::SessionFileArgs;
use crate::values::{Like, like, one_of, parse_long_duration, parse_rate};

/// Measure what a connection costs, new and resumed, phase by phase.
///
/// For each version that the target speaks and each kind of handshake that it offers, connections are made in a random
/// order in which each kind precedes each equally often, so that neither a drift of the machine nor what a connection leaves
/// behind is taken for a difference. Every sample says what was observed, not what was asked. Without a target, an embedded
/// lab on loopback is measured: two keys, resumption off, by session ID, by ticket.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES, mut_arg("fail_if", |flag| flag.help(CONDITIONS)), mut_arg("like", |flag| flag.value_parser(like())))]
pub(crate) struct MeasureArgs {
    /// HOST[:PORT][/PATH] or an https URL; without it, the embedded lab
    #[arg(value_name = "TARGET")]
    pub(super) target: Option<Target>,

    /// Use only these TLS versions: 1.2, 1.3
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', help_heading = "What to measure")]
    pub(super) tls: Vec<Version>,
    /// Measure only these kinds: full, id, ticket, psk, early. Exit with 1 unless every sample is of the kind asked for
    #[arg(long, value_name = "KINDS", value_delimiter = ',', help_heading = "What to measure")]
    pub(super) kinds: Vec<Kind>,
    /// Number of connections per version and kind [default: 100, with --like all 20 for each client]
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "What to measure")]
    count: Option<u32>,
    /// Close after the first response, or keep the connection alive and send the request again
    #[arg(long, value_parser = one_of(CONNECTIONS), default_value = "close", help_heading = "What to measure")]
    connections: ConnectionReuse,

    /// Begin at most this many counted connections per second to each server
    #[arg(long, value_name = "R", value_parser = parse_rate, help_heading = "What to measure")]
    rate: Option<f64>,

    /// Seed of the connection order and of the bootstrap
    #[arg(long, default_value_t = 0, help_heading = "What to measure")]
    pub(super) seed: u64,

    /// Show remedies for this server software: nginx, Apache, HAProxy, …; by default what the server reveals
    #[arg(long, value_name = "NAME", requires = "target", conflicts_with = "every", help_heading = "Output")]
    pub(super) server_software: Option<String>,

    #[command(flatten)]
    resumption: ResumptionArgs,
    #[command(flatten)]
    pub(super) session_files: SessionFileArgs,
    #[command(flatten)]
    pub(super) probe: ProbeArgs,
    #[command(flatten)]
    pub(super) gate: GateArgs,
    #[command(flatten)]
    pub(super) watch: WatchArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// The flags that hold a result against something.
#[derive(Args, Clone)]
#[command(next_help_heading = "Gate")]
pub(crate) struct GateArgs {
    /// Compare with earlier results, written by --json: show what changed beyond its interval, and whether TLS, the machine
    /// or the network changed; '-' is standard input. With three or more, the interval covers the variation between runs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) baseline: Vec<PathBuf>,
    /// Measure the processor time of this local server process and its children, per connection
    #[arg(long, value_name = "PID")]
    pub(super) server_pid: Option<u32>,
    #[command(flatten)]
    pub(super) fail_if: ConditionArgs,
}

/// The flags of a measurement that is repeated.
#[derive(Args, Clone)]
#[command(next_help_heading = "Watch")]
pub(crate) struct WatchArgs {
    /// Measure again every 60s, 5m or 1h until Ctrl-C, one line per round; --json then appends one result per line (JSON
    /// Lines)
    #[arg(long, value_name = "PERIOD", value_parser = parse_long_duration, conflicts_with_all = ["csv", "markdown", "html", "har", "junit", "session_in", "session_out", "verbose"])]
    pub(super) every: Option<Duration>,
    /// With --every, stop after this many rounds
    #[arg(long, value_name = "N", requires = "every", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) repeats: Option<u64>,
    /// With --every, serve the figures as OpenMetrics at http://ADDR/metrics; a port alone listens on loopback
    #[arg(long, value_name = "ADDR", requires = "every")]
    pub(super) metrics: Option<String>,
}

/// What `--fail-if` may name.
const CONDITIONS: &str = "\
Exit with 1 if this condition is met or cannot be evaluated; repeatable. Reliable on a busy machine: 'kinds.ticket < 100%', \
'failed > 0', 'findings.fault', 'finding.not-offered', and with --count 400 'baseline.tls.slower > 0', which allows for changes of \
the machine, of the network and by chance (a busy machine still calls a few of 100 unchanged servers slower: several baselines make it fewer). Absolute times are not: '1.3.ticket.tls.p99 > 20ms', 'baseline.tls.raw_change > 10%'. \
Any figure is also named by its path in the JSON: '.runs[].phases.tls.p99_ns > 20ms'";

const EXAMPLES: &str = "\
Examples:
  reprise measure                                       the embedded lab
  reprise measure example.org                           a server of yours
  reprise measure example.org --kinds ticket            fail (1) unless tickets are accepted each time
  reprise measure 10.0.0.7:8443 --sni api.example.org --ca ca.pem --cert client.pem --key client.key
  reprise measure mail.example.org:993 --no-request     a service that is not HTTP
  reprise measure example.org --baseline before.json    what changed since
  reprise measure example.org -n 400 --baseline runs/*.json --fail-if 'baseline.tls.slower > 0'
  reprise measure example.org --fail-if 'tls.resumed.ratio < 1.5'
  reprise measure example.org --every 60s --json watch.jsonl --metrics 127.0.0.1:9464
  reprise measure mail.example.org --starttls smtp      one that begins in the clear
  reprise measure example.org --json - | jq .ratios     the document instead of the page";

const CONNECTIONS: [(&str, ConnectionReuse); 2] =
    [("close", ConnectionReuse::Close), ("keepalive", ConnectionReuse::KeepAlive)];

impl MeasureArgs {
    /// The number of connections per version and kind.
    pub(super) fn count(&self) -> u32 {
        self.count.unwrap_or(if matches!(self.probe.connection.like, Some(Like::All)) { 20 } else { 100 })
    }

    /// What is to be measured; `None` for the embedded lab.
    pub(super) fn target(&self) -> Option<Target> {
        self.target.clone().map(|target| self.probe.connection.aim(target))
    }

    /// The probe's options. Reads every file that is named, so that what is wrong is found before anything is measured.
    /// Where no flag says whom to trust, it is `authority`, or else the system's roots.
    pub(super) fn into_options(self, authority: Option<CertificateDer<'static>>) -> anyhow::Result<Options> {
        let repeats = self.connections == ConnectionReuse::KeepAlive;
        if let Some(protocol) = self.probe.connection.starttls.filter(|_| repeats) {
            bail!("--connections keepalive repeats an HTTP request: it cannot be used with --starttls {protocol}");
        }
        if repeats && self.probe.no_request {
            bail!("--connections keepalive repeats the request: it cannot be used with --no-request");
        }
        if self.target.is_none() && !self.probe.is_direct() {
            bail!("--starttls, --proxy and --proxy-protocol need a target");
        }
        let count = self.count();
        let options = Options {
            versions: self.tls,
            kinds: self.kinds,
            count,
            seed: self.seed,
            connections: self.connections,
            spacing: self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate)),
            ..self.probe.into_options(authority)?
        };
        let options = self.resumption.add_to(options)?;
        if let Some(target) = &self.target {
            check_name(target, &options)?;
        }
        Ok(options)
    }
}

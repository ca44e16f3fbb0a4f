//! The flags of `diagnose`, and what they mean to the probe.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use reprise_connection::Target;
use reprise_connection::prologue::StartTls;
use reprise_model::Version;
use reprise_page::Shown;
use reprise_probe::crossing::CrossingLimits;
use reprise_probe::diagnose::DiagnoseLimits;
use reprise_probe::fleet::usual_connections;
use reprise_probe::isolation::Holder;
use reprise_probe::{FtpLogin, Options};
use reprise_results::DiagnosePlanned;

use super::listed_targets::listed_targets;
use super::listen_flags::ListenArgs;
use crate::connection_flags::{FTP_PASSWORD, ask_ftp_password, check_ech_grease, read_identity};
use crate::gate::{ConditionArgs, Gate};
use crate::outputs::OutputArgs;
use crate::probe_flags::{ProbeArgs, check_name};
use crate::saved_result::read_text;
use crate::server_process::check_server;
use crate::values::{parse_duration, parse_wait};

/// Find out why sessions are not resumed, and how to fix it.
///
/// A few connections each vary one thing: the same session twice, another name, an end without close_notify, many at once. What
/// they come to tells causes apart. Exit status 1 if there is a fault that is certain or likely.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES, mut_arg("fail_if", |flag| flag.help(CONDITIONS)))]
pub(crate) struct DiagnoseArgs {
    /// HOST[:PORT][/PATH] or an https URL, one or more
    #[arg(value_name = "TARGET")]
    targets: Vec<Target>,
    /// Diagnose the targets as nodes that should share their sessions: those of each are offered to all
    #[arg(long, conflicts_with_all = ["isolation", "fill", "burst", "patience", "server_pid"], help_heading = "Nodes together")]
    pub(super) together: bool,
    /// Take every address that a target's name resolves to, IPv4 and IPv6, as a node; or each --resolve (repeatable here)
    #[arg(long, requires = "together", conflicts_with = "proxy", help_heading = "Nodes together")]
    pub(super) all_addresses: bool,
    /// Read targets from this file, one per line; '-' is standard input, # starts a comment. The JSON of Kubernetes EndpointSlices and of
    /// 'docker inspect' is read as well
    #[arg(long, value_name = "FILE", help_heading = "What to try")]
    targets_from: Option<PathBuf>,

    /// Offer the sessions of each target to the others, without a client certificate and with each --cert (repeatable here), and
    /// find those that enter where full handshakes are refused
    #[arg(long, conflicts_with_all = ["server_pid", "fill", "burst", "patience"], help_heading = "What to try")]
    pub(super) isolation: bool,
    /// Use only these TLS versions: 1.2, 1.3
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', help_heading = "What to try")]
    tls: Vec<Version>,
    /// Full handshakes between two uses of a session, to test the server's cache; about ten by default, in the connections that are chosen one by one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u32).range(..=100_000), help_heading = "What to try")]
    fill: u32,
    /// Concurrent connections, to test whether there are enough sessions
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=256), help_heading = "What to try")]
    burst: u32,
    /// Wait this long before a session is offered again, to test its lifetime; some seconds in all by default, none with 0
    #[arg(long, value_name = "DURATION", value_parser = parse_wait, help_heading = "What to try")]
    patience: Option<Duration>,
    /// Maximum connections per target; by default 200, plus what --fill and --burst need beyond their defaults
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "What to try")]
    connections: Option<u32>,
    /// Maximum connections started per second
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "What to try")]
    rate: u32,
    /// Maximum time per target
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_duration, help_heading = "What to try")]
    max_time: Duration,
    /// With --starttls ftp, log in as this user to try the data channel; the password comes from REPRISE_FTP_PASSWORD, or
    /// is asked for. By default anonymous
    #[arg(long, value_name = "NAME", requires = "starttls", conflicts_with_all = ["listen", "together", "isolation"], help_heading = "What to try")]
    ftp_user: Option<String>,
    /// Measure the processor time of this local server process and its children: findings then include what a full handshake
    /// costs it
    #[arg(long, value_name = "PID", help_heading = "What to try")]
    pub(super) server_pid: Option<u32>,
    /// Show every experiment and its result
    #[arg(long, help_heading = "Output")]
    pub(super) experiments: bool,
    /// Show remedies for this server software: nginx, Apache, HAProxy, …; by default what the server reveals
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(super) server_software: Option<String>,

    #[command(flatten)]
    pub(super) listen: ListenArgs,
    #[command(flatten)]
    pub(super) probe: ProbeArgs,
    #[command(flatten)]
    pub(super) gate: ConditionArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// What `--fail-if` may name.
const CONDITIONS: &str = "\
Exit with 1 if this condition is met or cannot be evaluated; repeatable: 'findings.risk', 'findings.fault.possible', \
'finding.single-use', '1.3.kinds.ticket < 100%' (of the sessions that were offered, nothing being varied), 'isolation.broken > 0' (with \
--isolation), 'fleet.shared < 100%' (with --together), or any figure by its path \
in the JSON: '.targets[].connections > 100'";

const EXAMPLES: &str = "\
Examples:
  reprise diagnose example.org                          does it resume, and if not, why?
  reprise diagnose a.example.org b.example.org:8443     one after the other
  reprise diagnose example.org --patience 90s           is a session still good after 90 s?
  reprise diagnose example.org --fill 500               does a session survive 500 others?
  reprise diagnose --together a.example.org b.example.org   do they accept each other's sessions?
  reprise diagnose --together --all-addresses example.org   do all addresses of a name?
  kubectl get endpointslices -l kubernetes.io/service-name=web -o json | reprise diagnose --together --targets-from -
  reprise diagnose mail.example.org --starttls smtp
  reprise diagnose --isolation open.example.org strict.example.org --cert c.pem   whose sessions enter where they must not?
  reprise diagnose localhost:8443 --server-pid $(pidof -s nginx)   what does it cost the server's processor?
  reprise diagnose example.org --json - | jq '.targets[].findings[].id'";

impl DiagnoseArgs {
    /// How much of the result the page shows.
    pub(super) fn shown(&self) -> Shown {
        Shown { experiments: self.experiments, ..Shown::default() }
    }

    /// How much may be asked of each target.
    pub(super) fn limits(&self) -> DiagnoseLimits {
        let usual = DiagnoseLimits::default();
        // Who wants to see more of them at once, or in between, wants them to be made: under two mechanisms each.
        let more = self.fill.saturating_sub(usual.fill) + self.burst.saturating_sub(usual.burst);
        let connections = self.connections.unwrap_or(usual.connections + 2 * more);
        let (rate, time, fill, burst, patience) = (self.rate, self.max_time, self.fill, self.burst, self.patience);
        DiagnoseLimits { connections, rate, time, fill, burst, patience }
    }

    /// Those that are named, and those of the file.
    pub(super) fn targets(&self) -> anyhow::Result<Vec<Target>> {
        let mut targets = self.targets.clone();
        if let Some(path) = &self.targets_from {
            let text = read_text(path)?;
            if text.trim_start().starts_with(['{', '[']) {
                targets.extend(listed_targets(&text).with_context(|| path.display().to_string())?);
                return self.aimed(targets);
            }
            for (number, line) in text.lines().enumerate() {
                let target = line.split('#').next().unwrap_or_default().trim();
                if !target.is_empty() {
                    let parsed = target.parse::<Target>();
                    targets.push(parsed.with_context(|| format!("{}, line {}", path.display(), number + 1))?);
                }
            }
        }
        self.aimed(targets)
    }

    /// Who logs in.
    fn ftp_login(&self, options: &Options) -> anyhow::Result<Option<FtpLogin>> {
        let Some(user) = &self.ftp_user else { return Ok(None) };
        if options.starttls != Some(StartTls::Ftp) {
            bail!("--ftp-user needs --starttls ftp");
        }
        let is_one_line = |text: &str| !text.contains(['\r', '\n']);
        let password = ask_ftp_password(user).map_err(anyhow::Error::msg)?;
        if !is_one_line(user) || !is_one_line(&password) {
            bail!("--ftp-user and {FTP_PASSWORD} are one line each");
        }
        Ok(Some(FtpLogin { user: user.clone(), password }))
    }

    fn aimed(&self, targets: Vec<Target>) -> anyhow::Result<Vec<Target>> {
        if targets.is_empty() {
            bail!("no target: name one, or a file of targets with --targets-from");
        }
        Ok(targets.into_iter().map(|target| self.probe.connection.aim(target)).collect())
    }

    /// How much may be asked of nodes together: the time of one for each, and as many connections as their number takes.
    pub(super) fn limits_together(&self, nodes: usize) -> CrossingLimits {
        let connections = self.connections.unwrap_or_else(|| usual_connections(nodes));
        let time = self.max_time.saturating_mul(u32::try_from(nodes).unwrap_or(u32::MAX).min(10));
        CrossingLimits { connections, rate: self.rate, time, ..CrossingLimits::default() }
    }

    /// Reads the conditions; refuses those that such a diagnosis cannot answer.
    pub(super) fn conditions(&self) -> anyhow::Result<Gate> {
        let Self { isolation, together, .. } = *self;
        Gate::open(&self.gate, &DiagnosePlanned { versions: &self.tls, isolation, together })
    }

    /// A process that is not there would be shown as one that used nothing.
    pub(super) fn check_server(&self, targets: &[Target]) -> anyhow::Result<()> {
        if self.server_pid.is_some() && targets.len() > 1 {
            bail!("--server-pid needs exactly one target");
        }
        check_server(self.server_pid)
    }

    /// The options of every connection but for the client's identity, and who makes them: a client without a certificate, and one
    /// with each that is named.
    pub(super) fn isolation_options(&self, targets: &[Target]) -> anyhow::Result<(Options, Vec<Holder>)> {
        let nobody = Holder { name: None, identity: None };
        let mut holders = vec![nobody];
        for files in self.probe.connection.identity_files()? {
            let name = Some(files.0.display().to_string());
            holders.push(Holder { name, identity: Some(read_identity(files)?) });
        }
        let alike = Self { probe: self.probe.without_identity(), ..self.clone() };
        let options = alike.options(targets)?;
        if options.request.as_ref().is_some_and(|request| !["GET", "HEAD"].contains(&request.method.as_str())) {
            bail!("--isolation sends GET and HEAD only: what it asks for may be answered to whom it must not be");
        }
        Ok((options, holders))
    }

    /// The probe's options. Reads every file that is named, so that what is wrong is found before anything is tried.
    pub(super) fn options(&self, targets: &[Target]) -> anyhow::Result<Options> {
        // Of nodes, each has an address of its own.
        let alike = if self.all_addresses { self.probe.without_addresses() } else { self.probe.clone() };
        let options = alike.into_options(None)?;
        check_ech_grease(options.ech_grease, &self.tls)?;
        targets.iter().try_for_each(|target| check_name(target, &options))?;
        let ftp_login = self.ftp_login(&options)?;
        // An experiment changes one thing of a ClientHello that fits into one segment: what a large one meets is an experiment too.
        Ok(Options { versions: self.tls.clone(), ftp_login, hybrid: false, ..options })
    }
}

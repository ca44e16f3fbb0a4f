//! The flags of `load`, and what they mean to the generator.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use reprise_engine::{CertificatePolicy, WebPkiVerifier};
use reprise_load::{
    Arrival, Close, End, KeyShareMode, Options, Spread, StepTarget, TlsOptions, WeightedName, engine_configs,
};
use reprise_probe::Target;
use reprise_trace::{Kind, Nanos, Version};
use reprise_wire::{CipherSuite, NamedGroup};

use crate::connection_flags as values;
use crate::outputs::OutputArgs;

/// Load a server with handshakes: how many a second does it hold, and who is the bottleneck?
///
/// The client costs next to nothing: it verifies no certificate and offers unit key shares, whose shared secret is the
/// server's own public value. Such connections hide nothing. The server's Finished is always verified, and every
/// connection is counted as what it was observed to be.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// HOST[:PORT][/PATH] or an https URL
    #[arg(value_name = "TARGET", value_parser = values::parse_target)]
    pub(super) target: Target,
    /// The target is not on this machine, and its owner agrees to be loaded
    #[arg(long)]
    pub(super) i_may_load_this_target: bool,

    /// Connections at once: a closed loop, or with --rate the most that wait for an answer
    #[arg(short, long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Shape")]
    connections: u32,
    /// Connections each second: an open loop, whose latencies count from the intended start as well
    #[arg(short, long, value_name = "R", value_parser = parse_rate, help_heading = "Shape")]
    rate: Option<f64>,
    /// How the connections of --rate are spread over time
    #[arg(long, value_enum, default_value_t = SpreadArg::Constant, requires = "rate", help_heading = "Shape")]
    spread: SpreadArg,
    /// Grow to the full load over this time
    #[arg(long, value_name = "DURATION", value_parser = values::parse_duration, help_heading = "Shape")]
    ramp: Option<Duration>,
    /// Do not count what begins in this time
    #[arg(long, value_name = "DURATION", value_parser = values::parse_duration, help_heading = "Shape")]
    warmup: Option<Duration>,
    /// How long, the warm-up not included
    #[arg(short, long, value_name = "DURATION", default_value = "10s", value_parser = values::parse_duration, help_heading = "Shape")]
    duration: Duration,
    /// So many connections, instead of --duration
    #[arg(short = 'n', long, conflicts_with = "duration", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Shape")]
    count: Option<u64>,
    /// Search the highest rate at which this quantile stays within this latency, 'p99=20ms'; --rate is the first one tried,
    /// --duration the time that each is given
    #[arg(long, value_name = "QUANTILE=DURATION", requires = "rate", conflicts_with = "count", value_parser = parse_step, help_heading = "Shape")]
    step: Option<(f64, Duration)>,

    /// The kinds of handshake by weight: full=70,id=10,ticket=20
    #[arg(long, value_name = "MIX", default_value = "full", value_parser = parse_mix, help_heading = "Connections")]
    mix: Mix,
    /// Requests on each connection; 0 for services that are not HTTP
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=1_000_000), help_heading = "Connections")]
    requests: u32,
    /// The path to request instead of the target's
    #[arg(long, value_parser = values::parse_path, help_heading = "Connections")]
    path: Option<String>,
    /// A further header field, 'Name: value'; may be given more than once
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = values::parse_header, help_heading = "Connections")]
    header: Vec<(String, String)>,
    /// How a connection ends: with a reset, which leaves no port in TIME_WAIT; with a FIN; with a close_notify and a FIN
    #[arg(long, value_enum, default_value_t = CloseArg::Rst, help_heading = "Connections")]
    close: CloseArg,
    /// Sessions that are held for resumption
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Connections")]
    sessions: Option<u32>,
    /// Use TLS 1.3 tickets more than once
    #[arg(long, help_heading = "Connections")]
    reuse_tickets: bool,

    /// The version: 1.2 or 1.3
    #[arg(long, value_name = "VERSION", default_value = "1.3", value_parser = values::parse_version, help_heading = "TLS")]
    tls: Version,
    /// The cipher suites to offer, by IANA's or OpenSSL's names, separated by ',' or ':'
    #[arg(long, value_name = "SUITES", value_parser = values::parse_ciphers, help_heading = "TLS")]
    ciphers: Option<values::List<CipherSuite>>,
    /// The groups to offer, the first with a key share: x25519, secp256r1, secp384r1, X25519MLKEM768
    #[arg(long, value_name = "GROUPS", value_parser = parse_groups, help_heading = "TLS")]
    groups: Option<Groups>,
    /// The names to send, by weight: 'a.example=3,b.example'; by default the target's host
    #[arg(long, value_name = "NAMES", value_parser = parse_names, help_heading = "TLS")]
    sni: Option<Names>,
    /// Where key shares come from: of no cost and no secrecy, one kept pair, or a new pair for each connection
    #[arg(long, value_enum, default_value_t = KeySharesArg::Unit, help_heading = "TLS")]
    key_shares: KeySharesArg,
    /// Verify the server's certificate and its signatures, as a real client does
    #[arg(long, help_heading = "TLS")]
    verify: bool,
    /// Trust the root certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", requires = "verify", help_heading = "TLS")]
    ca: Option<PathBuf>,
    /// The client's certificate chain, PEM
    #[arg(short = 'E', long, value_name = "FILE", help_heading = "TLS")]
    cert: Option<PathBuf>,
    /// Its private key, PEM; by default in the file of --cert
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "TLS")]
    key: Option<PathBuf>,

    /// Threads, each with its own event loop
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Generator")]
    threads: u32,
    /// Pin the threads to these processors, in turns: 1,3 or 2-5
    #[arg(long, value_name = "PROCESSORS", value_parser = parse_processors, help_heading = "Generator")]
    pin: Option<Processors>,
    /// The server's process, if it runs on this machine: its processor time, and that of its children, is shown
    #[arg(long, value_name = "PID", help_heading = "Generator")]
    server_pid: Option<u32>,
    /// Begin at this time, in seconds since 1970, so that several generators begin together
    #[arg(long, value_name = "SECONDS", help_heading = "Generator")]
    pub(super) start_at: Option<u64>,
    /// Where the arrivals of a Poisson process come from
    #[arg(long, default_value_t = 0, help_heading = "Generator")]
    seed: u64,
    /// The address to connect to, instead of resolving the name
    #[arg(long, value_name = "ADDRESS", help_heading = "Generator")]
    pub(super) resolve: Option<IpAddr>,
    /// How long one connection may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = values::parse_duration, help_heading = "Generator")]
    timeout: Duration,

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
enum SpreadArg {
    Constant,
    Poisson,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CloseArg {
    Rst,
    Fin,
    Notify,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeySharesArg {
    Unit,
    Reused,
    Fresh,
}

/// Kinds by weight.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mix(Vec<(Kind, u32)>);

/// Names by weight.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names(Vec<WeightedName>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Groups(Vec<NamedGroup>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Processors(Vec<usize>);

impl LoadArgs {
    /// The path that is requested.
    pub(super) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.target.path)
    }

    /// What a search is to hold.
    pub(super) fn step_target(&self) -> Option<StepTarget> {
        let (quantile, latency) = self.step?;
        Some(StepTarget { quantile, latency: Nanos::from(latency), duration: self.duration })
    }

    /// The generator's options. Reads every file that is named.
    pub(super) fn options(&self, address: SocketAddr) -> anyhow::Result<Options> {
        let most = self.connections as usize;
        let arrival = match self.rate {
            None => Arrival::Closed { connections: most },
            Some(rate) => Arrival::Open {
                rate,
                spread: match self.spread {
                    SpreadArg::Constant => Spread::Constant,
                    SpreadArg::Poisson => Spread::Poisson,
                },
                most,
            },
        };
        if self.tls == Version::Tls13 && self.mix.0.iter().any(|(kind, _)| *kind == Kind::Id) {
            bail!("TLS 1.3 knows no session IDs: use ticket in --mix, or --tls 1.2");
        }
        Ok(Options {
            tls: Arc::new(self.tls_options()?),
            arrival,
            ramp: self.ramp.unwrap_or_default(),
            warmup: self.warmup.unwrap_or_default(),
            end: self.count.map_or(End::After(self.duration), End::Count),
            mix: self.mix.0.clone(),
            requests: self.requests,
            close: match self.close {
                CloseArg::Rst => Close::Rst,
                CloseArg::Fin => Close::Fin,
                CloseArg::Notify => Close::Notify,
            },
            threads: (self.threads as usize).min(most),
            processors: self.pin.as_ref().map(|pin| pin.0.clone()).unwrap_or_default(),
            sessions: self.sessions.unwrap_or(self.connections) as usize,
            timeout: self.timeout,
            seed: self.seed,
            server_pid: self.server_pid,
            ..Options::new(address, self.request())
        })
    }

    fn tls_options(&self) -> anyhow::Result<TlsOptions> {
        let defaults = TlsOptions::new(self.tls);
        let server_names = match &self.sni {
            Some(names) => names.0.clone(),
            // RFC 6066 §3: an address is never sent.
            None => {
                vec![WeightedName { name: self.target.address().is_none().then(|| self.target.host.clone()), weight: 1 }]
            }
        };
        let mut tls = TlsOptions {
            cipher_suites: match &self.ciphers {
                Some(list) => list.0.iter().copied().filter(|suite| defaults.cipher_suites.contains(suite)).collect(),
                None => defaults.cipher_suites.clone(),
            },
            groups: self.group_list(&defaults.groups)?,
            server_names,
            key_shares: match self.key_shares {
                KeySharesArg::Unit => KeyShareMode::Unit,
                KeySharesArg::Reused => KeyShareMode::Reused,
                KeySharesArg::Fresh => KeyShareMode::Fresh,
            },
            reuse_tickets: self.reuse_tickets,
            ..defaults
        };
        if tls.cipher_suites.is_empty() {
            bail!("none of --ciphers belongs to TLS {}", self.tls.number());
        }
        if self.verify || self.cert.is_some() {
            tls.engine = self.engine(&tls)?;
        }
        Ok(tls)
    }

    fn group_list(&self, defaults: &[NamedGroup]) -> anyhow::Result<Vec<NamedGroup>> {
        let Some(Groups(mut groups)) = self.groups.clone() else { return Ok(defaults.to_vec()) };
        if self.tls == Version::Tls12 {
            if groups.contains(&NamedGroup::X25519MLKEM768) {
                bail!("X25519MLKEM768 is a group of TLS 1.3");
            }
            // RFC 8422 §5.1: an ECDSA certificate's curve must be among them, or the server finds no suite in common.
            for curve in [NamedGroup::SECP256R1, NamedGroup::SECP384R1] {
                if !groups.contains(&curve) {
                    groups.push(curve);
                }
            }
        }
        Ok(groups)
    }

    fn engine(&self, tls: &TlsOptions) -> anyhow::Result<Vec<Arc<reprise_engine::Config>>> {
        if tls.key_shares == KeyShareMode::Reused {
            bail!("--verify and --cert go with --key-shares unit or fresh: the engine uses each share once");
        }
        if tls.groups.contains(&NamedGroup::X25519MLKEM768) {
            bail!("--verify and --cert do not go with X25519MLKEM768 yet");
        }
        let certificates = match (self.verify, &self.ca) {
            (false, _) => CertificatePolicy::AcceptAnyChain,
            (true, Some(path)) => {
                CertificatePolicy::Verify(Arc::new(WebPkiVerifier::new(&reprise_probe::read_roots(path)?).0))
            }
            (true, None) => CertificatePolicy::Verify(Arc::new(WebPkiVerifier::new(&reprise_probe::platform_roots()?).0)),
        };
        let identity = match &self.cert {
            Some(cert) => {
                let key = self.key.as_ref().unwrap_or(cert);
                Some(Arc::new(reprise_probe::load_identity(cert, key, &values::ask_passphrase)?))
            }
            None => None,
        };
        match engine_configs(tls, &self.target.host, &certificates, identity.as_ref()) {
            Some(configs) => Ok(configs),
            None => bail!("a name of --sni is none that a certificate can be for"),
        }
    }

    fn request(&self) -> Vec<u8> {
        let given = |name: &str| self.header.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let mut text = format!("GET {} HTTP/1.1\r\n", self.path());
        if !given("host") {
            text += &format!("Host: {}\r\n", self.target.authority());
        }
        if !given("user-agent") {
            text += concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"), "\r\n");
        }
        for (name, value) in &self.header {
            text += &format!("{name}: {value}\r\n");
        }
        text += "\r\n";
        text.into_bytes()
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 10_000_000.0 => Ok(rate),
        _ => Err(format!("'{text}' is no rate: connections each second, above 0 and up to ten million")),
    }
}

fn parse_step(text: &str) -> Result<(f64, Duration), String> {
    let complain = || format!("'{text}' is no latency to be held: write p99=20ms");
    let (quantile, latency) = text.split_once('=').ok_or_else(complain)?;
    let digits = quantile.strip_prefix('p').ok_or_else(complain)?;
    let percent: f64 = digits.parse().map_err(|_| complain())?;
    if percent <= 0.0 || percent > 100.0 {
        return Err(complain());
    }
    Ok((percent / 100.0, values::parse_duration(latency)?))
}

fn parse_weight(text: &str) -> Result<(&str, u32), String> {
    let (name, weight) = text.split_once('=').unwrap_or((text, "1"));
    let weight = weight.parse().ok().filter(|weight| (1..=1_000_000).contains(weight));
    weight.map(|weight| (name, weight)).ok_or_else(|| format!("the weight of '{name}' is no number from 1 to 1000000"))
}

fn parse_mix(text: &str) -> Result<Mix, String> {
    let mut mix: Vec<(Kind, u32)> = Vec::new();
    for part in text.split(',') {
        let (name, weight) = parse_weight(part)?;
        let kind = match name.parse()? {
            kind @ (Kind::Full | Kind::Id | Kind::Ticket) => kind,
            other => return Err(format!("the kind {other} cannot be loaded: full, id and ticket can")),
        };
        if mix.iter().any(|(known, _)| *known == kind) {
            return Err(format!("{kind} stands twice"));
        }
        mix.push((kind, weight));
    }
    Ok(Mix(mix))
}

fn parse_names(text: &str) -> Result<Names, String> {
    let parse = |part| {
        let (name, weight) = parse_weight(part)?;
        let name = values::parse_server_name(name)?;
        Ok(WeightedName { name: name.parse::<IpAddr>().is_err().then_some(name), weight })
    };
    text.split(',').map(parse).collect::<Result<_, String>>().map(Names)
}

fn parse_groups(text: &str) -> Result<Groups, String> {
    const SPOKEN: [NamedGroup; 4] =
        [NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1, NamedGroup::X25519MLKEM768];
    let parse = |name: &str| match NamedGroup::from_name(name) {
        Some(group) if SPOKEN.contains(&group) => Ok(group),
        Some(group) => Err(format!("{group} is known and not spoken: x25519, secp256r1, secp384r1 and X25519MLKEM768 are")),
        None => Err(format!("no group is named '{name}'")),
    };
    let groups: Vec<NamedGroup> = text.split([',', ':']).map(parse).collect::<Result<_, _>>()?;
    let twice = groups.iter().enumerate().find(|(place, group)| groups.iter().take(*place).any(|before| before == *group));
    match twice {
        Some((_, group)) => Err(format!("{group} stands twice")),
        None => Ok(Groups(groups)),
    }
}

fn parse_processors(text: &str) -> Result<Processors, String> {
    let number = |text: &str| {
        let number = text.parse::<usize>().ok().filter(|number| *number < 4096);
        number.ok_or_else(|| format!("'{text}' is no processor: write 1,3 or 2-5"))
    };
    let mut processors = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((first, last)) => processors.extend(number(first)?..=number(last)?),
            None => processors.push(number(part)?),
        }
    }
    if processors.is_empty() { Err(format!("'{text}' names no processor")) } else { Ok(Processors(processors)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_has_weights() {
        assert_eq!(parse_mix("full=70,id=10,ticket=20").unwrap().0, [(Kind::Full, 70), (Kind::Id, 10), (Kind::Ticket, 20)]);
        assert_eq!(parse_mix("ticket").unwrap().0, [(Kind::Ticket, 1)]);
        for wrong in ["", "full=0", "full=x", "full,full", "psk", "early", "full=-1"] {
            assert!(parse_mix(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_have_weights_and_addresses_are_not_sent() {
        let names = parse_names("a.example=3,127.0.0.1").unwrap().0;
        let name = |name: Option<&str>, weight| WeightedName { name: name.map(str::to_owned), weight };
        assert_eq!(names, [name(Some("a.example"), 3), name(None, 1)]);
    }

    #[test]
    fn a_step_is_a_quantile_and_a_latency() {
        assert_eq!(parse_step("p99.9=20ms"), Ok((0.9990000000000001, Duration::from_millis(20))));
        for wrong in ["p99", "99=1s", "p0=1s", "p101=1s", "p99=0s"] {
            assert!(parse_step(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn processors_are_lists_and_ranges() {
        assert_eq!(parse_processors("1,3-5").unwrap().0, [1, 3, 4, 5]);
        for wrong in ["", "x", "5-3", "1,,2", "4096"] {
            assert!(parse_processors(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_group_stands_twice() {
        assert_eq!(parse_groups("P-256:X25519MLKEM768").unwrap().0, [NamedGroup::SECP256R1, NamedGroup::X25519MLKEM768]);
        assert!(parse_groups("x25519,X25519").is_err());
        assert!(parse_groups("secp521r1").is_err());
    }
}

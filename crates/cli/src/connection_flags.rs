//! The flags that say how a connection is made: request, certificates, TLS, network. Every command that makes its own
//! connections has them.

use std::env;
use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use reprise_probe::{Alpn, Certificates, Options, Request, ServerName, Target};
use reprise_trace::Version;
use reprise_wire::{CipherSuite, NamedGroup};
use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

use crate::key_log;
use crate::notice::notice;
use crate::route_flags::RouteArgs;

/// The variable that the passphrase of `--key` is taken from.
const PASSPHRASE: &str = "REPRISE_KEY_PASSPHRASE";

const DEFAULT_METHOD: &str = "GET";

/// How each connection is made.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConnectionArgs {
    /// Send nothing, for services that are not HTTP: handshake, wait for tickets, close
    #[arg(long, conflicts_with_all = ["method", "path", "header"], help_heading = "Request")]
    no_request: bool,
    /// The request's method
    #[arg(short = 'X', long, default_value = DEFAULT_METHOD, value_parser = parse_method, help_heading = "Request")]
    method: String,
    /// The path to request instead of the target's
    #[arg(long, value_parser = parse_path, help_heading = "Request")]
    path: Option<String>,
    /// A further header field, 'Name: value'; may be given more than once
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = parse_header, help_heading = "Request")]
    header: Vec<(String, String)>,
    /// With --no-request, how long to wait for tickets
    #[arg(long, value_name = "DURATION", default_value = "200ms", value_parser = parse_duration, help_heading = "Request")]
    ticket_wait: Duration,

    /// Trust the root certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", visible_alias = "cacert", conflicts_with = "insecure", help_heading = "Certificates")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(short = 'k', long, help_heading = "Certificates")]
    insecure: bool,
    /// The client's certificate chain, PEM
    #[arg(short = 'E', long, value_name = "FILE", help_heading = "Certificates")]
    cert: Option<PathBuf>,
    /// Its private key, PEM; by default in the file of --cert. The passphrase of an encrypted one is taken from
    /// REPRISE_KEY_PASSPHRASE or asked for
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Certificates")]
    key: Option<PathBuf>,

    /// The name to send and to check the certificate against, instead of the target's host
    #[arg(long, value_name = "NAME", visible_alias = "servername", value_parser = parse_server_name, help_heading = "TLS")]
    sni: Option<String>,
    /// The protocols to offer by ALPN, 'h2,http/1.1'; '' for none. The request goes by the one that the server chooses
    #[arg(long, value_name = "PROTOCOLS", help_heading = "TLS")]
    alpn: Option<String>,
    /// The cipher suites to offer, by IANA's or OpenSSL's names, separated by ',' or ':'
    #[arg(long, value_name = "SUITES", visible_alias = "ciphersuites", value_parser = parse_ciphers, help_heading = "TLS")]
    ciphers: Option<List<CipherSuite>>,
    /// The groups to offer, the first with a key share: x25519, secp256r1, secp384r1 (the default), secp521r1,
    /// X25519MLKEM768
    #[arg(long, value_name = "GROUPS", visible_alias = "curves", value_parser = parse_groups, help_heading = "TLS")]
    groups: Option<List<NamedGroup>>,

    /// The address to connect to, instead of resolving the name
    #[arg(long, value_name = "ADDRESS", help_heading = "Network")]
    resolve: Option<IpAddr>,
    #[command(flatten)]
    pub(crate) route: RouteArgs,
    /// How long one connection may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration, help_heading = "Network")]
    timeout: Duration,
}

/// A list that comes as one argument.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl ConnectionArgs {
    /// Whether a request is sent.
    pub(crate) fn sends_request(&self) -> bool {
        !self.no_request
    }

    /// Whether `--resolve` gives the address, so that no name is resolved.
    pub(crate) fn gives_address(&self) -> bool {
        self.resolve.is_some()
    }

    /// The probe's options as far as they are about a single connection. Reads every file that is named, so that what is
    /// wrong is found before anything is connected to. Where no flag says whom to trust, it is `authority`, or else the
    /// system's roots.
    pub(crate) fn into_options(self, authority: Option<CertificateDer<'static>>) -> anyhow::Result<Options> {
        let alpn = match &self.alpn {
            None => Alpn::Default,
            Some(list) => Alpn::Protocols(parse_alpn(list)?),
        };
        let certificates = match (self.insecure, &self.ca, authority) {
            (true, ..) => {
                notice("--insecure: the server's certificate is not verified");
                Certificates::Insecure
            }
            (_, Some(path), _) => Certificates::Roots(reprise_probe::read_roots(path)?),
            (_, None, Some(root)) => Certificates::Roots(vec![root]),
            (_, None, None) => Certificates::Roots(reprise_probe::platform_roots()?),
        };
        let identity = match &self.cert {
            Some(cert) => {
                let key = self.key.as_ref().unwrap_or(cert);
                Some(Arc::new(reprise_probe::load_identity(cert, key, &ask_passphrase)?))
            }
            None => None,
        };
        if let Alpn::Protocols(protocols) = &alpn
            && let Some((name, _)) = self.header.iter().find(|(name, _)| is_of_http1_alone(name))
            && protocols.iter().any(|protocol| protocol == b"h2")
        {
            bail!("the field {name} is of HTTP/1.1 alone (RFC 9113, section 8.2.2): leave it out, or h2 out of --alpn");
        }
        let names_a_request = self.method != DEFAULT_METHOD || self.path.is_some() || !self.header.is_empty();
        let request = Request { method: self.method, path: self.path, headers: self.header };
        let mut options = Options {
            request: (!self.no_request).then_some(request),
            ticket_wait: self.ticket_wait,
            timeout: self.timeout,
            server_name: self.sni.map_or(ServerName::Host, ServerName::Name),
            alpn,
            certificates,
            identity,
            resolve: self.resolve,
            cipher_suites: self.ciphers.map(|list| list.0).unwrap_or_default(),
            groups: self.groups.map(|list| list.0).unwrap_or_default(),
            key_log: key_log::open()?,
            ..Options::default()
        };
        self.route.enter(&mut options, names_a_request)?;
        Ok(options)
    }
}

/// That there is a name to check the certificate against: what the resolver takes for an address, '127.1', may be none.
pub(crate) fn check_name(target: &Target, options: &Options) -> anyhow::Result<()> {
    let name = &target.host;
    if options.server_name == ServerName::Host && parse_server_name(name).is_err() {
        bail!(
            "'{name}' is no name that a certificate can be for: write the address in full, or give a name with --sni NAME"
        );
    }
    Ok(())
}

pub(crate) fn ask_passphrase(key: &Path) -> Result<Zeroizing<String>, String> {
    if let Ok(passphrase) = env::var(PASSPHRASE) {
        return Ok(Zeroizing::new(passphrase));
    }
    if !std::io::stdin().is_terminal() {
        return Err(format!("set {PASSPHRASE}, or run on a terminal to be asked for it"));
    }
    let prompt = format!("Passphrase of {}: ", key.display());
    rpassword::prompt_password(prompt).map(Zeroizing::new).map_err(|error| error.to_string())
}

// Parsers of single values.

pub(crate) fn parse_target(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error: reprise_probe::TargetError| error.to_string())
}

pub(crate) fn parse_version(text: &str) -> Result<Version, String> {
    text.parse()
}

pub(crate) fn parse_server_name(text: &str) -> Result<String, String> {
    match rustls_pki_types::ServerName::try_from(text) {
        // RFC 6066 §3: without the dot that ends it in the DNS; and as a target's host is written.
        Ok(rustls_pki_types::ServerName::DnsName(_)) => Ok(text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase()),
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("no name or address that a certificate can be for".to_owned()),
    }
}

fn parse_method(text: &str) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_token) { Err("no HTTP method".to_owned()) } else { Ok(text.to_owned()) }
}

pub(crate) fn parse_path(text: &str) -> Result<String, String> {
    match text {
        _ if !text.starts_with('/') => Err("a path begins with /".to_owned()),
        _ if text.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            Err("a path holds no space or control character: write it percent-encoded".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

pub(crate) fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header field is 'Name: value'")?;
    let name = parse_method(name).map_err(|_| format!("'{name}' is no header name"))?;
    if name.eq_ignore_ascii_case("connection") {
        return Err("the field Connection is set by measure's --connections close and --connections keepalive".to_owned());
    }
    let value = value.trim();
    if value.chars().any(char::is_control) {
        Err("a header value holds no control character".to_owned())
    } else {
        Ok((name, value.to_owned()))
    }
}

/// The fields that speak of one connection, for which HTTP/2 has frames.
fn is_of_http1_alone(name: &str) -> bool {
    ["keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].iter().any(|it| name.eq_ignore_ascii_case(it))
}

pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let complain = || format!("'{text}' is no duration: write 500ms, 10s or 2m, above zero and up to an hour");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| complain())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" | "" => number,
        "m" => number * 60.0,
        _ => return Err(complain()),
    };
    if seconds > 0.0 && seconds <= 3600.0 { Ok(Duration::from_secs_f64(seconds)) } else { Err(complain()) }
}

fn parse_alpn(list: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let protocols = list.split(',').map(str::trim).filter(|protocol| !protocol.is_empty());
    let protocols: Vec<Vec<u8>> = protocols.map(|protocol| protocol.as_bytes().to_vec()).collect();
    if protocols.iter().any(|protocol| protocol.len() > 255) {
        bail!("a protocol name of --alpn is longer than 255 bytes");
    }
    Ok(protocols)
}

pub(crate) fn parse_ciphers(text: &str) -> Result<List<CipherSuite>, String> {
    let parse = |name: &str| {
        let suite = CipherSuite::from_name(name).ok_or_else(|| format!("no cipher suite is named '{name}'"))?;
        match reprise_engine::suite::find(suite) {
            Some(_) => Ok(suite),
            None => Err(format!("{suite} is known and not spoken: AES-GCM and ChaCha20-Poly1305 with ECDHE or RSA are")),
        }
    };
    parse_list(text, parse)
}

fn parse_groups(text: &str) -> Result<List<NamedGroup>, String> {
    let parse = |name: &str| {
        let group = NamedGroup::from_name(name).ok_or_else(|| format!("no group is named '{name}'"))?;
        if reprise_engine::GROUPS.contains(&group) {
            Ok(group)
        } else {
            let spoken: Vec<String> = reprise_engine::GROUPS.iter().map(ToString::to_string).collect();
            Err(format!("{group} is known and not spoken: {} are", spoken.join(", ")))
        }
    };
    parse_list(text, parse)
}

/// A list of at least one: an empty variable in a script must not mean all of them.
fn parse_list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<List<T>, String> {
    let items: Vec<T> = text.split([',', ':']).filter(|name| !name.is_empty()).map(parse).collect::<Result<_, String>>()?;
    if items.is_empty() { Err("it names none: leave the flag out to offer all".to_owned()) } else { Ok(List(items)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_bounds() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["0s", "-1s", "x", "5h", "2h", "3601s", "", "1e999s", "NaNs"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn headers_are_fields() {
        assert_eq!(parse_header("A: b: c"), Ok(("A".into(), "b: c".into())));
        for wrong in ["A", ": b", "A B: c", "A: b\r\nC: d", "Connection: close"] {
            assert!(parse_header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn suites_and_groups_go_by_both_names() {
        let suites = parse_ciphers("TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256").unwrap().0;
        assert_eq!(suites, [CipherSuite::TLS_AES_128_GCM_SHA256, CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]);
        assert_eq!(parse_groups("P-256,X25519").unwrap().0, [NamedGroup::SECP256R1, NamedGroup::X25519]);
        assert_eq!(parse_groups("X25519MLKEM768").unwrap().0, [NamedGroup::X25519MLKEM768]);
        let unspoken = parse_groups("x448").unwrap_err();
        assert!(unspoken.contains("not spoken: ") && unspoken.contains("X25519MLKEM768"), "{unspoken}");
        assert!(parse_ciphers("DHE-RSA-AES128-GCM-SHA256").unwrap_err().contains("not spoken"));
    }
}

//! The flags that say how each connection is made: request, certificates, TLS, network. `measure`, `trace` and `diagnose` have
//! them; `load` and `layers`, whose clients do less, have flags of their own.

use std::env;
use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use reprise_connection::Target;
use reprise_connection::exchange::{DNS_ALPN, HTTP2_ALPN, Request};
use reprise_connection::prologue::{Proxy, ProxyProtocol, StartTls};
use reprise_engine::ClientIdentity;
use reprise_probe::{AddressFamily, Alpn, CertificateTrust, CredentialError, Options, ServerName};
use reprise_wire::{CipherSuite, NamedGroup};
use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

use crate::key_log;
use crate::notice::notice;
use crate::values::{
    List, parse_ciphers, parse_duration, parse_groups, parse_header, parse_method, parse_path, parse_server_name,
    parse_wait, starttls,
};

/// The variable that the password of `--ftp-user` is taken from.
pub(crate) const FTP_PASSWORD: &str = "REPRISE_FTP_PASSWORD";
/// The variable that the passphrase of `--key` is taken from.
const PASSPHRASE: &str = "REPRISE_KEY_PASSPHRASE";

pub(crate) const DEFAULT_METHOD: &str = "GET";

/// How each connection is made.
#[derive(Args, Clone)]
pub(crate) struct ConnectionArgs {
    /// Send no request, for services other than HTTP: handshake, wait for tickets, close
    #[arg(long, conflicts_with_all = ["method", "path", "header"], help_heading = "Request")]
    pub(crate) no_request: bool,
    /// Request method
    #[arg(short = 'X', long, visible_alias = "request", default_value = DEFAULT_METHOD, value_parser = parse_method, help_heading = "Request")]
    method: String,
    /// Request this path instead of the target's
    #[arg(long, value_parser = parse_path, help_heading = "Request")]
    path: Option<String>,
    /// Add a header field, 'Name: value'; repeatable
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = parse_header, help_heading = "Request")]
    header: Vec<(String, String)>,
    /// With --no-request, wait this long for tickets
    #[arg(long, value_name = "DURATION", default_value = "200ms", value_parser = parse_wait, requires = "no_request", help_heading = "Request")]
    ticket_wait: Duration,

    /// Trust the root certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", visible_alias = "cacert", conflicts_with = "insecure", help_heading = "Certificates")]
    ca: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(short = 'k', long, help_heading = "Certificates")]
    insecure: bool,
    /// Client certificate chain, PEM
    #[arg(short = 'E', long, value_name = "FILE", help_heading = "Certificates")]
    cert: Vec<PathBuf>,
    /// Private key of --cert, PEM; by default read from the same file. The passphrase comes from REPRISE_KEY_PASSPHRASE or a
    /// prompt
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Certificates")]
    key: Vec<PathBuf>,

    /// Send this server name and verify the certificate against it, instead of the target's host
    #[arg(long, value_name = "NAME", visible_alias = "servername", value_parser = parse_server_name, help_heading = "TLS")]
    sni: Option<String>,
    /// Offer these protocols by ALPN, 'h2,http/1.1'; '' for none. The request uses the one that the server selects; 'dot' asks a
    /// question of DNS over TLS
    #[arg(long, value_name = "PROTOCOLS", help_heading = "TLS")]
    alpn: Option<String>,
    /// Offer these cipher suites, by IANA or OpenSSL name, separated by ',' or ':'
    #[arg(long, value_name = "SUITES", visible_alias = "ciphersuites", value_parser = parse_ciphers, help_heading = "TLS")]
    ciphers: Option<List<CipherSuite>>,
    /// Offer these groups, with a key share for the first: x25519, secp256r1, secp384r1 (the default), secp521r1,
    /// X25519MLKEM768
    #[arg(long, value_name = "GROUPS", visible_alias = "curves", value_parser = parse_groups, help_heading = "TLS")]
    groups: Option<List<NamedGroup>>,

    /// Connect to this address instead of resolving the name
    #[arg(long, value_name = "ADDRESS", help_heading = "Network")]
    pub(crate) resolve: Vec<IpAddr>,
    /// Use only IPv4 addresses, of the target or of its proxy
    #[arg(short = '4', long, conflicts_with = "ipv6", help_heading = "Network")]
    ipv4: bool,
    /// Use only IPv6 addresses, of the target or of its proxy
    #[arg(short = '6', long, help_heading = "Network")]
    ipv6: bool,
    /// Use STARTTLS, by the protocol names of openssl s_client. After the handshake a harmless command is sent: EHLO, NOOP, CAPA,
    /// an empty search, a login that fails, a stream
    #[arg(long, value_name = "PROTOCOL", value_parser = starttls(), help_heading = "Network")]
    pub(crate) starttls: Option<StartTls>,
    /// Connect through this proxy, as with curl: http://[USER:PASSWORD@]HOST[:PORT], socks5://… (names are resolved here) or
    /// socks5h://… (by the proxy); the default port is 1080. With --resolve, the proxy connects to that address. Environment
    /// variables such as https_proxy are ignored
    #[arg(short = 'x', long, value_name = "PROXY", help_heading = "Network")]
    pub(crate) proxy: Option<String>,
    /// Send a PROXY protocol header, v1 or v2, as a load balancer does
    #[arg(long, value_name = "VERSION", help_heading = "Network")]
    proxy_protocol: Option<ProxyProtocol>,
    /// Maximum time per connection
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration, help_heading = "Network")]
    timeout: Duration,
}

impl ConnectionArgs {
    /// The target at the port that `--starttls` means, unless it names one itself.
    pub(crate) fn aim(&self, target: Target) -> Target {
        match self.starttls {
            Some(protocol) => target.or_port(protocol.default_port()),
            None => target,
        }
    }

    /// Whether TLS begins at once, with the target itself.
    pub(crate) fn is_direct(&self) -> bool {
        self.starttls.is_none() && self.proxy.is_none() && self.proxy_protocol.is_none()
    }

    /// The address of `--resolve`, where it is named: at most one.
    fn address(&self) -> anyhow::Result<Option<IpAddr>> {
        match *self.resolve.as_slice() {
            [] => Ok(None),
            [address] => Ok(Some(address)),
            _ => bail!("only reprise diagnose --together --all-addresses takes more than one --resolve"),
        }
    }

    /// The family of addresses that connections may go to. An address that is named must be of it.
    fn family(&self) -> anyhow::Result<Option<AddressFamily>> {
        let family = match (self.ipv4, self.ipv6) {
            (true, _) => AddressFamily::V4,
            (_, true) => AddressFamily::V6,
            _ => return Ok(None),
        };
        if let Some(other) = self.resolve.iter().find(|address| !family.has(**address)) {
            bail!("--resolve {other} is no {} address", family.name());
        }
        Ok(Some(family))
    }

    /// The files of a certificate chain and its key, where they are named: at most one of each.
    pub(crate) fn certificate_files(&self) -> anyhow::Result<Option<(&Path, &Path)>> {
        match self.identity_files()?.as_slice() {
            [] => Ok(None),
            [files] => Ok(Some(*files)),
            _ => bail!("only reprise diagnose --isolation takes more than one --cert"),
        }
    }

    /// The files of each certificate chain and its key, in the order in which they are named.
    pub(crate) fn identity_files(&self) -> anyhow::Result<Vec<(&Path, &Path)>> {
        let (certificates, keys) = (&self.cert, &self.key);
        if !keys.is_empty() && keys.len() != certificates.len() {
            bail!(
                "there are {} --cert and {} --key: name a key for each certificate, or none",
                certificates.len(),
                keys.len()
            );
        }
        let keys = if keys.is_empty() { certificates } else { keys };
        Ok(certificates.iter().zip(keys).map(|(certificate, key)| (certificate.as_path(), key.as_path())).collect())
    }

    /// The same for names that are resolved.
    pub(crate) fn without_addresses(&self) -> Self {
        Self { resolve: Vec::new(), ..self.clone() }
    }

    /// The same for a client without a certificate.
    pub(crate) fn without_identity(&self) -> Self {
        Self { cert: Vec::new(), key: Vec::new(), ..self.clone() }
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
                CertificateTrust::Insecure
            }
            (_, None, Some(root)) => CertificateTrust::Roots(vec![root]),
            (_, ca, _) => CertificateTrust::Roots(trusted_roots(ca.as_deref())?),
        };
        let (resolve, family) = (self.address()?, self.family()?);
        let identity = self.certificate_files()?.map(read_identity).transpose()?;
        let names_a_request = self.method != DEFAULT_METHOD || self.path.is_some() || !self.header.is_empty();
        if let Alpn::Protocols(protocols) = &alpn {
            check_fields(&self.header, protocols)?;
            check_dns(protocols, self.starttls, names_a_request)?;
        }
        let request = Request { method: self.method, path: self.path, headers: self.header };
        if let Some(protocol) = self.starttls.filter(|_| names_a_request) {
            bail!("--starttls {protocol} sends no HTTP request: remove --method, --path and --header");
        }
        Ok(Options {
            request: (!self.no_request).then_some(request),
            ticket_wait: self.ticket_wait,
            timeout: self.timeout,
            server_name: self.sni.map_or(ServerName::Host, ServerName::Name),
            alpn,
            certificates,
            identity,
            resolve,
            family,
            cipher_suites: self.ciphers.map(|list| list.0).unwrap_or_default(),
            groups: self.groups.map(|list| list.0).unwrap_or_default(),
            key_log: key_log::open()?,
            // Not parsed with the other flags, whose error messages repeat the value: a password may stand in it.
            proxy: self.proxy.as_deref().map(str::parse::<Proxy>).transpose().context("--proxy")?,
            proxy_protocol: self.proxy_protocol,
            starttls: self.starttls,
            ..Options::default()
        })
    }
}

/// That there is a name to check the certificate against: what the resolver takes for an address, '127.1', may be none.
pub(crate) fn check_name(target: &Target, options: &Options) -> anyhow::Result<()> {
    let name = &target.host;
    if let Some((family, address)) = options.family.zip(target.address()).filter(|(family, address)| !family.has(*address)) {
        bail!("{address} is no {} address", family.name());
    }
    if options.server_name == ServerName::Host && parse_server_name(name).is_err() {
        bail!("'{name}' is not a valid server name: write the address in full, or set a name with --sni NAME");
    }
    Ok(())
}

/// Those of the file, or else the system's.
pub(crate) fn trusted_roots(ca: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, CredentialError> {
    ca.map_or_else(reprise_probe::platform_roots, reprise_probe::read_certificates)
}

/// A certificate chain and its key.
pub(crate) fn read_identity((cert, key): (&Path, &Path)) -> Result<Arc<ClientIdentity>, CredentialError> {
    reprise_probe::load_identity(cert, key, &ask_passphrase).map(Arc::new)
}

pub(crate) fn ask_passphrase(key: &Path) -> Result<Zeroizing<String>, String> {
    if let Ok(passphrase) = env::var(PASSPHRASE) {
        return Ok(Zeroizing::new(passphrase));
    }
    if !std::io::stdin().is_terminal() {
        return Err(format!("set {PASSPHRASE}, or run in a terminal to enter it"));
    }
    prompt_passphrase(key)
}

/// The password of a user of FTP.
pub(crate) fn ask_ftp_password(user: &str) -> Result<Zeroizing<String>, String> {
    if let Ok(password) = env::var(FTP_PASSWORD) {
        return Ok(Zeroizing::new(password));
    }
    if !std::io::stdin().is_terminal() {
        return Err(format!("the password of {user} is missing: set {FTP_PASSWORD}, or run in a terminal to enter it"));
    }
    prompt(&format!("Password of {user}: "))
}

/// Asks at the terminal for the passphrase of this file.
pub(crate) fn prompt_passphrase(file: &Path) -> Result<Zeroizing<String>, String> {
    prompt(&format!("Passphrase of {}: ", file.display()))
}

fn prompt(words: &str) -> Result<Zeroizing<String>, String> {
    rpassword::prompt_password(words).map(Zeroizing::new).map_err(|error| error.to_string())
}

/// That every field can be sent by each of the protocols that are offered.
pub(crate) fn check_fields(fields: &[(String, String)], protocols: &[Vec<u8>]) -> anyhow::Result<()> {
    match fields.iter().find(|(name, _)| is_of_http1_alone(name)) {
        Some((name, _)) if protocols.iter().any(|protocol| protocol == HTTP2_ALPN) => {
            bail!(
                "the header field {name} is specific to HTTP/1.1 (RFC 9113, section 8.2.2): remove it, or remove h2 from \
                 --alpn"
            )
        }
        _ => Ok(()),
    }
}

/// That DNS over TLS is asked for alone: a question of DNS is asked then, whatever ALPN chooses.
pub(crate) fn check_dns(protocols: &[Vec<u8>], starttls: Option<StartTls>, names_a_request: bool) -> anyhow::Result<()> {
    if !protocols.iter().any(|protocol| protocol == DNS_ALPN) {
        return Ok(());
    }
    if protocols.len() > 1 {
        bail!("--alpn dot asks a question of DNS over TLS: name no other protocol beside it");
    }
    if let Some(protocol) = starttls {
        bail!("--alpn dot asks a question of DNS, and --starttls {protocol} one of its own: remove one of them");
    }
    if names_a_request {
        bail!("--alpn dot sends no HTTP request: remove --method, --path and --header");
    }
    Ok(())
}

/// The fields that speak of one connection, for which HTTP/2 has frames.
fn is_of_http1_alone(name: &str) -> bool {
    ["keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].iter().any(|it| name.eq_ignore_ascii_case(it))
}

pub(crate) fn parse_alpn(list: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let protocols = list.split(',').map(str::trim).filter(|protocol| !protocol.is_empty());
    let protocols: Vec<Vec<u8>> = protocols.map(|protocol| protocol.as_bytes().to_vec()).collect();
    if protocols.iter().any(|protocol| protocol.len() > 255) {
        bail!("a protocol name of --alpn is longer than 255 bytes");
    }
    Ok(protocols)
}

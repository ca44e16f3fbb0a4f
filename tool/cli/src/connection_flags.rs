//! The flags that say how each connection is made: request, certificates, TLS, network. `measure`, `trace`, `diagnose` and `load` have
//! them; `layers`, whose clients do less, has flags of its own.

use std::env;
use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use reprise_clients::ClientRow;
use reprise_connection::Target;
use reprise_connection::exchange::{DNS_ALPN, HTTP2_ALPN, Request};
use reprise_connection::prologue::{ProxyProtocol, StartTls};
use reprise_engine::ClientIdentity;
use reprise_model::Version;
use reprise_probe::CredentialError;
use reprise_wire::{CipherSuite, NamedGroup};
use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

use crate::values::{
    Like, List, like_one, parse_ciphers, parse_duration, parse_groups, parse_header, parse_method, parse_path, starttls,
};

/// The variable that the password of `--ftp-user` is taken from.
pub(crate) const FTP_PASSWORD: &str = "REPRISE_FTP_PASSWORD";
/// The variable that the passphrase of `--key` is taken from.
const PASSPHRASE: &str = "REPRISE_KEY_PASSPHRASE";

const DEFAULT_METHOD: &str = "GET";

/// How each connection is made, whatever command makes it.
#[derive(Args, Clone)]
pub(crate) struct ConnectionArgs {
    /// Request method
    #[arg(short = 'X', long, visible_alias = "request", default_value = DEFAULT_METHOD, value_parser = parse_method, help_heading = "Request")]
    pub(crate) method: String,
    /// Request this path instead of the target's
    #[arg(long, value_parser = parse_path, help_heading = "Request")]
    pub(crate) path: Option<String>,
    /// Add a header field, 'Name: value'; repeatable
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = parse_header, help_heading = "Request")]
    pub(crate) header: Vec<(String, String)>,
    /// Trust the root certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", visible_alias = "cacert", conflicts_with = "insecure", help_heading = "Certificates")]
    pub(crate) ca: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(short = 'k', long, help_heading = "Certificates")]
    pub(crate) insecure: bool,
    /// Client certificate chain, PEM
    #[arg(short = 'E', long, value_name = "FILE", help_heading = "Certificates")]
    pub(crate) cert: Vec<PathBuf>,
    /// Private key of --cert, PEM; by default read from the same file. The passphrase comes from REPRISE_KEY_PASSPHRASE or a
    /// prompt
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = "Certificates")]
    pub(crate) key: Vec<PathBuf>,
    /// Offer these protocols by ALPN, 'h2,http/1.1'; '' for none. The request uses the one that the server selects; 'dot' asks a
    /// question of DNS over TLS
    #[arg(long, value_name = "PROTOCOLS", help_heading = "TLS")]
    pub(crate) alpn: Option<String>,
    /// Offer these cipher suites, by IANA or OpenSSL name, separated by ',' or ':'
    #[arg(long, value_name = "SUITES", visible_alias = "ciphersuites", value_parser = parse_ciphers, help_heading = "TLS")]
    pub(crate) ciphers: Option<List<CipherSuite>>,
    /// Offer these groups, with a key share for the first: X25519MLKEM768, x25519, secp256r1, secp384r1, secp521r1. By default the
    /// first four, with key shares for two, as most clients do; diagnose leaves X25519MLKEM768 out
    #[arg(long, value_name = "GROUPS", visible_alias = "curves", value_parser = parse_groups, help_heading = "TLS")]
    pub(crate) groups: Option<List<NamedGroup>>,
    /// Offer what this client offers, in its form: groups, key shares, cipher suites, signature schemes, extensions and their
    /// order, as captured from the client itself
    #[arg(long, value_name = "CLIENT", value_parser = like_one(), conflicts_with_all = ["ciphers", "groups"], help_heading = "TLS")]
    pub(crate) like: Option<Like>,
    /// Send an encrypted_client_hello extension that holds nothing, as browsers do (RFC 9849, section 6.2)
    #[arg(long, conflicts_with = "like", help_heading = "TLS")]
    pub(crate) ech_grease: bool,
    /// Connect to this address instead of resolving the name
    #[arg(long, value_name = "ADDRESS", help_heading = "Network")]
    pub(crate) resolve: Vec<IpAddr>,
    /// Use STARTTLS, by the protocol names of openssl s_client. After the handshake a harmless command is sent: EHLO, NOOP, CAPA,
    /// an empty search, a login that fails, a stream
    #[arg(long, value_name = "PROTOCOL", value_parser = starttls(), help_heading = "Network")]
    pub(crate) starttls: Option<StartTls>,
    /// Send a PROXY protocol header, v1 or v2, as a load balancer does
    #[arg(long, value_name = "VERSION", help_heading = "Network")]
    pub(crate) proxy_protocol: Option<ProxyProtocol>,
    /// Maximum time per connection
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration, help_heading = "Network")]
    pub(crate) timeout: Duration,
}

impl ConnectionArgs {
    /// The target at the port that `--starttls` means, unless it names one itself.
    pub(crate) fn aim(&self, target: Target) -> Target {
        match self.starttls {
            Some(protocol) => target.or_port(protocol.default_port()),
            None => target,
        }
    }

    /// The address of `--resolve`, where it is named: at most one.
    pub(crate) fn address(&self) -> anyhow::Result<Option<IpAddr>> {
        match *self.resolve.as_slice() {
            [] => Ok(None),
            [address] => Ok(Some(address)),
            _ => bail!("only reprise diagnose --together --all-addresses takes more than one --resolve"),
        }
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

    /// The client in whose form connections offer, where it is one.
    pub(crate) fn client(&self) -> Option<&'static ClientRow> {
        match self.like? {
            Like::Client(row) => Some(row),
            Like::All => None,
        }
    }

    /// The protocols that ALPN offers; `None` where no flag says which.
    pub(crate) fn protocols(&self) -> anyhow::Result<Option<Vec<Vec<u8>>>> {
        self.alpn.as_deref().map(parse_alpn).transpose()
    }

    /// Whether a flag says what is requested.
    pub(crate) fn names_a_request(&self) -> bool {
        self.method != DEFAULT_METHOD || self.path.is_some() || !self.header.is_empty()
    }

    /// The HTTP request. Refuses flags of one where something else is asked, or none of the protocols offered can carry it.
    pub(crate) fn request(&self) -> anyhow::Result<Request> {
        let protocols = self.protocols()?.unwrap_or_default();
        check_fields(&self.header, &protocols)?;
        check_dns(&protocols, self.starttls, self.names_a_request())?;
        if let Some(protocol) = self.starttls.filter(|_| self.names_a_request()) {
            bail!("--starttls {protocol} sends no HTTP request: remove --method, --path and --header");
        }
        Ok(Request { method: self.method.clone(), path: self.path.clone(), headers: self.header.clone() })
    }
}

/// That what is of TLS 1.3 says something under these versions; all, where none is named.
pub(crate) fn check_ech_grease(ech_grease: bool, versions: &[Version]) -> anyhow::Result<()> {
    if ech_grease && versions == [Version::Tls12] {
        bail!("--ech-grease is of TLS 1.3: remove it, or add 1.3 to --tls");
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
fn check_fields(fields: &[(String, String)], protocols: &[Vec<u8>]) -> anyhow::Result<()> {
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
fn check_dns(protocols: &[Vec<u8>], starttls: Option<StartTls>, names_a_request: bool) -> anyhow::Result<()> {
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

fn parse_alpn(list: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let protocols = list.split(',').map(str::trim).filter(|protocol| !protocol.is_empty());
    let protocols: Vec<Vec<u8>> = protocols.map(|protocol| protocol.as_bytes().to_vec()).collect();
    if protocols.iter().any(|protocol| protocol.len() > 255) {
        bail!("a protocol name of --alpn is longer than 255 bytes");
    }
    Ok(protocols)
}

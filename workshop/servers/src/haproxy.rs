//! HAProxy, terminating TLS and answering by itself, in a directory of its own.

use reprise_lab::{Identity, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::scratch::ScratchDir;
use super::{Account, ClientVerify};
use crate::Result;

/// A running HAProxy that answers every request with 200.
pub type HaProxy = Driven<HaProxyConfig>;

/// What HAProxy is told; [`HaProxyConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct HaProxyConfig {
    /// The certificate chain and key.
    pub identity: Identity,
    /// `ssl-min-ver` and `ssl-max-ver`.
    pub versions: Versions,
    /// Without it, `no-tls-tickets` stands on the bind line.
    pub session_tickets: bool,
    /// `tune.ssl.cachesize`, in blocks; 0 for no cache.
    pub cache_size: u32,
    /// `verify` and `ca-file`.
    pub client_verify: ClientVerify,
    /// `allow-0rtt`.
    pub early_data: bool,
    /// `accept-proxy`: whether connections begin with a PROXY header.
    pub accepts_proxy: bool,
    /// Further lines of the `global` section; what stands here, the driver does not set.
    pub global: String,
    /// Further options of the bind line.
    pub bind: String,
    /// Further lines of the frontend, `{root}/server.pem` being its certificate and key.
    pub frontend: String,
}

impl HaProxyConfig {
    /// Both versions, with HAProxy's defaults: tickets on and a cache of 20,000 blocks.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            versions: Versions::Both,
            session_tickets: true,
            cache_size: 20_000,
            client_verify: ClientVerify::Off,
            early_data: false,
            accepts_proxy: false,
            global: String::new(),
            bind: String::new(),
            frontend: String::new(),
        }
    }
}

impl Driver for HaProxyConfig {
    type Account = Account;

    const PROGRAM: &'static str = "haproxy";

    /// Its own socket is bound together with the port.
    const READY: ReadySign = ReadySign::File(SOCKET);

    const ARGUMENTS: &'static [&'static str] = &["-db", "-f", "{file}"];

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        Ok(configuration(self, &bind_options(self, directory)?))
    }

    /// HAProxy logs requests; only connections that send one each are told apart.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        directory.read(directory.output_lines()?.iter().filter(|line| line.starts_with(MARK)), parse)
    }
}

const SOCKET: &str = "stats.sock";
const CACHE_SIZE: &str = "tune.ssl.cachesize";

/// What tells an account from HAProxy's other messages in the same file.
const MARK: &str = "lab|";
const LOG_FORMAT: &str = "lab|%cp|%[ssl_fc_is_resumed]|%sslv|%sslc|%[ssl_c_used]|%[ssl_c_verify]|%[var(txn.early)]";

/// `ssl_fc_has_early` is false once the handshake has completed: it is read when the request arrives, and kept.
const KEEP_EARLY_DATA: &str = "http-request set-var(txn.early) ssl_fc_has_early";

fn parse(line: &str) -> Option<Account> {
    let fields: Vec<&str> = line.strip_prefix(MARK)?.split('|').collect();
    let [port, resumed, version, cipher, used, verify, early] = *fields else { return None };
    let resumed = ["0", "1"].iter().position(|known| *known == resumed)? == 1;
    Some(Account {
        cipher: Some(cipher.to_owned()),
        client_verify: (used == "1").then(|| verify.to_owned()),
        early_data: (early == "1").then_some(true),
        ..Account::new(port.parse().ok()?, resumed, version.to_owned())
    })
}

fn configuration(config: &HaProxyConfig, bind: &str) -> String {
    let mut global = config.global.clone();
    if !global.contains(CACHE_SIZE) {
        global.push_str(&format!("\n    {CACHE_SIZE} {}", config.cache_size));
    }
    format!(
        r#"global
    log stdout format raw local0
    stats socket {{root}}/{SOCKET}
    {global}
defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 10s
frontend lab
    bind {{address}} ssl {bind}
    {}
    log global
    log-format "{LOG_FORMAT}"
    {KEEP_EARLY_DATA}
    http-request return status 200 content-type text/plain string "ok\n"
"#,
        config.frontend
    )
}

fn bind_options(config: &HaProxyConfig, directory: &ScratchDir) -> Result<String> {
    // HAProxy takes certificate and key from one file.
    let pem = directory.write("server.pem", &format!("{}{}", config.identity.chain_pem(), config.identity.key_pem()))?;
    let [min, max] = config.versions.names();
    let mut options = format!("crt {} ssl-min-ver {min} ssl-max-ver {max}", pem.display());
    let further = [
        (&*config.bind, !config.bind.is_empty()),
        ("accept-proxy", config.accepts_proxy),
        ("no-tls-tickets", !config.session_tickets),
        ("allow-0rtt", config.early_data),
    ];
    for (option, _) in further.into_iter().filter(|(_, is_set)| *is_set) {
        options.push_str(&format!(" {option}"));
    }
    if let Some(authority) = directory.write_client_authority(&config.client_verify)? {
        let verify = if authority.required { "required" } else { "optional" };
        options.push_str(&format!(" ca-file {} verify {verify}", authority.file));
    }
    Ok(options)
}

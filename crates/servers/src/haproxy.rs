//! HAProxy, terminating TLS and answering by itself, in a directory of its own.

use std::net::SocketAddr;
use std::path::Path;

use reprise_lab::{Identity, Versions};

use super::site::{Ready, ScratchDir, Site};
use super::{Account, ClientVerify, RealServer, RunningServer};
use crate::Result;

/// A running HAProxy that answers every request with 200.
#[derive(Debug)]
pub struct HaProxy {
    site: Site,
}

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
        }
    }
}

impl HaProxy {
    /// Starts HAProxy; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Spawn`](crate::ServerError::Spawn) if it is not installed,
    /// [`ServerError::Died`](crate::ServerError::Died) with the end of its log if it refuses the configuration,
    /// [`ServerError::File`](crate::ServerError::File) if its directory cannot be written.
    pub fn start(config: HaProxyConfig) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        let bind = bind_options(&config, &ground)?;
        // Its own socket is bound together with the port.
        let site = ground.start(Ready::File(SOCKET), |ground, address, command| {
            let socket = ground.root().join(SOCKET);
            let file = ground.write("haproxy.cfg", &configuration(&config, &socket, address, &bind))?;
            command.args(["-db", "-f"]).arg(file);
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl RealServer for HaProxy {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    /// HAProxy logs requests; only connections that send one each are told apart.
    fn accounts(&mut self) -> Result<Vec<Account>> {
        self.site.read(self.site.output()?.iter().filter(|line| line.starts_with(MARK)), parse)
    }
}

const PROGRAM: &str = "haproxy";
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

fn configuration(config: &HaProxyConfig, socket: &Path, address: SocketAddr, bind: &str) -> String {
    let socket = socket.display();
    let mut global = config.global.clone();
    if !global.contains(CACHE_SIZE) {
        global.push_str(&format!("\n    {CACHE_SIZE} {}", config.cache_size));
    }
    format!(
        r#"global
    log stdout format raw local0
    stats socket {socket}
    {global}
defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 10s
frontend lab
    bind {address} ssl {bind}
    log global
    log-format "{LOG_FORMAT}"
    {KEEP_EARLY_DATA}
    http-request return status 200 content-type text/plain string "ok\n"
"#
    )
}

fn bind_options(config: &HaProxyConfig, ground: &ScratchDir) -> Result<String> {
    // HAProxy takes certificate and key from one file.
    let pem = ground.write("server.pem", &format!("{}{}", config.identity.chain_pem(), config.identity.key_pem()))?;
    let [min, max] = config.versions.names();
    let mut options = format!("crt {} ssl-min-ver {min} ssl-max-ver {max}", pem.display());
    if !config.bind.is_empty() {
        options.push_str(&format!(" {}", config.bind));
    }
    if config.accepts_proxy {
        options.push_str(" accept-proxy");
    }
    if !config.session_tickets {
        options.push_str(" no-tls-tickets");
    }
    if config.early_data {
        options.push_str(" allow-0rtt");
    }
    if let Some(authority) = ground.write_client_authority(&config.client_verify)? {
        let verify = if authority.required { "required" } else { "optional" };
        options.push_str(&format!(" ca-file {} verify {verify}", authority.file.display()));
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_of_one_connection() {
        let account = parse("lab|40001|1|TLSv1.3|TLS_AES_256_GCM_SHA384|1|0|1").unwrap();
        assert_eq!((account.client_port, account.resumed, account.version.as_str()), (40001, true, "TLSv1.3"));
        assert_eq!((account.client_verify.as_deref(), account.early_data), (Some("0"), Some(true)));
        for line in ["lab|", "lab|40001|1", "lab|x|1|TLSv1.3|X|0|0|0", "lab|1|?|TLSv1.3|X|0|0|0"] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }
}

//! nginx, one master and its workers, in a directory of its own.

use std::fmt::Write as _;

use reprise_lab::{Identity, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::scratch::ScratchDir;
use super::unprivileged::is_root;
use super::{Account, ClientVerify};
use crate::Result;

/// A running nginx.
///
/// It serves a small page at `/`, files of 1 and 64 KiB at `/1k` and `/64k`, 200 to any method at `/ok`, and a status
/// by name at `/status/204`, `301`, `404`, `500` and `503`.
pub type Nginx = Driven<NginxConfig>;

/// What nginx is told; [`NginxConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct NginxConfig {
    /// One identity, or one of RSA and one of ECDSA.
    pub identities: Vec<Identity>,
    /// `ssl_protocols`.
    pub versions: Versions,
    /// `ssl_session_tickets`.
    pub session_tickets: bool,
    /// `ssl_session_cache`.
    pub session_cache: SessionCache,
    /// `ssl_verify_client` and `ssl_client_certificate`.
    pub client_verify: ClientVerify,
    /// `ssl_early_data`.
    pub early_data: bool,
    /// `worker_processes`.
    pub workers: usize,
    /// `worker_connections`.
    pub worker_connections: usize,
    /// `backlog` of `listen`: how many connections wait to be accepted, at most `net.core.somaxconn`; none for nginx'
    /// own 511.
    pub backlog: Option<u32>,
    /// Further parameters of `listen`, such as `reuseport`.
    pub listen: Vec<String>,
    /// `keepalive_requests`.
    pub keepalive_requests: u32,
    /// Further directives of the `http` block, before the lab's `server` block. `{address}` is where that one listens, `{root}`
    /// the directory with `server-0-cert.pem` and `server-0-key.pem`.
    pub http_directives: String,
    /// Further directives of the `server` block. What stands here or in the `http` block, the driver does not set.
    pub server_directives: String,
    /// Files beside its configuration, by their names.
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// The port of 127.0.0.1; none for a free one.
    pub port: Option<u16>,
}

/// `ssl_session_cache` of nginx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionCache {
    /// `off`: session reuse is refused, and clients are told so.
    Off,
    /// `none`: clients are let believe that sessions may be reused, but none is kept. nginx' own default.
    None,
    /// `shared:lab:SIZE`, such as `10m`.
    Shared(String),
}

impl NginxConfig {
    /// One worker on a free port that speaks both versions, with nginx' defaults: tickets on, cache `none`.
    #[must_use]
    pub fn new(identities: Vec<Identity>) -> Self {
        Self {
            identities,
            versions: Versions::Both,
            session_tickets: true,
            session_cache: SessionCache::None,
            client_verify: ClientVerify::Off,
            early_data: false,
            workers: 1,
            worker_connections: 512,
            backlog: None,
            listen: Vec::new(),
            keepalive_requests: 1000,
            http_directives: String::new(),
            server_directives: String::new(),
            files: Vec::new(),
            port: None,
        }
    }

    /// Whether the further directives set this, for the `server` block of the lab.
    fn sets(&self, directive: &str) -> bool {
        let (of_http, _) = self.http_directives.split_once("server {").unwrap_or((&self.http_directives, ""));
        let mut lines = of_http.lines().chain(self.server_directives.lines());
        lines.any(|line| line.split_whitespace().next() == Some(directive))
    }
}

impl Driver for NginxConfig {
    type Account = Account;

    const PROGRAM: &'static str = "nginx";

    /// nginx writes its number when its sockets listen.
    const READY: ReadySign = ReadySign::File("nginx.pid");

    const ARGUMENTS: &'static [&'static str] = &["-p", "{root}", "-c", "{file}", "-e", "stderr"];

    fn port(&self) -> Option<u16> {
        self.port
    }

    fn prepare(&self, directory: &ScratchDir) -> Result<()> {
        directory.write_page()?;
        directory.write("www/1k", &"x".repeat(1024))?;
        directory.write("www/64k", &"x".repeat(65_536))?;
        directory.write_all(&self.files)
    }

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        Ok(configuration(self, &tls_directives(self, directory)?))
    }

    /// nginx logs requests, not handshakes: a connection counts by its first request, and one without is not told of.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        let told = directory.read(directory.lines_of("access.log")?.iter(), parse)?;
        Ok(told.into_iter().flatten().collect())
    }
}

/// `$ssl_early_data` is empty once the handshake has completed, which it mostly has when the log is written: it is read
/// when the request arrives, and kept. Even so a quick client may have sent its Finished by then.
const KEEP_EARLY_DATA: &str = "set $lab_early_data $ssl_early_data;";

const LOG_FORMAT: &str = "$remote_port\t$ssl_session_reused\t$ssl_protocol\t$ssl_cipher\t$ssl_curve\t\
                          $connection_requests\t$status\t$ssl_client_verify\t$lab_early_data";

/// `Some(None)` for a later request of a connection, or one that did not come over TLS.
fn parse(line: &str) -> Option<Option<Account>> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [port, reused, version, cipher, group, requests, _status, verify, early] = *fields else { return None };
    if requests != "1" || version == ABSENT {
        return Some(None);
    }
    let told = |field: &str| Some(field.to_owned()).filter(|field| field != ABSENT);
    let resumed = [".", "r"].iter().position(|known| *known == reused)? == 1;
    Some(Some(Account {
        cipher: told(cipher),
        group: told(group),
        client_verify: told(verify),
        early_data: (early == "1").then_some(true),
        ..Account::new(port.parse().ok()?, resumed, version.to_owned())
    }))
}

/// How nginx writes an empty variable.
const ABSENT: &str = "-";

fn configuration(config: &NginxConfig, tls: &str) -> String {
    let NginxConfig { workers, worker_connections, keepalive_requests, http_directives, server_directives, .. } = config;
    let user = user_directive();
    let backlog = config.backlog.map(|count| format!("backlog={count}"));
    let parameters: String = backlog.iter().chain(&config.listen).map(|parameter| format!(" {parameter}")).collect();
    // The block may say it itself, and twice is an error.
    let says_it = http_directives.contains("keepalive_requests");
    let keepalive_requests = if says_it { String::new() } else { format!("keepalive_requests {keepalive_requests};") };
    let statuses: String =
        [204, 301, 404, 500, 503].map(|status| format!("location = /status/{status} {{ return {status}; }}\n")).concat();
    format!(
        r#"daemon off;
master_process on;
worker_processes {workers};
{user}
pid {{root}}/nginx.pid;
error_log stderr notice;
events {{ worker_connections {worker_connections}; }}
http {{
    log_format lab "{LOG_FORMAT}";
    access_log {{root}}/access.log lab;
    client_body_temp_path {{root}}/body;
    proxy_temp_path {{root}}/proxy;
    fastcgi_temp_path {{root}}/fastcgi;
    uwsgi_temp_path {{root}}/uwsgi;
    scgi_temp_path {{root}}/scgi;
    default_type text/plain;
    types {{ text/html html; }}
    {keepalive_requests}
    server_tokens off;
    {http_directives}
    server {{
        listen {{address}} ssl{parameters};
        server_name localhost;
        root {{root}}/www;
        {KEEP_EARLY_DATA}
        {tls}
        {server_directives}
        location = /ok {{ return 200 "ok\n"; }}
        {statuses}
    }}
}}
"#
    )
}

/// A master that runs as root gives its workers another user, who could not enter a private directory.
fn user_directive() -> &'static str {
    if is_root() { "user root;" } else { "" }
}

fn tls_directives(config: &NginxConfig, directory: &ScratchDir) -> Result<String> {
    let on_off = |on| if on { "on" } else { "off" };
    let protocols = match config.versions {
        Versions::Tls12 => "TLSv1.2",
        Versions::Tls13 => "TLSv1.3",
        Versions::Both => "TLSv1.2 TLSv1.3",
    };
    let cache = match &config.session_cache {
        SessionCache::Off => "off".to_owned(),
        SessionCache::None => "none".to_owned(),
        SessionCache::Shared(size) => format!("shared:lab:{size}"),
    };
    let own = [
        ("ssl_protocols", protocols),
        ("ssl_session_cache", &*cache),
        ("ssl_session_tickets", on_off(config.session_tickets)),
        ("ssl_early_data", on_off(config.early_data)),
    ];
    let mut lines = String::new();
    // nginx takes no directive twice.
    for (directive, value) in own.into_iter().filter(|(directive, _)| !config.sets(directive)) {
        let _ = writeln!(lines, "{directive} {value};");
    }
    for (number, identity) in config.identities.iter().enumerate() {
        let [certificate, key] = directory.write_identity(&format!("server-{number}"), identity)?;
        let _ = writeln!(lines, "ssl_certificate {certificate};\nssl_certificate_key {key};");
    }
    if let Some(authority) = directory.write_client_authority(&config.client_verify)? {
        let verify = if authority.required { "on" } else { "optional" };
        let _ = writeln!(lines, "ssl_client_certificate {};\nssl_verify_client {verify};", authority.file);
    }
    Ok(lines)
}

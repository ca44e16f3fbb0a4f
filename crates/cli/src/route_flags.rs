//! The flags that say what lies between connecting and TLS: a proxy, the PROXY header, a protocol that begins in the clear.

use anyhow::{Context, bail};
use clap::Args;
use reprise_connection::Target;
use reprise_connection::prologue::{Proxy, ProxyProtocol, StartTls};
use reprise_probe::Options;

/// The way to the target.
#[derive(Args, Clone)]
pub(crate) struct RouteArgs {
    /// Use STARTTLS, by the protocol names of openssl s_client: smtp, imap, pop3, ftp, ldap, postgres, mysql, xmpp. The
    /// default port is the protocol's own: 25, 143, 110, 21, 389, 5432, 3306, 5222. After the handshake a harmless command
    /// is sent: EHLO, NOOP, CAPA, an empty search, a login that fails, a stream
    #[arg(long, value_name = "PROTOCOL", help_heading = "Network")]
    pub(crate) starttls: Option<StartTls>,
    /// Connect through this proxy, as with curl: http://[USER:PASSWORD@]HOST[:PORT], socks5://… (names are resolved here) or
    /// socks5h://… (by the proxy); the default port is 1080. With --resolve, the proxy connects to that address. Environment
    /// variables such as https_proxy are ignored
    #[arg(short = 'x', long, value_name = "PROXY", help_heading = "Network")]
    pub(crate) proxy: Option<String>,
    /// Send a PROXY protocol header, v1 or v2, as a load balancer does
    #[arg(long, value_name = "VERSION", help_heading = "Network")]
    proxy_protocol: Option<ProxyProtocol>,
}

impl RouteArgs {
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

    /// Enters what was given. `names_a_request` says whether a flag describes an HTTP request.
    pub(crate) fn enter(self, options: &mut Options, names_a_request: bool) -> anyhow::Result<()> {
        if let Some(protocol) = self.starttls.filter(|_| names_a_request) {
            bail!("--starttls {protocol} sends no HTTP request: remove --method, --path and --header");
        }
        // Not parsed with the other flags, whose error messages repeat the value: a password may stand in it.
        let proxy = self.proxy.as_deref().map(str::parse::<Proxy>).transpose().context("--proxy")?;
        options.proxy = proxy;
        options.proxy_protocol = self.proxy_protocol;
        options.starttls = self.starttls;
        Ok(())
    }
}

//! The flags that say how each connection of `measure`, `trace` and `diagnose` is made.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use reprise_connection::Target;
use reprise_connection::prologue::Proxy;
use reprise_probe::{AddressFamily, Alpn, CertificateTrust, Options, ServerName};
use rustls_pki_types::CertificateDer;

use crate::connection_flags::{ConnectionArgs, read_identity, trusted_roots};
use crate::key_log;
use crate::notice::notice;
use crate::values::{parse_server_name, parse_wait};

/// How each connection of the probe is made.
#[derive(Args, Clone)]
pub(crate) struct ProbeArgs {
    /// Send no request, for services other than HTTP: handshake, wait for tickets, close
    #[arg(long, conflicts_with_all = ["method", "path", "header"], help_heading = "Request")]
    pub(crate) no_request: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    /// With --no-request, wait this long for tickets
    #[arg(long, value_name = "DURATION", default_value = "200ms", value_parser = parse_wait, requires = "no_request", help_heading = "Request")]
    ticket_wait: Duration,
    /// Send this server name and verify the certificate against it, instead of the target's host
    #[arg(long, value_name = "NAME", visible_alias = "servername", value_parser = parse_server_name, help_heading = "TLS")]
    sni: Option<String>,
    /// Use only IPv4 addresses, of the target or of its proxy
    #[arg(short = '4', long, conflicts_with = "ipv6", help_heading = "Network")]
    ipv4: bool,
    /// Use only IPv6 addresses, of the target or of its proxy
    #[arg(short = '6', long, help_heading = "Network")]
    ipv6: bool,
    /// Connect through this proxy, as with curl: http://[USER:PASSWORD@]HOST[:PORT], socks5://… (names are resolved here) or
    /// socks5h://… (by the proxy); the default port is 1080. With --resolve, the proxy connects to that address. Environment
    /// variables such as https_proxy are ignored
    #[arg(short = 'x', long, value_name = "PROXY", help_heading = "Network")]
    pub(crate) proxy: Option<String>,
}

impl ProbeArgs {
    /// Whether TLS begins at once, with the target itself.
    pub(crate) fn is_direct(&self) -> bool {
        self.connection.starttls.is_none() && self.proxy.is_none() && self.connection.proxy_protocol.is_none()
    }

    /// The family of addresses that connections may go to. An address that is named must be of it.
    fn family(&self) -> anyhow::Result<Option<AddressFamily>> {
        let family = match (self.ipv4, self.ipv6) {
            (true, _) => AddressFamily::V4,
            (_, true) => AddressFamily::V6,
            _ => return Ok(None),
        };
        if let Some(other) = self.connection.resolve.iter().find(|address| !family.has(**address)) {
            bail!("--resolve {other} is no {} address", family.name());
        }
        Ok(Some(family))
    }

    /// The same for names that are resolved.
    pub(crate) fn without_addresses(&self) -> Self {
        Self { connection: ConnectionArgs { resolve: Vec::new(), ..self.connection.clone() }, ..self.clone() }
    }

    /// The same for a client without a certificate.
    pub(crate) fn without_identity(&self) -> Self {
        Self { connection: ConnectionArgs { cert: Vec::new(), key: Vec::new(), ..self.connection.clone() }, ..self.clone() }
    }

    /// The probe's options as far as they are about a single connection. Reads every file that is named, so that what is
    /// wrong is found before anything is connected to. Where no flag says whom to trust, it is `authority`, or else the
    /// system's roots.
    pub(crate) fn into_options(self, authority: Option<CertificateDer<'static>>) -> anyhow::Result<Options> {
        let connection = &self.connection;
        let certificates = match (connection.insecure, &connection.ca, authority) {
            (true, ..) => {
                notice("--insecure: the server's certificate is not verified");
                CertificateTrust::Insecure
            }
            (_, None, Some(root)) => CertificateTrust::Roots(vec![root]),
            (_, ca, _) => CertificateTrust::Roots(trusted_roots(ca.as_deref())?),
        };
        let family = self.family()?;
        let identity = connection.certificate_files()?.map(read_identity).transpose()?;
        let request = connection.request()?;
        Ok(Options {
            request: (!self.no_request).then_some(request),
            ticket_wait: self.ticket_wait,
            timeout: connection.timeout,
            server_name: self.sni.map_or(ServerName::Host, ServerName::Name),
            alpn: connection.protocols()?.map_or(Alpn::Default, Alpn::Protocols),
            certificates,
            identity,
            resolve: connection.address()?,
            family,
            cipher_suites: connection.ciphers.as_ref().map(|list| list.0.clone()).unwrap_or_default(),
            groups: connection.groups.as_ref().map(|list| list.0.clone()).unwrap_or_default(),
            like: connection.client(),
            ech_grease: connection.ech_grease,
            key_log: key_log::open()?,
            // Not parsed with the other flags, whose error messages repeat the value: a password may stand in it.
            proxy: self.proxy.as_deref().map(str::parse::<Proxy>).transpose().context("--proxy")?,
            proxy_protocol: connection.proxy_protocol,
            starttls: connection.starttls,
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

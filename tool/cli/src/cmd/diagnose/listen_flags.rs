//! The flags of `diagnose --listen`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;

use crate::values::{parse_long_duration, parse_server_name};

/// What says how connections are made, or to what: here it is the client that makes them.
const OF_TARGETS: [&str; 34] = [
    "targets",
    "targets_from",
    "ftp_user",
    "together",
    "all_addresses",
    "isolation",
    "tls",
    "fill",
    "burst",
    "patience",
    "connections",
    "rate",
    "max_time",
    "server_pid",
    "server_software",
    "no_request",
    "method",
    "path",
    "header",
    "ticket_wait",
    "ca",
    "insecure",
    "sni",
    "alpn",
    "ciphers",
    "groups",
    "like",
    "ech_grease",
    "resolve",
    "ipv4",
    "ipv6",
    "proxy",
    "proxy_protocol",
    "timeout",
];

/// The flags of a client program instead of targets.
#[derive(Args, Clone)]
#[command(next_help_heading = "A client program instead of targets")]
pub(crate) struct ListenArgs {
    /// Diagnose clients: serve HTTPS, or the protocol of --starttls, on [HOST:]PORT (0 for a free port) and watch how they resume.
    /// --cert and --key are then the server's; without them a lab certificate is made, and the path of its CA file printed
    #[arg(long, value_name = "ADDR", value_parser = parse_address, conflicts_with_all = OF_TARGETS)]
    pub(super) listen: Option<SocketAddr>,
    /// Add a name to the certificate, besides localhost and the address; repeatable
    #[arg(long = "name", value_name = "NAME", value_parser = parse_server_name, requires = "listen")]
    pub(super) names: Vec<String>,
    /// Maximum time to watch; by default 60s with a COMMAND, otherwise until Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_long_duration, requires = "listen")]
    pub(super) duration: Option<Duration>,
    /// Run this client program and diagnose it. {url}, {host}, {ip}, {port}, {address} (IP:PORT) and {ca} in its arguments are
    /// replaced; its environment sets the CA file for OpenSSL, curl, Python's requests and Node
    #[arg(last = true, value_name = "COMMAND", requires = "listen")]
    pub(super) command: Vec<OsString>,
}

impl ListenArgs {
    /// That nothing is said of a client where servers are meant: beside targets clap does not ask for `--listen`.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let is_unused = self.names.is_empty() && self.duration.is_none() && self.command.is_empty();
        anyhow::ensure!(self.listen.is_some() || is_unused, "--name, --for and a COMMAND need --listen ADDR");
        Ok(())
    }
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port = |text: &str| text.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let local = || text.strip_prefix("localhost:").or(text.strip_prefix(':')).unwrap_or(text);
    let complain = || format!("invalid listen address '{text}': use 127.0.0.1:8443, [::1]:8443, 8443 or 0");
    text.parse().ok().or_else(|| port(local())).ok_or_else(complain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_a_port_alone() {
        let local = |port| Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        for text in ["8443", ":8443", "localhost:8443", "127.0.0.1:8443"] {
            assert_eq!(parse_address(text), local(8443), "{text}");
        }
        assert_eq!(parse_address("[::1]:0").map(|it| it.port()), Ok(0));
        for wrong in ["", "example.org", "70000", "1.2.3.4"] {
            assert!(parse_address(wrong).is_err(), "{wrong}");
        }
    }
}

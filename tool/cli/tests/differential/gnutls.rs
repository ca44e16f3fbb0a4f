//! The account of `gnutls-cli --resume`.

use std::io::Write;
use std::process::Stdio;

use reprise_model::Version;

use crate::differential::account::{Account, Visit, Visits, yes};
use crate::differential::combination::Combination;
use crate::differential::openssl::patiently;
use crate::differential::ours::certificate;
use reprise_harness::Lab;

pub(crate) fn visit(lab: &Lab, combination: &Combination) -> Option<Visits> {
    if combination.early_data {
        // It does not say what became of it.
        return None;
    }
    let priority = priority(combination, gnutls_group(combination.group)?);
    let mut command = patiently("gnutls-cli");
    let port = combination.address.port().to_string();
    command.args(["--resume", "--sni-hostname", "localhost", "--verify-hostname", "localhost"]);
    // Under TLS 1.3 it would else leave before the ticket comes; and where none comes, it would wait for ever.
    command.args((combination.resumes && combination.version == Version::Tls13).then_some("--waitresumption"));
    command.args(["--port", &port, "--x509cafile"]).arg(lab.ca()).args(["--priority", &priority]);
    if combination.alpn {
        command.args(["--alpn", "http/1.1"]);
    }
    if let Some((certificate, key)) = certificate(lab, combination) {
        command.arg("--x509certfile").arg(certificate).arg("--x509keyfile").arg(key);
    }
    command.arg(combination.address.ip().to_string());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // It takes its input on the second connection.
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let _ = child.stdin.take().unwrap().write_all(request.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (first, second) = match said.split_once("- Connecting again- trying to resume previous session") {
        Some((first, second)) => (first, Some(second)),
        None => (said.as_str(), None),
    };
    Some(Visits { first: account(first, combination), second: second.map(|second| account(second, combination)) })
}

/// Everything off, and this offer on.
fn priority(combination: &Combination, group: &str) -> String {
    let (cipher, exchange) = combination.suite.gnutls;
    let version = combination.version.number();
    let exchange = if exchange.is_empty() { String::new() } else { format!(":-KX-ALL:+{exchange}") };
    format!("NORMAL:-VERS-ALL:+VERS-TLS{version}:-GROUP-ALL:+{group}:-CIPHER-ALL:+{cipher}{exchange}")
}

/// From its description, `(TLS1.3-X.509)-(ECDHE-X25519)-(ECDSA-SECP256R1-SHA256)-(AES-128-GCM)`.
fn account(said: &str, combination: &Combination) -> Visit {
    let line = |start: &str| said.lines().find_map(|line| line.strip_prefix(start)).map(str::trim);
    let Some(description) = line("- Description: ") else { return Visit::Refused };
    if !said.contains("Handshake was completed") {
        return Visit::Refused;
    }
    let parts: Vec<&str> = description.split(['(', ')']).filter(|part| !matches!(*part, "" | "-" | "--")).collect();
    let version = parts.first().and_then(|part| part.strip_prefix("TLS")?.split('-').next()).map(str::to_owned);
    let exchange = parts.iter().find_map(|part| part.strip_prefix("ECDHE-"));
    let resumed = said.contains("*** This is a resumed session");
    let cipher = parts.last().copied().unwrap_or_default();
    Visit::Done(Account {
        resumed,
        version,
        // It names the parts; that the key exchange is the one that was offered shows in the group.
        cipher: Some(if cipher == combination.suite.gnutls.0 { combination.suite.iana } else { cipher }.to_owned()),
        // What it shows of a resumed session is what the session remembers.
        group: exchange.filter(|_| !resumed).map(iana_group).map(str::to_owned),
        alpn: Some(line("- Application protocol: ").unwrap_or("none").to_owned()),
        extended_master_secret: (combination.version == Version::Tls12)
            .then(|| yes(line("- Options: ").is_some_and(|options| options.contains("extended master secret")))),
        certificate_requested: None,
        early_data_accepted: None,
    })
}

/// `None` for those that it does not know.
fn gnutls_group(iana: &str) -> Option<&str> {
    match iana {
        "x25519" => Some("GROUP-X25519"),
        "secp256r1" => Some("GROUP-SECP256R1"),
        "secp384r1" => Some("GROUP-SECP384R1"),
        _ => None,
    }
}

fn iana_group(gnutls: &str) -> &str {
    match gnutls {
        "X25519" => "x25519",
        "SECP256R1" => "secp256r1",
        "SECP384R1" => "secp384r1",
        other => other,
    }
}

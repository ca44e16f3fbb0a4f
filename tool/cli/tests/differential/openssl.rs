//! The account of `openssl s_client`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use reprise_model::Version;

use crate::differential::account::{Account, Visit, Visits, yes};
use crate::differential::combination::Combination;
use crate::differential::ours::certificate;
use reprise_harness::{DEADLINE, Lab};

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

pub(crate) fn visit(lab: &Lab, combination: &Combination) -> Option<Visits> {
    let group = openssl_group(combination.group)?;
    let directory = tempfile::tempdir_in(lab.directory()).unwrap();
    let session = directory.path().join("session.pem");
    let first = connect(lab, combination, &["-curves", group, "-sess_out"], &session);
    let early_data = directory.path().join("request");
    std::fs::write(&early_data, REQUEST).unwrap();
    let early_data = ["-early_data", early_data.to_str().unwrap()];
    let flags =
        [["-curves", group].as_slice(), if combination.early_data { &early_data } else { &[] }, &["-sess_in"]].concat();
    let second = session.exists().then(|| connect(lab, combination, &flags, &session));
    Some(Visits { first, second })
}

fn connect(lab: &Lab, combination: &Combination, flags: &[&str], session: &Path) -> Visit {
    let mut command = patiently("openssl");
    command.args(["s_client", "-ign_eof", "-verify_return_error", "-servername", "localhost", "-connect"]);
    command.arg(combination.address.to_string()).arg("-CAfile").arg(lab.ca()).args(flags).arg(session);
    match combination.version {
        Version::Tls12 => command.args(["-tls1_2", "-cipher", combination.suite.openssl]),
        Version::Tls13 => command.args(["-tls1_3", "-ciphersuites", combination.suite.openssl]),
    };
    if combination.alpn {
        command.args(["-alpn", "http/1.1"]);
    }
    if let Some((certificate, key)) = certificate(lab, combination) {
        command.arg("-cert").arg(certificate).arg("-key").arg(key);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // A client that was refused has gone before it reads its input.
    let _ = child.stdin.take().unwrap().write_all(REQUEST.as_bytes());
    let output = child.wait_with_output().unwrap();
    account(&String::from_utf8_lossy(&output.stdout), combination)
}

/// A client that knows no timeout of its own.
pub(crate) fn patiently(program: &str) -> Command {
    let mut command = Command::new("timeout");
    command.arg(DEADLINE.as_secs().to_string()).arg(program);
    command
}

/// From what it prints of the handshake; a line "New, (NONE), Cipher is (NONE)" is a handshake that failed.
fn account(said: &str, combination: &Combination) -> Visit {
    let line = |start: &str| said.lines().map(str::trim_start).find_map(|line| line.strip_prefix(start)).map(str::trim);
    let reused = line("Reused, ");
    let Some((version, cipher)) = reused.or(line("New, ")).and_then(|rest| rest.split_once(", Cipher is ")) else {
        return Visit::Refused;
    };
    let Some(version) = version.strip_prefix("TLSv") else { return Visit::Refused };
    let resumed = reused.is_some();
    // "X25519, 253 bits", "ECDH, prime256v1, 256 bits"
    let key = line("Server Temp Key: ").map(|key| iana_group(key.trim_start_matches("ECDH, ").split(',').next().unwrap()));
    // A resumed TLS 1.2 handshake and RSA key exchange have none; that it is not shown says no more.
    let group = key.map(str::to_owned);
    let tls12 = combination.version == Version::Tls12;
    let asked = said.contains("Acceptable client certificate CA names") || line("Client Certificate Types: ").is_some();
    Visit::Done(Account {
        resumed,
        version: Some(version.to_owned()),
        cipher: Some(if cipher == combination.suite.openssl { combination.suite.iana } else { cipher }.to_owned()),
        group,
        alpn: Some(line("ALPN protocol: ").unwrap_or("none").to_owned()),
        extended_master_secret: line("Extended master secret: ").filter(|_| tls12).map(str::to_owned),
        // What it shows of a resumed session is what the session remembers.
        certificate_requested: (!resumed).then(|| yes(asked)),
        early_data_accepted: match (said.contains("Early data was accepted"), said.contains("Early data was rejected")) {
            (false, false) => None,
            (accepted, _) => Some(yes(accepted)),
        },
    })
}

/// `None` for those that it does not know.
fn openssl_group(iana: &str) -> Option<&str> {
    match iana {
        "x25519" => Some("X25519"),
        "secp256r1" => Some("P-256"),
        "secp384r1" => Some("P-384"),
        _ => None,
    }
}

fn iana_group(openssl: &str) -> &str {
    match openssl {
        "X25519" => "x25519",
        "prime256v1" | "P-256" => "secp256r1",
        "secp384r1" | "P-384" => "secp384r1",
        other => other,
    }
}

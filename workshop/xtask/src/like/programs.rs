//! The clients: how each is known, and what makes it send a ClientHello.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::Context;
use rustls_pki_types::ServerName;

/// A client whose ClientHello is a row.
pub(super) struct Client {
    /// The row.
    pub(super) row: &'static str,
    /// What has to be installed.
    pub(super) program: &'static str,
    /// What the row says of how it was captured.
    pub(super) by: &'static str,
    /// Its version, as the row has it; `None` where it is not installed, or is another version than the row is of.
    pub(super) version: fn() -> Option<String>,
    /// Whether a later connection shares at once what a HelloRetryRequest asked for: rustls' `kx_hint`.
    pub(super) remembers_retry: bool,
    /// How it is run.
    pub(super) run: Run,
}

/// How a client is made to connect.
pub(super) enum Run {
    /// A command that opens the URL; the folder is empty and its own.
    Program(fn(url: &str, folder: &Path) -> anyhow::Result<Command>),
    /// A library of this workspace: its first bytes.
    Built(fn() -> anyhow::Result<Vec<u8>>),
}

/// Every client that has a row.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        row: "chrome",
        program: "chromium",
        by: "chromium --headless, one page",
        version: || Some(first_line("chromium", &["--version"])?.trim().to_owned()),
        remembers_retry: false,
        run: Run::Program(|url, folder| {
            let mut command = Command::new("chromium");
            command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
            command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
            command.arg(format!("--user-data-dir={}", folder.display())).args(["--dump-dom", url]);
            Ok(command)
        }),
    },
    Client {
        row: "firefox",
        program: "firefox",
        by: "firefox --headless, one page",
        version: || {
            let version = ["firefox", "firefox-esr"].into_iter().find_map(|program| first_line(program, &["--version"]))?;
            Some(version.trim().trim_start_matches("Mozilla ").to_owned())
        },
        remembers_retry: false,
        run: Run::Program(|url, folder| {
            let program = if first_line("firefox", &["--version"]).is_some() { "firefox" } else { "firefox-esr" };
            let mut command = Command::new(program);
            command.args(["--headless", "--no-remote", "--profile"]).arg(folder).arg("--screenshot");
            command.arg(folder.join("page.png")).arg(url).env("HOME", folder);
            Ok(command)
        }),
    },
    Client {
        row: "curl-openssl-3.0",
        program: "curl with OpenSSL 3.0",
        by: "curl URL",
        version: || curl("3.0"),
        remembers_retry: false,
        run: Run::Program(|url, _| Ok(with_arguments("curl", &["-sk", url]))),
    },
    Client {
        row: "curl-openssl-3.6",
        program: "pycurl with OpenSSL 3.6",
        by: "pycurl, one request",
        version: || pycurl("OpenSSL/3.6"),
        remembers_retry: false,
        run: Run::Program(|url, _| {
            let script = "import sys, pycurl\nc = pycurl.Curl()\nc.setopt(c.URL, sys.argv[1])\nc.setopt(c.SSL_VERIFYPEER, 0)\nc.perform()";
            Ok(with_arguments("python3", &["-c", script, url]))
        }),
    },
    Client {
        row: "go",
        program: "go",
        by: "net/http, one GET, with a ClientSessionCache",
        version: || {
            let version = first_line("go", &["env", "GOVERSION"])?;
            Some(format!("Go {}, crypto/tls", version.trim().trim_start_matches("go")))
        },
        remembers_retry: false,
        run: Run::Program(|url, folder| {
            let source = folder.join("main.go");
            std::fs::write(&source, GO)?;
            let program = folder.join("client");
            let mut build = Command::new("go");
            build.args(["build", "-o"]).arg(&program).arg(&source).current_dir(folder).env("GO111MODULE", "off");
            anyhow::ensure!(build.status().context("go build")?.success(), "go build failed");
            let mut command = Command::new(program);
            command.arg(url);
            Ok(command)
        }),
    },
    Client {
        row: "node-20",
        program: "Node 20",
        by: "https.get",
        version: || node("20"),
        remembers_retry: false,
        run: Run::Program(node_client),
    },
    Client {
        row: "node-26",
        program: "Node 26",
        by: "https.get",
        version: || node("26"),
        remembers_retry: false,
        run: Run::Program(node_client),
    },
    Client {
        row: "java-17",
        program: "Java 17",
        by: "java.net.http.HttpClient, one GET",
        version: || {
            let output = Command::new("java").arg("-version").output().ok()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let version = text.split('"').nth(1)?;
            version.starts_with("17.").then(|| format!("OpenJDK {version}, java.net.http"))
        },
        remembers_retry: false,
        run: Run::Program(|url, folder| {
            let source = folder.join("Client.java");
            std::fs::write(&source, JAVA)?;
            let mut command = Command::new("java");
            command.arg(source).arg(url);
            Ok(command)
        }),
    },
    Client {
        row: "python",
        program: "python3",
        by: "urllib.request, one GET",
        version: || {
            let script = "import platform, ssl; print(platform.python_version(), ssl.OPENSSL_VERSION)";
            let line = first_line("python3", &["-c", script])?;
            let mut words = line.split_whitespace();
            Some(format!("Python {}, ssl with {} {}", words.next()?, words.next()?, words.next()?))
        },
        remembers_retry: false,
        run: Run::Program(|url, _| {
            let script = "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1], timeout=20)";
            Ok(with_arguments("python3", &["-c", script, url]))
        }),
    },
    Client {
        row: "rustls",
        program: "rustls",
        by: "ClientConnection with the default provider of aws-lc-rs, ALPN of an HTTP client",
        version: || {
            let lock = include_str!("../../../../Cargo.lock");
            let version = lock.split("name = \"rustls\"\nversion = \"").nth(1)?.split('"').next()?;
            Some(format!("rustls {version} with aws-lc-rs"))
        },
        remembers_retry: true,
        run: Run::Built(rustls_hello),
    },
    Client {
        row: "gnutls",
        program: "gnutls-cli",
        by: "gnutls-cli --insecure",
        version: || {
            let line = first_line("gnutls-cli", &["--version"])?;
            Some(format!("GnuTLS {}, gnutls-cli", line.split_whitespace().last()?))
        },
        remembers_retry: false,
        run: Run::Program(|url, _| {
            let port = url.trim_end_matches('/').rsplit(':').next().unwrap_or_default().to_owned();
            Ok(with_arguments("gnutls-cli", &["--insecure", "-p", &port, "localhost"]))
        }),
    },
];

const GO: &str = r#"package main

import (
	"crypto/tls"
	"net/http"
	"os"
)

func main() {
	config := &tls.Config{InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: config}}
	client.Get(os.Args[1])
}
"#;

const JAVA: &str = r#"import java.net.URI;
import java.net.http.*;

public class Client {
    public static void main(String[] arguments) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
"#;

fn node_client(url: &str, _: &Path) -> anyhow::Result<Command> {
    Ok(with_arguments("node", &["-e", "require('https').get(process.argv[1]).on('error', () => {})", url]))
}

fn node(major: &str) -> Option<String> {
    let version = first_line("node", &["-p", "process.versions.node + ' ' + process.versions.openssl"])?;
    let (node, openssl) = version.trim().split_once(' ')?;
    node.starts_with(&format!("{major}.")).then(|| format!("Node {node}, https with OpenSSL {openssl}"))
}

/// The version of curl, where its OpenSSL is of this line.
fn curl(openssl: &str) -> Option<String> {
    let line = first_line("curl", &["--version"])?;
    let library = line.split_whitespace().find_map(|word| word.strip_prefix("OpenSSL/"))?;
    let curl = line.split_whitespace().nth(1)?;
    library.starts_with(&format!("{openssl}.")).then(|| format!("curl {curl} with OpenSSL {library}"))
}

fn pycurl(openssl: &str) -> Option<String> {
    let line = first_line("python3", &["-c", "import pycurl; print(pycurl.version)"])?;
    let find = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name).map(str::to_owned));
    let (curl, library) = (find("libcurl/")?, find("OpenSSL/")?);
    line.contains(openssl).then(|| format!("libcurl {curl} with OpenSSL {library}"))
}

fn rustls_hello() -> anyhow::Result<Vec<u8>> {
    let mut config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let mut client = rustls::ClientConnection::new(Arc::new(config), ServerName::try_from("localhost")?)?;
    let mut hello = Vec::new();
    client.write_tls(&mut hello)?;
    Ok(hello)
}

fn with_arguments(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

//! tlsfuzzer's scripts against this library's ways to accept, beside rustls alone: whatever differs is by design, and listed here. The suite is in no
//! registry: `REPRISE_TLSFUZZER` names a checkout of github.com/tlsfuzzer/tlsfuzzer, and pip has what it needs (`tlslite-ng`).

#![cfg(all(unix, feature = "tokio"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and this one shows what it compared"
)]

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use reprise_session::store::{LocalStore, StoreLimits};
use reprise_session::{RingHandle, Rotation};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::UnixTime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Scripts in which this library answers otherwise than rustls alone, and why.
const BY_DESIGN: [(&str, &str); 5] = [
    ("test-client-hello-max-size", HELLO),
    ("test-large-hello", HELLO),
    ("test-large-number-of-extensions", HELLO),
    ("test-tls13-large-number-of-extensions", HELLO),
    ("test-tls13-session-resumption", SESSIONS),
];
const HELLO: &str = "a ClientHello over 32 KiB ends the connection";
const SESSIONS: &str = "identities from the sixth on are ignored, and a stored session is used up by a wrong binder";

/// Of every script, at most so many conversations, for at most so long.
const CONVERSATIONS: &str = "200";
const SECONDS: &str = "300";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";

#[test]
#[ignore = "minutes; with a checkout of tlsfuzzer"]
fn tlsfuzzer_finds_no_difference_but_those_by_design() {
    let Some(suite) = std::env::var_os("REPRISE_TLSFUZZER").map(PathBuf::from) else {
        let _ = writeln!(io::stderr(), "NOT RUN: needs REPRISE_TLSFUZZER, a checkout of tlsfuzzer");
        return;
    };
    reprise_servers::require!("python3", "timeout");
    let suite = Suite { packages: packages(), folder: suite };
    let servers = Servers::start();
    let (mut scripts, mut conversations, mut unexpected) = (0, 0, Vec::new());
    for script in suite.scripts() {
        // With RSA key exchange, which rustls has not, or by `-d` with another.
        let ways: [&[&str]; 2] = [&[], &["-d"]];
        let is_sane = |way: &&[&str]| {
            let sane = suite.run(&script, servers.rustls, &[way, &["sanity"][..]].concat());
            sane.get("sanity").is_some_and(|passes| *passes)
        };
        let Some(way) = ways.into_iter().find(is_sane) else { continue };
        let options = [way, &["-n", CONVERSATIONS]].concat();
        let expected = suite.run(&script, servers.rustls, &options);
        scripts += 1;
        conversations += expected.len();
        for (name, address) in servers.ours {
            for difference in differences(&expected, &suite.run(&script, address, &options)) {
                let reason = BY_DESIGN.iter().find(|(known, _)| *known == script).map(|(_, reason)| *reason);
                println!("{name}, {script}, {difference}: {}", reason.unwrap_or("UNEXPECTED"));
                unexpected.extend(reason.is_none().then(|| format!("{name}, {script}, {difference}")));
            }
        }
    }
    println!("{scripts} scripts, {conversations} conversations");
    assert!(scripts > 0, "no script's sanity test passes");
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

/// Conversations that came out otherwise.
fn differences(expected: &BTreeMap<String, bool>, found: &BTreeMap<String, bool>) -> Vec<String> {
    let differs = |(name, passes): (&String, &bool)| {
        // Scripts draw some of their conversations.
        let found = found.get(name)?;
        (found != passes).then(|| format!("{name:?} {}", if *passes { "fails" } else { "passes" }))
    };
    expected.iter().filter_map(differs).collect()
}

/// Of each conversation, whether it passed: `NAME ...`, and then `OK` on a line.
fn results(said: &str) -> BTreeMap<String, bool> {
    let (mut results, mut current) = (BTreeMap::new(), None);
    for line in said.lines() {
        if let Some(name) = line.strip_suffix(" ...") {
            current = Some(name.to_owned());
            // `sanity` is run twice.
            results.entry(name.to_owned()).or_insert(false);
        } else if line == "OK"
            && let Some(name) = current.take()
        {
            results.insert(name, true);
        }
    }
    results
}

struct Suite {
    folder: PathBuf,
    packages: PathBuf,
}

impl Suite {
    fn scripts(&self) -> Vec<String> {
        let scripts = std::fs::read_dir(self.folder.join("scripts")).unwrap();
        let stem = |entry: io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name.starts_with("test-") && path.extension().is_some_and(|kind| kind == "py")).then_some(name)
        };
        let mut scripts: Vec<String> = scripts.filter_map(stem).collect();
        scripts.sort();
        scripts
    }

    fn run(&self, script: &str, address: SocketAddr, options: &[&str]) -> BTreeMap<String, bool> {
        let path = std::env::join_paths([&self.folder, &self.packages]).unwrap();
        let mut command = Command::new("timeout");
        command.args([SECONDS, "python3"]).arg(self.folder.join("scripts").join(format!("{script}.py")));
        command.args(["-h", &address.ip().to_string(), "-p", &address.port().to_string()]).args(options);
        results(&String::from_utf8_lossy(&command.env("PYTHONPATH", path).output().unwrap().stdout))
    }
}

/// What the suite needs of pip.
fn packages() -> PathBuf {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tlsfuzzer");
    if !packages.join("tlslite").is_dir() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "tlslite-ng==0.8.2", "--target"]).arg(&packages);
        assert!(pip.status().unwrap().success());
    }
    packages
}

struct Servers {
    rustls: SocketAddr,
    ours: [(&'static str, SocketAddr); 3],
}

impl Servers {
    fn start() -> Self {
        let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::Rsa2048)).unwrap();
        let ring = RingHandle::in_memory(Rotation::new(Duration::from_secs(3600)).unwrap(), UnixTime::now()).unwrap();
        let tickets = resuming(&identity, &Resumption::builder().tickets(ring).build().unwrap());
        let store = Arc::new(LocalStore::new(StoreLimits::new(1000, 1 << 20), [5; 16]));
        let stored = resuming(&identity, &Resumption::builder().local_store(store).build().unwrap());
        let third = tickets.clone();
        let (mut plain, _) = config(&identity);
        plain.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
        let plain = Arc::new(plain);
        let rustls = blocking(move |stream| {
            let connection = ServerConnection::new(Arc::clone(&plain)).map_err(io::Error::other)?;
            let mut tls = StreamOwned::new(connection, stream);
            answer(&mut tls)?;
            tls.conn.send_close_notify();
            tls.flush()
        });
        let accept = |server: ResumingServer| {
            blocking(move |stream| {
                let mut tls = server.accept(stream)?;
                answer(&mut tls)?;
                tls.conn.send_close_notify();
                tls.flush()
            })
        };
        let ours = [("tickets", accept(tickets)), ("stored", accept(stored)), ("tokio", on_tokio(third))];
        Self { rustls, ours }
    }
}

fn config(identity: &Identity) -> (ServerConfig, ClientAuth) {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let client_auth = ClientAuth::none();
    let config = client_auth.apply(builder).with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap();
    (config, client_auth)
}

fn resuming(identity: &Identity, resumption: &Resumption) -> ResumingServer {
    let (config, client_auth) = config(identity);
    ResumingServer::new(config, &client_auth, resumption).unwrap()
}

fn blocking(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, serve) = (listener.local_addr().unwrap(), Arc::new(serve));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, serve) = (stream.unwrap(), Arc::clone(&serve));
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            // What a client does wrong is what is tested.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    address
}

fn answer(tls: &mut (impl Read + Write)) -> io::Result<()> {
    let _request = tls.read(&mut [0; 4096])?;
    tls.write_all(ANSWER)
}

fn on_tokio(server: ResumingServer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            listener.set_nonblocking(true).unwrap();
            let mut listener = server.listen(tokio::net::TcpListener::from_std(listener).unwrap());
            loop {
                let (mut tls, _) = listener.accept().await;
                tokio::spawn(async move {
                    let _request = tls.read(&mut [0; 4096]).await?;
                    tls.write_all(ANSWER).await?;
                    tls.shutdown().await
                });
            }
        });
    });
    address
}

#[test]
fn results_of_a_script_are_read_and_compared() {
    let one = results(
        "sanity ...\nOK\n\nlong hello ...\nError while processing\nTraceback:\n  OK is not this\n\nsanity ...\nOK\n\nTest end\n",
    );
    assert_eq!(one, BTreeMap::from([("sanity".to_owned(), true), ("long hello".to_owned(), false)]));
    let other = results("sanity ...\nOK\nlong hello ...\nOK\ndrawn ...\nOK\n");
    assert_eq!(differences(&one, &other), ["\"long hello\" passes"]);
    assert_eq!(differences(&other, &one), ["\"long hello\" fails"]);
    assert!(differences(&one, &one).is_empty());
}

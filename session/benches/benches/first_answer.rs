//! Time to the end of a new client's first answer, and the segments that it takes, of this library's ways to accept beside plain rustls and tokio-rustls, on
//! loopback, in a balanced order; medians. What the tables of instructions and processor time cannot show: segments that wait for an
//! acknowledgement. `cargo bench -p reprise-session-benches --features tokio --bench first_answer`, with `-- --check` for a bound.

#![allow(clippy::print_stdout)]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use reprise_session::{RingHandle, Rotation};
use rustls::crypto::CryptoProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::{ServerName, UnixTime};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const SAMPLES: usize = 120;
const ANSWER: &[u8] = b"hello\n";
const REQUEST: usize = 16;
/// This library's median, as a multiple of that of tokio-rustls, where both send without delay.
const BOUND: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    Rustls,
    Accept,
    TokioRustls,
    AcceptTokio,
}

const SERVERS: [(Server, &str); 4] = [
    (Server::Rustls, "rustls"),
    (Server::Accept, "accept"),
    (Server::TokioRustls, "tokio-rustls"),
    (Server::AcceptTokio, "accept_tokio"),
];

struct Running {
    server: Server,
    name: &'static str,
    without_delay: bool,
    address: SocketAddr,
}

fn main() -> anyhow::Result<()> {
    let authority = Authority::new()?;
    let identity = authority.server(&ServerSpec::new(KeyKind::P256))?;
    let mut running = Vec::new();
    for without_delay in [false, true] {
        for (server, name) in SERVERS {
            running.push(Running { server, name, without_delay, address: start(server, without_delay, &identity)? });
        }
    }
    println!("| TLS | TCP_NODELAY | server | median | segments |\n| --- | --- | --- | --: | --: |");
    for (version, label) in [(&TLS12, "1.2"), (&TLS13, "1.3")] {
        let config = client(&authority, version)?;
        let segments =
            running.iter().map(|one| Ok(visit(one.address, &config, true)?.1)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut times = vec![Vec::new(); running.len()];
        for place in reprise_stats::balanced_order(running.len(), SAMPLES, 0, 1) {
            let (time, _) = visit(running.get(place).context("no such server")?.address, &config, false)?;
            times.get_mut(place).context("no such server")?.push(u64::try_from(time.as_nanos())?);
        }
        let medians: Vec<u64> = times.iter().filter_map(|times| reprise_stats::median(times)).collect();
        for ((one, median), segments) in running.iter().zip(&medians).zip(segments) {
            let delay = if one.without_delay { "set" } else { "not set" };
            let segments = segments.map_or("–".to_owned(), |count| count.to_string());
            println!("| {label} | {delay} | {} | {:.2} ms | {segments} |", one.name, *median as f64 / 1e6);
        }
        if std::env::args().any(|argument| argument == "--check") {
            let of = |server| {
                let is_it = |one: &Running| one.server == server && one.without_delay;
                running.iter().position(is_it).and_then(|place| medians.get(place)).map(|median| *median as f64)
            };
            for (ours, theirs) in [(Server::Accept, Server::Rustls), (Server::AcceptTokio, Server::TokioRustls)] {
                let ratio = of(ours).context("no median")? / of(theirs).context("no median")?;
                ensure!(ratio <= BOUND, "TLS {label}: {ours:?} takes {ratio:.2} times as long as {theirs:?}");
            }
        }
    }
    Ok(())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// A client that resumes nothing.
fn client(authority: &Authority, version: &'static rustls::SupportedProtocolVersion) -> anyhow::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate().clone())?;
    let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[version])?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
}

/// How long it took, and, where that is asked, how many segments with data came back, as the kernel counts them.
fn visit(address: SocketAddr, config: &Arc<ClientConfig>, counts: bool) -> anyhow::Result<(Duration, Option<u32>)> {
    let begun = Instant::now();
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let client = ClientConnection::new(Arc::clone(config), ServerName::try_from("localhost")?)?;
    let mut tls = StreamOwned::new(client, stream);
    tls.write_all(&[b'.'; REQUEST])?;
    let mut answer = [0; ANSWER.len()];
    tls.read_exact(&mut answer)?;
    let time = begun.elapsed();
    ensure!(answer == ANSWER, "another answer");
    let segments = if counts { segments(tls.sock.local_addr()?) } else { None };
    tls.sock.shutdown(std::net::Shutdown::Write)?;
    Ok((time, segments))
}

/// `ss` of iproute2 says it; without it nobody does.
fn segments(local: SocketAddr) -> Option<u32> {
    let filter = format!("src {local}");
    let shown = Command::new("ss").args(["--tcp", "--info", "--no-header", "--oneline", &filter]).output().ok()?;
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    shown.split_whitespace().find_map(|word| word.strip_prefix("data_segs_in:"))?.parse().ok()
}

/// A server of its own thread, which answers each request of a connection and lasts as long as the program.
fn start(server: Server, without_delay: bool, identity: &Identity) -> anyhow::Result<SocketAddr> {
    let client_auth = ClientAuth::none();
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    let config = client_auth.apply(builder).with_single_cert(identity.chain().to_vec(), identity.key_der())?;
    let ring = RingHandle::in_memory(Rotation::new(Duration::from_secs(3600))?, UnixTime::now())?;
    let mut plain = config.clone();
    plain.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;
    let plain = Arc::new(plain);
    let resuming = ResumingServer::new(config, &client_auth, &Resumption::builder().tickets(ring).build()?)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        let served = match server {
            Server::Rustls => blocking(&listener, without_delay, |stream| {
                let connection = ServerConnection::new(Arc::clone(&plain)).map_err(io::Error::other)?;
                serve(StreamOwned::new(connection, stream))
            }),
            Server::Accept => blocking(&listener, without_delay, |stream| serve(resuming.accept(stream)?)),
            Server::TokioRustls => on_tokio(listener, without_delay, async |stream| {
                let acceptor = tokio_rustls::TlsAcceptor::from(Arc::clone(&plain));
                serve_tokio(acceptor.accept(stream).await?).await
            }),
            Server::AcceptTokio => {
                on_tokio(listener, without_delay, async |stream| serve_tokio(resuming.accept_tokio(stream).await?).await)
            }
        };
        if let Err(error) = served {
            println!("{server:?}: {error}");
        }
    });
    Ok(address)
}

fn blocking(listener: &TcpListener, without_delay: bool, serve: impl Fn(TcpStream) -> io::Result<()>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(without_delay)?;
        serve(stream)?;
    }
}

fn on_tokio(
    listener: TcpListener,
    without_delay: bool,
    serve: impl AsyncFn(tokio::net::TcpStream) -> io::Result<()>,
) -> io::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(without_delay)?;
            serve(stream).await?;
        }
    })
}

fn serve(mut tls: impl Read + Write) -> io::Result<()> {
    let mut request = [0; REQUEST];
    tls.read_exact(&mut request)?;
    tls.write_all(ANSWER)?;
    tls.flush()?;
    // Until the client has gone: it ends without a close_notify.
    let _ = tls.read(&mut request);
    Ok(())
}

async fn serve_tokio(mut tls: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut request = [0; REQUEST];
    tls.read_exact(&mut request).await?;
    tls.write_all(ANSWER).await?;
    tls.flush().await?;
    let _ = tls.read(&mut request).await;
    Ok(())
}

//! `--metrics ADDR`: the figures of a watch over HTTP, for whoever scrapes them.
//!
//! One request at a time, each with a second to be sent and at most 8 KiB long: nobody who connects can make a watch hold more.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use reprise_report::openmetrics::CONTENT_TYPE;

const LONGEST_REQUEST: usize = 8 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);

/// A server that is listening; it ends with the process.
pub(super) struct MetricsServer {
    address: SocketAddr,
    text: Arc<Mutex<String>>,
}

impl MetricsServer {
    /// Listens on `HOST:PORT`, or on a port of this machine's loopback.
    pub(super) fn start(address: &str) -> anyhow::Result<Self> {
        let full = if address.parse::<u16>().is_ok() { format!("127.0.0.1:{address}") } else { address.to_owned() };
        let listener = TcpListener::bind(&full)
            .with_context(|| format!("--metrics: cannot listen on {full}: use another HOST:PORT, or a port alone"))?;
        let address = listener.local_addr().context("--metrics")?;
        let text = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&text);
        thread::Builder::new().name("metrics".to_owned()).spawn(move || serve(&listener, &shared)).context("--metrics")?;
        Ok(Self { address, text })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What is answered from now on.
    pub(super) fn publish(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

fn serve(listener: &TcpListener, text: &Mutex<String>) {
    loop {
        match listener.accept() {
            // Who leaves before the answer has asked for none.
            Ok((stream, _)) => drop(answer(stream, text)),
            // Out of descriptors, for a while: no reason to spin.
            Err(_) => thread::sleep(PATIENCE),
        }
    }
}

fn answer(mut stream: TcpStream, text: &Mutex<String>) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut stream)?;
    let (status, kind, body) = match request.as_ref().map(|(method, path)| (method.as_str(), path.as_str())) {
        Some(("GET" | "HEAD", "/metrics")) => {
            ("200 OK", CONTENT_TYPE, text.lock().unwrap_or_else(PoisonError::into_inner).clone())
        }
        Some(("GET" | "HEAD", _)) => ("404 Not Found", "text/plain", "The metrics are at /metrics\n".to_owned()),
        Some(_) => ("405 Method Not Allowed", "text/plain", "GET or HEAD\n".to_owned()),
        None => ("400 Bad Request", "text/plain", "not an HTTP/1.1 request\n".to_owned()),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    // RFC 9110 §9.3.2: a HEAD is answered like a GET, without the content.
    if request.is_none_or(|(method, _)| method != "HEAD") {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}

/// The method and the path; `None` where what came is no request, or too long.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<(String, String)>> {
    let end = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut chunk)?;
        bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&bytes) {
            Ok(httparse::Status::Complete(_)) => {
                let path = request.path.unwrap_or_default();
                let path = path.split_once('?').map_or(path, |(path, _)| path);
                return Ok(Some((request.method.unwrap_or_default().to_owned(), path.to_owned())));
            }
            Ok(httparse::Status::Partial) if count > 0 && bytes.len() < LONGEST_REQUEST => {}
            _ => return Ok(None),
        }
    }
}

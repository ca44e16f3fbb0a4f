//! A peer that keeps to a script in the clear, holds what it hears against it, and then forwards to a server: a proxy, or a
//! service with STARTTLS.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use reprise_lab::Turn;

/// Its threads end with the connections that they serve, and the listening one with the test.
pub struct Gate {
    address: SocketAddr,
    misheard: Arc<Mutex<Vec<String>>>,
}

/// The gate says these bytes.
pub fn says(bytes: impl AsRef<[u8]>) -> Turn {
    Turn::Says(bytes.as_ref().to_vec())
}

/// The gate expects these bytes.
pub fn hears(bytes: impl AsRef<[u8]>) -> Turn {
    Turn::Hears(bytes.as_ref().to_vec())
}

impl Gate {
    /// Plays `script` to each client, and then forwards to `upstream`.
    pub fn before(upstream: SocketAddr, script: Vec<Turn>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (address, misheard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let book = Arc::clone(&misheard);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (script, book) = (script.clone(), Arc::clone(&book));
                thread::spawn(move || {
                    if let Err(error) = serve(&client, upstream, &script) {
                        book.lock().unwrap().push(error.to_string());
                    }
                });
            }
        });
        Self { address, misheard }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was said to it against the script.
    pub fn misheard(&self) -> Vec<String> {
        self.misheard.lock().unwrap().clone()
    }
}

fn serve(client: &TcpStream, upstream: SocketAddr, script: &[Turn]) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut speaker = client;
    for turn in script {
        match turn {
            Turn::Says(bytes) => speaker.write_all(bytes)?,
            Turn::Hears(expected) => {
                let mut heard = vec![0; expected.len()];
                speaker.read_exact(&mut heard)?;
                if heard != *expected {
                    let (heard, expected) = (heard.escape_ascii(), expected.escape_ascii());
                    return Err(io::Error::other(format!("heard {heard}, not {expected}")));
                }
            }
        }
    }
    let server = TcpStream::connect(upstream)?;
    server.set_nodelay(true)?;
    thread::scope(|scope| {
        scope.spawn(|| forward(client, &server));
        forward(&server, client);
    });
    Ok(())
}

/// Until one side ends; how it ends is not this peer's concern.
fn forward(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

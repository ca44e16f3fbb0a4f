//! Servers that misbehave as told.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reprise_lab::{Guest, Listener};

use crate::hang_up::{ConnectionEnd, end, listen};
use crate::{Result, lock};

/// A TCP server on a free port of 127.0.0.1 that plays the same script to each client.
///
/// Dropping it ends its connections and threads.
#[derive(Debug)]
pub struct MisbehavingServer {
    listener: Listener,
    received: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// One step of a script. A script that runs out ends as with [`ScriptStep::Close`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptStep {
    /// Waits for so many bytes; goes on with fewer if the client ends.
    Read(usize),
    /// Waits for one whole TLS record, whatever its length.
    ReadRecord,
    /// Reads until the client has been silent for so long.
    ReadUntilIdle(Duration),
    /// Sends these bytes at once.
    Send(Vec<u8>),
    /// Says nothing more, and keeps the connection open until the client leaves.
    Stall,
    /// Ends the connection in order (FIN).
    Close,
    /// Breaks the connection off (RST).
    Reset,
}

impl MisbehavingServer {
    /// Plays `script` to every client.
    ///
    /// # Errors
    /// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had.
    pub fn start(script: Vec<ScriptStep>) -> Result<Self> {
        let received = Arc::new(Mutex::new(Vec::new()));
        let book = Arc::clone(&received);
        let listener = listen(move |guest| play(guest, &script, &book))?;
        Ok(Self { listener, received })
    }

    /// Accepts and never says a word.
    ///
    /// # Errors
    /// As [`MisbehavingServer::start`].
    pub fn silent() -> Result<Self> {
        Self::start(vec![ScriptStep::Stall])
    }

    /// Answers as an HTTP server without TLS does when it is spoken to in TLS.
    ///
    /// # Errors
    /// As [`MisbehavingServer::start`].
    pub fn plain_http() -> Result<Self> {
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 12\r\nConnection: close\r\n\r\nBad Request\n";
        Self::start(vec![ScriptStep::Read(1), ScriptStep::Send(answer.into()), ScriptStep::Close])
    }

    /// Answers with bytes that are no protocol at all.
    ///
    /// # Errors
    /// As [`MisbehavingServer::start`].
    pub fn garbage() -> Result<Self> {
        let garbage = (0..=u8::MAX).map(|byte| byte.wrapping_mul(167).wrapping_add(89)).collect();
        Self::start(vec![ScriptStep::Read(1), ScriptStep::Send(garbage), ScriptStep::Close])
    }

    /// Closes every connection as soon as it is accepted.
    ///
    /// # Errors
    /// As [`MisbehavingServer::start`].
    pub fn closing() -> Result<Self> {
        Self::start(vec![ScriptStep::Close])
    }

    /// Where the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// What the steps that read have read, client by client in order of their first bytes: of each the first 64 KiB,
    /// of the first 1,024 clients.
    #[must_use]
    pub fn received(&self) -> Vec<Vec<u8>> {
        lock(&self.received).clone()
    }
}

const KEPT_CLIENTS: usize = 1024;
const KEPT_BYTES: usize = 65_536;

fn play(guest: &Guest<'_>, script: &[ScriptStep], received: &Mutex<Vec<Vec<u8>>>) {
    let mut reader = Reader { socket: &guest.stream, received, place: None };
    for step in script {
        let outcome = match step {
            ScriptStep::Read(bytes) => reader.read(*bytes).map(drop),
            ScriptStep::ReadRecord => reader.read_record(),
            ScriptStep::ReadUntilIdle(silence) => reader.read_until_idle(*silence),
            ScriptStep::Send(bytes) => (&*guest.stream).write_all(bytes),
            ScriptStep::Stall => return end(guest, ConnectionEnd::Silence),
            ScriptStep::Close => break,
            ScriptStep::Reset => return end(guest, ConnectionEnd::Reset),
        };
        if outcome.is_err() {
            return;
        }
    }
    end(guest, ConnectionEnd::Close);
}

struct Reader<'a> {
    socket: &'a TcpStream,
    received: &'a Mutex<Vec<Vec<u8>>>,
    place: Option<usize>,
}

impl Reader<'_> {
    /// Returns the bytes, fewer than asked for if the client has ended.
    fn read(&mut self, count: usize) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.socket.take(count as u64).read_to_end(&mut bytes)?;
        self.enter(&bytes);
        Ok(bytes)
    }

    fn read_record(&mut self) -> std::io::Result<()> {
        if let [_, _, _, high, low] = *self.read(5)? {
            self.read(usize::from(u16::from_be_bytes([high, low])))?;
        }
        Ok(())
    }

    fn read_until_idle(&mut self, silence: Duration) -> std::io::Result<()> {
        self.socket.set_read_timeout(Some(silence))?;
        let mut bytes = [0; 4096];
        loop {
            match self.socket.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => self.enter(bytes.get(..count).unwrap_or_default()),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => return Err(error),
            }
        }
        self.socket.set_read_timeout(None)
    }

    fn enter(&mut self, bytes: &[u8]) {
        let mut book = lock(self.received);
        let place = *self.place.get_or_insert_with(|| {
            if book.len() < KEPT_CLIENTS {
                book.push(Vec::new());
            }
            book.len() - 1
        });
        if let Some(page) = book.get_mut(place) {
            let room = KEPT_BYTES.saturating_sub(page.len()).min(bytes.len());
            page.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
    }
}

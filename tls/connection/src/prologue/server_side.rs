//! The other side of a protocol that begins in the clear: as much of a server as brings a client to TLS, and has an answer for what
//! it says there. It lets nobody in, but for FTP's, and has no state: each answer follows from the message alone.

use super::dialogue::{Length, Unexpected};

/// One protocol's server.
pub(crate) struct ServerSide {
    /// What is said to everyone who connects.
    pub(crate) greeting: &'static [u8],
    /// How long the client's message is.
    pub(crate) length: fn(&[u8]) -> Length,
    /// What is answered in the clear.
    pub(crate) in_the_clear: fn(&[u8]) -> ServerReply,
    /// What is answered under TLS.
    pub(crate) under_tls: fn(&[u8]) -> ServerReply,
}

/// What a server does about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerReply {
    /// It says this, which may be nothing.
    Say(Vec<u8>),
    /// It says this, and the ClientHello is due.
    StartTls(Vec<u8>),
    /// It says this and closes.
    Close(Vec<u8>),
    /// It does this, and says what it came to.
    Data(DataCommand),
}

/// What an FTP client asks for its data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataCommand {
    /// Whether TLS protects it (RFC 4217 §9).
    Protect(bool),
    /// A port to connect to: by `EPSV` (RFC 2428 §3), or by `PASV`.
    Open {
        /// Whether it is by `EPSV`.
        extended: bool,
    },
    /// A listing, or a file.
    Send,
    /// To take a file.
    Receive,
}

/// A message in the clear is no longer: a client could otherwise go on without end.
const MAX_MESSAGE: usize = 16 * 1024;

/// What a record of TLS with a ClientHello begins with; no message of these protocols does.
const TLS_HANDSHAKE: [u8; 2] = [22, 3];

impl ServerSide {
    pub(super) fn reply(&self, heard: &mut Vec<u8>, is_under_tls: bool) -> Result<Option<ServerReply>, Unexpected> {
        if heard.starts_with(&TLS_HANDSHAKE) {
            return Err(Unexpected);
        }
        let Some(length) = (self.length)(heard)? else {
            return if heard.len() > MAX_MESSAGE { Err(Unexpected) } else { Ok(None) };
        };
        let message: Vec<u8> = heard.drain(..length.min(heard.len())).collect();
        let answer = if is_under_tls { self.under_tls } else { self.in_the_clear };
        Ok(Some(answer(&message)))
    }
}

impl ServerReply {
    /// It says this and goes on.
    pub(super) fn say(words: &[u8]) -> Self {
        Self::Say(words.to_vec())
    }

    /// It says this, and TLS begins.
    pub(super) fn start_tls(words: &[u8]) -> Self {
        Self::StartTls(words.to_vec())
    }

    /// It says this and closes.
    pub(super) fn close(words: &[u8]) -> Self {
        Self::Close(words.to_vec())
    }
}

/// The first word of a line, in capital letters: the command of SMTP, FTP and POP3.
pub(super) fn command(line: &[u8]) -> String {
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    String::from_utf8_lossy(word).to_ascii_uppercase()
}

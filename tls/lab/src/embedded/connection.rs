use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_connection::prologue::DataCommand;
use reprise_connection::{ServerReply, StartTls};
use rustls::{CipherSuite, HandshakeKind, NamedGroup, ServerConfig, ServerConnection};

use super::account::{ConnectionAccount, HandshakeFailure, Ledger};
use super::config::{EmbeddedConfig, ServerApplication, Turn};
use super::http::{self, Parsed, Response};
use crate::listener::Guest;

/// How long the server reads on after its own end, so that its last words are not lost to a reset.
const LINGER: Duration = Duration::from_secs(1);

/// Serves one TCP connection to its end.
pub(super) fn serve(guest: &Guest<'_>, tls: &Arc<ServerConfig>, ledger: &Ledger, config: &EmbeddedConfig) {
    while let Some(Rest::AnotherSession) = serve_session(guest, tls, ledger, config) {}
}

/// What may follow a TLS session on its TCP connection.
enum Rest {
    Nothing,
    AnotherSession,
}

/// One TLS session; `None` where no client has begun one.
fn serve_session(guest: &Guest<'_>, tls: &Arc<ServerConfig>, ledger: &Ledger, config: &EmbeddedConfig) -> Option<Rest> {
    let mut connection = Connection::new(ServerConnection::new(Arc::clone(tls)).ok()?, &guest.stream);
    let (peer_port, timeouts) = (guest.peer.port(), config.timeouts());
    let mut closed_by = None;
    match connection.handshake(timeouts.handshake) {
        Ok(handshake) => {
            let entry = ledger.enter(connection.account(peer_port, handshake));
            let _ = connection.socket.set_read_timeout(Some(timeouts.idle));
            let count = |moment: Moment<'_>| {
                if let Moment::Request { .. } = moment {
                    ledger.count_request(entry);
                }
            };
            match &config.application {
                ServerApplication::Http => closed_by = connection.answer_requests(count).ok(),
                ServerApplication::HttpAfterHandshake => {
                    if connection.early_data.is_some() {
                        connection.inbox.clear();
                    }
                    let _ = connection.answer_requests(count);
                }
                ServerApplication::Dialogue(turns) => {
                    if let Err(end) = connection.converse(turns) {
                        ledger.enter_misheard(end.to_string());
                    }
                }
            }
        }
        Err(End::BeforeFirstByte) => return None,
        Err(end) => ledger.enter_failure(HandshakeFailure { peer_port, reason: end.to_string() }),
    }
    if config.keeps_transport && closed_by == Some(ClosedBy::Client) {
        connection.tls.send_close_notify();
        return connection.flush().is_ok().then_some(Rest::AnotherSession);
    }
    connection.close();
    Some(Rest::Nothing)
}

/// One connection of a client that speaks HTTP.
pub(crate) struct Connection<'a> {
    pub(crate) tls: ServerConnection,
    pub(crate) socket: &'a TcpStream,
    inbox: Vec<u8>,
    pub(crate) early_data: Option<usize>,
    /// Whether it is looked, before each response, whether the client is still there.
    pub(crate) looks_before_answering: bool,
}

/// What happens while requests are answered.
pub(crate) enum Moment<'a> {
    /// A request arrived.
    Request {
        /// What its client calls itself.
        user_agent: Option<&'a str>,
        /// Whether it shows that a proxy passes it on.
        is_passed_on: bool,
    },
    /// Its response is about to be sent to a client that is still there, and perhaps the connection ends with it.
    Response {
        /// Whether the server closes after it.
        is_last: bool,
    },
}

/// Who closed a connection that ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClosedBy {
    /// The client, with close_notify.
    Client,
    /// The server, as the request asked or deserved.
    Server,
}

/// Why a connection went no further.
#[derive(Debug, thiserror::Error)]
pub(crate) enum End {
    #[error("the client sent nothing")]
    BeforeFirstByte,
    #[error("the client closed the connection")]
    Closed,
    #[error("the client closed the connection before it asked for TLS")]
    ClosedInTheClear,
    #[error("the client does not begin as one of {0} does: it sent {1}")]
    OtherProtocol(StartTls, String),
    #[error("heard {heard}, not {expected}")]
    Misheard { heard: String, expected: String },
    #[error("the client does not speak TLS: it began with {0}")]
    NoTls(String),
    #[error("the client sent nothing, as one does that waits for a greeting")]
    Silent,
    #[error("the handshake took too long")]
    TooSlow,
    #[error(transparent)]
    Socket(#[from] io::Error),
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

impl<'a> Connection<'a> {
    pub(crate) fn new(tls: ServerConnection, socket: &'a TcpStream) -> Self {
        Self { tls, socket, inbox: Vec::new(), early_data: None, looks_before_answering: false }
    }

    /// Returns how long the handshake took since the first bytes arrived.
    fn handshake(&mut self, timeout: Duration) -> Result<Duration, End> {
        self.socket.set_read_timeout(Some(timeout))?;
        self.socket.set_write_timeout(Some(timeout))?;
        match self.tls.read_tls(&mut &*self.socket) {
            Ok(0) | Err(_) => return Err(End::BeforeFirstByte),
            Ok(_) => {}
        }
        let started = Instant::now();
        self.complete_handshake(started, timeout)
    }

    /// The rest of a handshake whose first bytes were read at `started`. Returns how long it took since then.
    fn complete_handshake(&mut self, started: Instant, timeout: Duration) -> Result<Duration, End> {
        self.hear_handshake(started, timeout)?;
        self.flush()?;
        Ok(started.elapsed())
    }

    /// Until the client's Finished has been read. What is to be sent after it, [`Connection::flush`] sends.
    pub(crate) fn hear_handshake(&mut self, started: Instant, timeout: Duration) -> Result<(), End> {
        loop {
            self.process()?;
            self.take_early_data()?;
            if !self.tls.is_handshaking() {
                return Ok(());
            }
            self.flush()?;
            if started.elapsed() > timeout {
                return Err(End::TooSlow);
            }
            if self.read_tls()? == 0 {
                return Err(End::Closed);
            }
        }
    }

    /// Whether the client ends the connection within this time. What it sends instead is kept.
    pub(crate) fn is_left_within(&mut self, time: Duration) -> Result<bool, End> {
        self.socket.set_read_timeout(Some(time))?;
        match self.read_tls() {
            Ok(0) => Ok(true),
            Ok(_) => Ok(self.tls.process_new_packets()?.peer_has_closed()),
            Err(error) => Ok(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)),
        }
    }

    /// Whether the client has ended the connection already. What it sent instead is kept.
    fn is_left(&mut self) -> Result<bool, End> {
        self.socket.set_nonblocking(true)?;
        let read = self.read_tls();
        self.socket.set_nonblocking(false)?;
        match read {
            Ok(0) => Ok(true),
            Ok(_) => Ok(self.tls.process_new_packets()?.peer_has_closed()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(End::Socket(error)),
        }
    }

    fn account(&self, peer_port: u16, handshake: Duration) -> ConnectionAccount {
        let tls = &self.tls;
        let kind = tls.handshake_kind();
        ConnectionAccount {
            peer_port,
            version: match tls.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3".to_owned(),
                _ => "TLSv1.2".to_owned(),
            },
            cipher: tls.negotiated_cipher_suite().map_or_else(String::new, |suite| iana_suite(suite.suite())),
            group: tls.negotiated_key_exchange_group().map(|group| iana_group(group.name())),
            resumed: kind == Some(HandshakeKind::Resumed),
            retried: kind == Some(HandshakeKind::FullWithHelloRetryRequest),
            client_cert: tls.peer_certificates().is_some(),
            early_data: self.early_data,
            sni: tls.server_name().map(str::to_owned),
            alpn: tls.alpn_protocol().map(<[u8]>::to_vec),
            handshake,
            requests: 0,
        }
    }

    /// Answers requests until either side closes.
    pub(crate) fn answer_requests(&mut self, mut seen: impl FnMut(Moment<'_>)) -> Result<ClosedBy, End> {
        loop {
            match http::parse(&self.inbox) {
                Parsed::Partial => {
                    if self.receive()? == 0 {
                        return Ok(ClosedBy::Client);
                    }
                }
                Parsed::Refused(answer) => {
                    self.send(&answer)?;
                    return Ok(ClosedBy::Server);
                }
                Parsed::Request(request) => {
                    let (user_agent, is_passed_on) = (request.user_agent.as_deref(), request.is_passed_on);
                    seen(Moment::Request { user_agent, is_passed_on });
                    self.inbox.drain(..request.head_bytes);
                    if request.expects_continue {
                        self.send(&Response::continue_())?;
                    }
                    if !self.skip_body(request.body_bytes)? {
                        return Ok(ClosedBy::Client);
                    }
                    let answer = http::answer(&request);
                    if self.looks_before_answering && self.is_left()? {
                        self.send(&answer)?;
                        return Ok(ClosedBy::Client);
                    }
                    seen(Moment::Response { is_last: answer.closes });
                    self.send(&answer)?;
                    if answer.closes {
                        return Ok(ClosedBy::Server);
                    }
                }
            }
        }
    }

    /// Answers as a server of this protocol, until either side closes. What FTP's data channel is to do, `data` does and answers.
    pub(crate) fn answer_service(
        &mut self,
        protocol: StartTls,
        mut seen: impl FnMut(Moment<'_>),
        mut data: impl FnMut(DataCommand) -> Vec<u8>,
    ) -> Result<ClosedBy, End> {
        loop {
            let Ok(reply) = protocol.reply(&mut self.inbox, true) else { return Ok(ClosedBy::Server) };
            let (words, is_last) = match reply {
                Some(ServerReply::Say(words)) => (words, false),
                Some(ServerReply::Close(words) | ServerReply::StartTls(words)) => (words, true),
                Some(ServerReply::Data(command)) => {
                    if matches!(command, DataCommand::Send | DataCommand::Receive) {
                        self.write_all(b"150 It follows\r\n")?;
                    }
                    (data(command), false)
                }
                None if self.receive()? == 0 => return Ok(ClosedBy::Client),
                None => continue,
            };
            seen(Moment::Request { user_agent: None, is_passed_on: false });
            if !words.is_empty() || is_last {
                seen(Moment::Response { is_last });
            }
            self.write_all(&words)?;
            if is_last {
                return Ok(ClosedBy::Server);
            }
        }
    }

    /// Reads whatever the client sends, to its end.
    pub(crate) fn hear_out(&mut self) -> Result<(), End> {
        while self.receive()? > 0 {
            self.inbox.clear();
        }
        Ok(())
    }

    fn converse(&mut self, turns: &[Turn]) -> Result<(), End> {
        for turn in turns {
            match turn {
                Turn::Says(bytes) => self.write_all(bytes)?,
                Turn::Hears(expected) => self.hear(expected)?,
            }
        }
        Ok(())
    }

    fn hear(&mut self, expected: &[u8]) -> Result<(), End> {
        loop {
            let heard = self.inbox.get(..self.inbox.len().min(expected.len())).unwrap_or_default();
            if !expected.starts_with(heard) {
                let (heard, expected) = (heard.escape_ascii().to_string(), expected.escape_ascii().to_string());
                return Err(End::Misheard { heard, expected });
            }
            if heard.len() == expected.len() {
                self.inbox.drain(..expected.len());
                return Ok(());
            }
            if self.receive()? == 0 {
                return Err(End::Closed);
            }
        }
    }

    /// False if the client left before the end of the body.
    fn skip_body(&mut self, mut bytes: usize) -> Result<bool, End> {
        loop {
            let here = bytes.min(self.inbox.len());
            self.inbox.drain(..here);
            bytes -= here;
            if bytes == 0 {
                return Ok(true);
            }
            if self.receive()? == 0 {
                return Ok(false);
            }
        }
    }

    fn send(&mut self, answer: &Response) -> Result<(), End> {
        self.write_all(&answer.head)?;
        let mut left = answer.filler_bytes;
        while left > 0 {
            let piece = http::FILLER.get(..left.min(http::FILLER.len())).unwrap_or(http::FILLER);
            self.write_all(piece)?;
            left -= piece.len();
        }
        Ok(())
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), End> {
        while !bytes.is_empty() {
            let taken = self.tls.writer().write(bytes)?;
            bytes = bytes.get(taken..).unwrap_or_default();
            self.flush()?;
        }
        Ok(())
    }

    /// Adds at least one byte of plaintext to the inbox; 0 when the client has ended.
    fn receive(&mut self) -> Result<usize, End> {
        let mut plaintext = [0; 4096];
        loop {
            match self.tls.reader().read(&mut plaintext) {
                Ok(count) => {
                    self.inbox.extend_from_slice(plaintext.get(..count).unwrap_or_default());
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.read_tls()?;
                    self.process()?;
                    self.flush()?;
                }
                Err(error) => return Err(End::Socket(error)),
            }
        }
    }

    fn take_early_data(&mut self) -> Result<(), End> {
        if let Some(mut early) = self.tls.early_data() {
            let count = early.read_to_end(&mut self.inbox)?;
            *self.early_data.get_or_insert(0) += count;
        }
        Ok(())
    }

    fn process(&mut self) -> Result<(), End> {
        self.tls.process_new_packets()?;
        Ok(())
    }

    fn read_tls(&mut self) -> io::Result<usize> {
        loop {
            match self.tls.read_tls(&mut &*self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut &*self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => {
                    result?;
                }
            }
        }
        Ok(())
    }

    /// Sends close_notify (RFC 9846, section 6.1), or the alert that rustls has ready, and lets the client go first. Returns whether its system
    /// resets the connection meanwhile.
    pub(crate) fn close(&mut self) -> bool {
        self.tls.send_close_notify();
        if self.flush().is_err() || self.socket.shutdown(Shutdown::Write).is_err() {
            return false;
        }
        let _ = self.socket.set_read_timeout(Some(LINGER));
        let deadline = Instant::now() + LINGER;
        let mut unread = [0; 4096];
        loop {
            match (&mut &*self.socket).read(&mut unread) {
                Ok(1..) if Instant::now() < deadline => {}
                Ok(_) => return false,
                Err(error) => return error.kind() == ErrorKind::ConnectionReset,
            }
        }
    }
}

/// rustls' own names of TLS 1.3 suites differ from the registry's.
fn iana_suite(suite: CipherSuite) -> String {
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}

fn iana_group(group: NamedGroup) -> String {
    match group {
        NamedGroup::X25519 => "x25519".to_owned(),
        NamedGroup::X448 => "x448".to_owned(),
        other => format!("{other:?}"),
    }
}

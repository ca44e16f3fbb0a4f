use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reprise_connection::StartTls;
use reprise_model::{
    Agreed, ClientOffer, FailureClass, HandshakeEnd, Kind, Nanos, Version, WatchedConnection, WatchedEnd, WatchedHandshake,
};
use reprise_wire::AlertDescription;
use rustls::server::{Acceptor, ProducesTickets};
use rustls::{HandshakeKind, ServerConfig};

use super::book::Book;
use super::session_link::SessionLink;
use super::{MAX_EARLY_DATA, TICKETS, TICKETS_RESUMED, hello, process};
use crate::embedded::{ClosedBy, Connection, End, Moment};

/// What every connection is served with.
pub(super) struct Serving {
    pub(super) tls: ServerConfig,
    pub(super) ticketer: Arc<dyn ProducesTickets>,
    pub(super) book: Arc<Book>,
    /// The protocol in which clients ask for TLS; none where it begins at once, and HTTP follows.
    pub(super) starttls: Option<StartTls>,
    pub(super) handshake_timeout: Duration,
    pub(super) idle_timeout: Duration,
}

/// A ClientHello in its records has fewer bytes; rustls allows 64 KiB.
const MAX_HELLO_BYTES: usize = 128 * 1024;

/// How much later than the client's Finished the tickets of TLS 1.3 are sent, where it says nothing more: as over a network,
/// where they come a round trip later. Whoever has left by then does not get them.
const TICKET_DELAY: Duration = Duration::from_millis(2);

/// The content types that a client's first record can have.
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// So many of a client's first bytes are shown.
const SHOWN_BYTES: usize = 16;

/// How long a reset may follow what the client sent last.
const RESET_WAIT: Duration = Duration::from_millis(20);

impl Serving {
    /// A connection whose handshake has completed; otherwise how it ended.
    pub(super) fn begin<'s>(
        &self,
        socket: &'s TcpStream,
        number: u32,
        early: Vec<u8>,
    ) -> Result<Connection<'s>, WatchedEnd> {
        let started = Instant::now();
        let accepted = self.read_hello(socket, early).map_err(|end| self.fail(number, &end))?;
        let process = process::of(socket);
        let offer = hello::read(&accepted.received, self.book.now(), |name| self.book.recognise(name));
        let config = self.config(number, offer.as_ref());
        self.book.note(number, |it| {
            it.process = process.as_ref().map(|process| process.number);
            it.program = process.and_then(|process| process.program);
        });
        let offered = offer.clone();
        if let Some(offer) = offer {
            self.book.note(number, |it| it.offer = Some(offer));
        }
        let tls = match accepted.hello.into_connection(Arc::new(config)) {
            Ok(tls) => tls,
            Err((error, mut alert)) => {
                let _ = alert.write_all(&mut &*socket);
                return Err(self.fail(number, &End::Tls(error)));
            }
        };
        let mut connection = Connection::new(tls, socket);
        if let Err(end) = self.handshake(&mut connection, number, started, offered.as_ref()) {
            let end = self.fail(number, &end);
            self.end(number, end);
            connection.close();
            return Err(end);
        }
        Ok(connection)
    }

    /// Ends a connection, and notes how.
    pub(super) fn part(&self, mut connection: Connection<'_>, number: u32, closed: Result<ClosedBy, End>) -> WatchedEnd {
        if let Err(End::Tls(rustls::Error::AlertReceived(alert))) = &closed {
            let alert = AlertDescription(u8::from(*alert)).to_string();
            self.book.note(number, |it| it.alert = Some(alert));
        }
        let (end, is_still_there) = ending(closed, connection.socket);
        // What follows is politeness: for the client the connection is over.
        self.end(number, end);
        // Unless it stays, and then leaves with something unread: perhaps this close_notify alone, perhaps all.
        let end = if connection.close() && is_still_there { WatchedEnd::Reset } else { end };
        self.end(number, end);
        end
    }

    /// Notes how a connection ended, once.
    pub(super) fn end(&self, number: u32, end: WatchedEnd) {
        let at = self.book.now();
        self.book.note(number, |it| {
            if it.end.is_none_or(|(_, noted)| noted != end) {
                it.end = Some((at, end));
            }
        });
    }

    fn handshake(
        &self,
        connection: &mut Connection<'_>,
        number: u32,
        started: Instant,
        offer: Option<&ClientOffer>,
    ) -> Result<(), End> {
        connection.hear_handshake(started, self.handshake_timeout)?;
        let agreed = agreed(connection, offer, self.book.now());
        let sends_tickets = agreed.version == Version::Tls13;
        self.book.note(number, |it| it.handshake = WatchedHandshake::Completed(agreed));
        if sends_tickets {
            let is_left = connection.is_left_within(TICKET_DELAY).unwrap_or(false);
            self.book.note(number, |it| it.left_before_tickets = is_left);
        }
        let _ = connection.socket.set_read_timeout(Some(self.idle_timeout));
        // A client that has left already cannot be written to, and that is no failure of its handshake.
        let _ = connection.flush();
        Ok(())
    }

    fn read_hello(&self, socket: &TcpStream, early: Vec<u8>) -> Result<FirstBytes, End> {
        let deadline = Instant::now() + self.handshake_timeout;
        let mut acceptor = Acceptor::default();
        let mut tee = Tee { socket, early, received: Vec::new() };
        loop {
            match acceptor.read_tls(&mut tee) {
                Ok(0) if tee.received.is_empty() => return Err(End::BeforeFirstByte),
                Ok(0) => return Err(End::Closed),
                Err(error) if is_timeout(&error) && tee.received.is_empty() => return Err(End::Silent),
                result => drop(result?),
            }
            match acceptor.accept() {
                Ok(Some(hello)) => return Ok(FirstBytes { hello, received: tee.received }),
                Ok(None) if Instant::now() > deadline => return Err(End::TooSlow),
                Ok(None) => {}
                Err((error, mut alert)) => {
                    let _ = alert.write_all(&mut &*socket);
                    let is_tls = tee.received.first() == Some(&HANDSHAKE) || tee.received.first() == Some(&ALERT);
                    return Err(if is_tls { End::Tls(error) } else { End::NoTls(described(&tee.received)) });
                }
            }
        }
    }

    /// Under TLS 1.3 tickets that are used once, since only those allow early data; under TLS 1.2 tickets, or IDs.
    fn config(&self, number: u32, offer: Option<&ClientOffer>) -> ServerConfig {
        let resumes = offer.is_some_and(|offer| self.book.is_offered_alike(offer));
        let link = || SessionLink::new(Arc::clone(&self.book), number, Arc::clone(&self.ticketer), !resumes);
        let mut config = self.tls.clone();
        config.send_tls13_tickets = if resumes { TICKETS_RESUMED } else { TICKETS };
        config.session_storage = Arc::new(link());
        match offer {
            Some(offer) if offer.speaks(Version::Tls13) => config.max_early_data_size = MAX_EARLY_DATA,
            _ => config.ticketer = Arc::new(link()),
        }
        // A client that wants another protocol is served without one: its offer is what counts here.
        let http = b"http/1.1";
        if offer.is_some_and(|offer| offer.alpn.iter().any(|protocol| protocol.as_bytes() == http)) {
            config.alpn_protocols = vec![http.to_vec()];
        }
        config
    }

    pub(super) fn fail(&self, number: u32, end: &End) -> WatchedEnd {
        let failed = match end {
            End::BeforeFirstByte => return WatchedEnd::Fin,
            End::Tls(error) => failure(error),
            End::ClosedInTheClear | End::OtherProtocol(..) | End::NoTls(_) | End::Silent => {
                HandshakeEnd { class: FailureClass::Starttls, alert: None, reason: end.to_string(), is_left: false }
            }
            other => {
                let is_left = matches!(socket_end(other), WatchedEnd::Fin | WatchedEnd::Reset);
                HandshakeEnd { class: FailureClass::Tls, alert: None, reason: other.to_string(), is_left }
            }
        };
        self.book.note(number, |it| it.handshake = WatchedHandshake::Failed(failed));
        socket_end(end)
    }

    pub(super) fn book_moment(&self, number: u32, moment: &Moment<'_>) {
        let now = self.book.now();
        self.book.note(number, |it| match moment {
            Moment::Request { user_agent, is_passed_on } => {
                it.requests = it.requests.saturating_add(1);
                if it.request_times.len() < WatchedConnection::MAX_REQUEST_TIMES {
                    it.request_times.push(now);
                }
                if it.user_agent.is_none() {
                    it.user_agent = user_agent.map(str::to_owned);
                }
                it.passed_on |= is_passed_on;
            }
            Moment::Response { is_last } => {
                it.first_response.get_or_insert(now);
                // Noted before the client can know of it, and connect again.
                if *is_last {
                    it.end = Some((now, WatchedEnd::Server));
                }
            }
        });
    }
}

struct FirstBytes {
    hello: rustls::server::Accepted,
    received: Vec<u8>,
}

/// Keeps what the ClientHello is read from.
struct Tee<'a> {
    socket: &'a TcpStream,
    /// What came before it was its turn.
    early: Vec<u8>,
    received: Vec<u8>,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = loop {
            if !self.early.is_empty() {
                let count = self.early.as_slice().read(buffer)?;
                self.early.drain(..count);
                break count;
            }
            match (&mut &*self.socket).read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        if self.received.len() < MAX_HELLO_BYTES {
            self.received.extend_from_slice(buffer.get(..count).unwrap_or_default());
        }
        Ok(count)
    }
}

fn agreed(connection: &Connection<'_>, offer: Option<&ClientOffer>, at: Nanos) -> Agreed {
    let tls = &connection.tls;
    let is_tls13 = tls.protocol_version() == Some(rustls::ProtocolVersion::TLSv1_3);
    let version = if is_tls13 { Version::Tls13 } else { Version::Tls12 };
    let offers = |mechanism| {
        offer
            .is_some_and(|it| it.sessions.iter().any(|session| (session.version, session.mechanism) == (version, mechanism)))
    };
    let kind = match tls.handshake_kind() {
        Some(HandshakeKind::Resumed) if connection.early_data.is_some() => Kind::Early,
        Some(HandshakeKind::Resumed) if offers(Kind::Ticket) => Kind::Ticket,
        Some(HandshakeKind::Resumed) => Kind::Id,
        _ => Kind::Full,
    };
    let suite = tls.negotiated_cipher_suite().map_or(0, |suite| u16::from(suite.suite()));
    Agreed { at, version, kind, suite, early_data: connection.early_data }
}

/// How the connection ended, once its handshake had completed, and whether the client has not ended it yet.
fn ending(closed: Result<ClosedBy, End>, socket: &TcpStream) -> (WatchedEnd, bool) {
    let by = match closed {
        Ok(by) => by,
        Err(end) => return (socket_end(&end), false),
    };
    match (next_of(socket), by) {
        (Err(error), _) if error.kind() == ErrorKind::ConnectionReset => (WatchedEnd::Reset, false),
        (heard, ClosedBy::Server) => (WatchedEnd::Server, heard.is_err()),
        (_, ClosedBy::Client) => (WatchedEnd::CloseNotify, false),
    }
}

/// A client that closes its socket with unread bytes in it sends close_notify at most, and its system then resets the
/// connection (RFC 2525, section 2.17). Asked before the server sends anything more, which might itself cause a reset.
fn next_of(socket: &TcpStream) -> io::Result<usize> {
    let _ = socket.set_read_timeout(Some(RESET_WAIT));
    (&mut &*socket).read(&mut [0; 64])
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn socket_end(end: &End) -> WatchedEnd {
    match end {
        End::Socket(error) if is_timeout(error) => WatchedEnd::Idle,
        End::Socket(error) => match error.kind() {
            ErrorKind::UnexpectedEof => WatchedEnd::Fin,
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => WatchedEnd::Reset,
            _ => WatchedEnd::Broken,
        },
        End::BeforeFirstByte | End::Closed | End::ClosedInTheClear => WatchedEnd::Fin,
        End::TooSlow | End::Silent => WatchedEnd::Idle,
        End::Tls(_) | End::NoTls(_) | End::OtherProtocol(..) | End::Misheard { .. } => WatchedEnd::Broken,
    }
}

/// What a client of another protocol began with, and which that is where its clients speak first.
fn described(received: &[u8]) -> String {
    let speaks_first = |protocol: &StartTls| protocol.greeting().is_empty();
    let fits = |protocol: &StartTls| matches!(protocol.reply(&mut received.to_vec(), false), Ok(Some(_)));
    let known = StartTls::ALL.into_iter().filter(speaks_first).find(fits);
    let as_known = known.map_or_else(String::new, |protocol| format!(", as clients of {protocol} do"));
    format!("{}{as_known}", first_of(received))
}

/// A client's first bytes, safe to print.
pub(super) fn first_of(received: &[u8]) -> String {
    format!("\"{}\"", received.get(..SHOWN_BYTES).unwrap_or(received).escape_ascii())
}

fn failure(error: &rustls::Error) -> HandshakeEnd {
    let alert = match error {
        rustls::Error::AlertReceived(alert) => Some(AlertDescription(u8::from(*alert))),
        _ => None,
    };
    let is_about_certificate = matches!(
        alert,
        Some(
            AlertDescription::BAD_CERTIFICATE
                | AlertDescription::UNSUPPORTED_CERTIFICATE
                | AlertDescription::CERTIFICATE_REVOKED
                | AlertDescription::CERTIFICATE_EXPIRED
                | AlertDescription::CERTIFICATE_UNKNOWN
                | AlertDescription::UNKNOWN_CA
                // A CA of the same name and with another key signed what the client trusts.
                | AlertDescription::DECRYPT_ERROR
        )
    );
    HandshakeEnd {
        class: if is_about_certificate { FailureClass::Certificate } else { FailureClass::Tls },
        alert: alert.map(|alert| alert.to_string()),
        reason: reason(error),
        is_left: false,
    }
}

/// rustls' words, but where they are its internal names.
fn reason(error: &rustls::Error) -> String {
    use rustls::{Error, PeerIncompatible};
    let words = match error {
        Error::InvalidMessage(_) => "the client sent a message that cannot be parsed",
        Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => "there is no cipher suite in common",
        Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon) => "there is no group in common",
        Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon) => "there is no signature scheme in common",
        Error::PeerIncompatible(_) => "the client offers neither TLS 1.2 nor TLS 1.3, or lacks an extension that they need",
        Error::PeerMisbehaved(_) => "the client violates the protocol",
        error => return error.to_string(),
    };
    words.to_owned()
}

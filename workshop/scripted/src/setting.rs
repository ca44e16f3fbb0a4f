//! What a client offers, what a server is, and what the two would say to each other in honesty.

use std::sync::{Arc, OnceLock};

use reprise_engine::{ClientIdentity, Config, Connection, Offer, Session, Tls12Session, Tls13Ticket};
use reprise_model::{Kind, Version};
pub use reprise_servers::ConnectionEnd;
use reprise_wire::{CipherSuite, HandshakeType};

use crate::certificates::authority;
use crate::{NOW, client, sessions};

/// One thing that a server does in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Waits for the client's next flight.
    Wait,
    /// ServerHello.
    Hello,
    /// HelloRetryRequest, for secp256r1.
    Retry,
    /// EncryptedExtensions.
    EncryptedExtensions,
    /// CertificateRequest.
    CertificateRequest,
    /// Certificate.
    Certificate,
    /// A Certificate whose chain is this many bytes longer than it should be.
    LongCertificate(usize),
    /// CertificateVerify.
    CertificateVerify,
    /// ServerKeyExchange.
    ServerKeyExchange,
    /// ServerHelloDone.
    ServerHelloDone,
    /// NewSessionTicket.
    Ticket,
    /// ChangeCipherSpec.
    ChangeCipherSpec,
    /// Finished.
    Finished,
    /// KeyUpdate, which asks for another if it is true.
    KeyUpdate(bool),
    /// HelloRequest.
    HelloRequest,
    /// Any other handshake message.
    Message(HandshakeType, Vec<u8>),
    /// Application data.
    Data(Vec<u8>),
    /// An alert: level and description.
    Alert(u8, u8),
    /// The connection ends.
    End(ConnectionEnd),
}

/// What a client asks for.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

/// The response of an honest server that was asked for a page.
pub const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

/// What a client offers to a server, and what that server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The version that the server speaks.
    pub version: Version,
    /// Whether the client offers both versions, not that one alone.
    pub offers_both: bool,
    /// What is resumed: [`Kind::Full`], [`Kind::Id`], [`Kind::Ticket`] or, with a request that comes before the server's
    /// answer, [`Kind::Early`].
    pub kind: Kind,
    /// TLS 1.3: whether the server asks for another hello.
    pub retry: bool,
    /// Whether the server asks for a certificate.
    pub asks_certificate: bool,
    /// Whether the client has one.
    pub has_certificate: bool,
    /// Whether the client offers ALPN, and the server chooses.
    pub alpn: bool,
    /// Whether the server gives a ticket.
    pub gives_ticket: bool,
    /// The suite that the server chooses.
    pub suite: CipherSuite,
}

impl Setting {
    /// A resumption of this kind that renews the ticket, if it is by ticket, and nothing else.
    pub fn resumed(version: Version, kind: Kind) -> Self {
        Self { kind, ..Self::full(version) }
    }

    /// A full handshake with a ticket, and nothing else.
    pub fn full(version: Version) -> Self {
        Self {
            version,
            offers_both: false,
            kind: Kind::Full,
            retry: false,
            asks_certificate: false,
            has_certificate: false,
            alpn: false,
            gives_ticket: true,
            suite: match version {
                Version::Tls12 => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                Version::Tls13 => CipherSuite::TLS_AES_128_GCM_SHA256,
            },
        }
    }

    /// Whether the handshake is abbreviated; session IDs resume TLS 1.2 alone.
    pub fn resumes(&self) -> bool {
        match self.version {
            Version::Tls12 => matches!(self.kind, Kind::Id | Kind::Ticket),
            Version::Tls13 => matches!(self.kind, Kind::Ticket | Kind::Early),
        }
    }

    /// The client, begun.
    pub fn client(&self) -> Connection {
        let both = vec![Version::Tls12, Version::Tls13];
        let config = Config {
            versions: if self.offers_both { both } else { vec![self.version] },
            alpn: if self.alpn { vec![b"http/1.1".to_vec()] } else { Vec::new() },
            identity: self.has_certificate.then(|| identity().clone()),
            ..client::trusting_client()
        };
        let mut client = client::start(&Arc::new(config), self.offer(), NOW).unwrap();
        client.send_early(NOW, REQUEST).unwrap();
        client
    }

    /// The session that a client resumes, where this is a resumption.
    pub fn session(&self) -> Option<Session> {
        self.resumes().then(|| match self.version {
            // One without a ticket, where it is to be resumed by its ID.
            Version::Tls12 if self.kind == Kind::Id => Session::Tls12(Tls12Session { ticket: None, ..sessions::tls12() }),
            Version::Tls12 => Session::Tls12(sessions::tls12()),
            Version::Tls13 => Session::Tls13(self.ticket()),
        })
    }

    /// The ticket of a connection that chose the same protocol, without which it would allow no early data.
    fn ticket(&self) -> Tls13Ticket {
        Tls13Ticket { alpn: self.alpn.then(|| b"http/1.1".to_vec()), ..sessions::tls13() }
    }

    fn offer(&self) -> Offer {
        match (self.version, self.kind) {
            (Version::Tls12, Kind::Id) => Offer::SessionId(sessions::tls12()),
            (Version::Tls12, Kind::Ticket) => Offer::SessionTicket(sessions::tls12()),
            (Version::Tls13, Kind::Ticket) => Offer::Ticket(self.ticket()),
            (Version::Tls13, Kind::Early) => Offer::Early(self.ticket()),
            _ => Offer::Full { session_ticket: true },
        }
    }

    /// What an honest server does, from the client's hello on, until it has answered one request.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = match self.version {
            Version::Tls12 => self.tls12_lines(),
            Version::Tls13 => self.tls13_lines(),
        };
        lines.extend([Line::Wait, Line::Data(RESPONSE.to_vec()), Line::Alert(1, 0), Line::End(ConnectionEnd::Close)]);
        lines
    }

    fn tls12_lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::Hello];
        if !self.resumes() {
            lines.push(Line::Certificate);
            lines.extend((!self.is_rsa()).then_some(Line::ServerKeyExchange));
            lines.extend(self.asks_certificate.then_some(Line::CertificateRequest));
            lines.extend([Line::ServerHelloDone, Line::Wait]);
        }
        lines.extend(self.renews_ticket().then_some(Line::Ticket));
        lines.extend([Line::ChangeCipherSpec, Line::Finished]);
        lines
    }

    fn tls13_lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.retry {
            lines.extend([Line::Retry, Line::Wait]);
        }
        // RFC 9846 §E.4: for middleboxes.
        lines.extend([Line::Hello, Line::ChangeCipherSpec, Line::EncryptedExtensions]);
        if !self.resumes() {
            lines.extend(self.asks_certificate.then_some(Line::CertificateRequest));
            lines.extend([Line::Certificate, Line::CertificateVerify]);
        }
        lines.push(Line::Finished);
        if self.gives_ticket {
            lines.extend([Line::Ticket, Line::Ticket]);
        }
        lines
    }

    /// TLS 1.2: whether a ticket is given, which a client that resumes by ID does not ask for.
    pub(crate) fn renews_ticket(&self) -> bool {
        self.gives_ticket && self.kind != Kind::Id
    }

    fn is_rsa(&self) -> bool {
        let suite = reprise_engine::suite::find(self.suite);
        suite.is_some_and(|suite| suite.key_exchange == reprise_engine::suite::KeyExchange::Rsa)
    }
}

/// The client's certificate, made once.
fn identity() -> &'static Arc<ClientIdentity> {
    static IDENTITY: OnceLock<Arc<ClientIdentity>> = OnceLock::new();
    IDENTITY.get_or_init(|| Arc::new(client::identity(&authority().client("client").unwrap())))
}

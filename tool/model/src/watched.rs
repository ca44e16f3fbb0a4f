//! What a server saw of its clients, one value for each connection: what `diagnose --listen` judges.

use std::net::SocketAddr;

use crate::{FailureClass, Fingerprint, Kind, Nanos, Version};

/// All connections that came to a watched server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watched {
    /// In the order in which they arrived.
    pub connections: Vec<WatchedConnection>,
    /// How many more came than were kept.
    pub unkept: u64,
}

/// One connection, seen from the server. Times count from the server's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedConnection {
    /// From 0, in the order of arrival.
    pub number: u32,
    /// Where the client called from.
    pub peer: SocketAddr,
    /// The client's process, where it runs on this machine and the system tells.
    pub process: Option<u32>,
    /// The file name of that process' program.
    pub program: Option<String>,
    /// The number of the control connection whose data FTP transfers here; none on any other connection.
    pub data_of: Option<u32>,
    /// When the connection was accepted.
    pub arrived: Nanos,
    /// What its ClientHello offers; none where no whole one came.
    pub offer: Option<ClientOffer>,
    /// What the handshake came to.
    pub handshake: WatchedHandshake,
    /// Whether the client had ended the connection before a ticket of TLS 1.3 was sent.
    pub left_before_tickets: bool,
    /// How many sessions the server gave: tickets that it sent, or one session ID.
    pub sessions_given: u32,
    /// When each of the first requests arrived, at most [`WatchedConnection::MAX_REQUEST_TIMES`].
    pub request_times: Vec<Nanos>,
    /// How many requests arrived.
    pub requests: u32,
    /// When the first response was about to be sent.
    pub first_response: Option<Nanos>,
    /// The `User-Agent` of its first request, cut short.
    pub user_agent: Option<String>,
    /// Whether that request is one that a proxy passes on, so that its `User-Agent` is another program's.
    pub passed_on: bool,
    /// IANA's name of the alert by which the client ended it after the handshake, other than close_notify.
    pub alert: Option<String>,
    /// When and how it ended; none while it is open.
    pub end: Option<(Nanos, WatchedEnd)>,
}

impl WatchedConnection {
    /// Of so many requests the time is kept.
    pub const MAX_REQUEST_TIMES: usize = 2;

    /// A connection that was accepted, and of which nothing is known yet.
    pub fn new(number: u32, peer: SocketAddr, arrived: Nanos) -> Self {
        Self {
            number,
            peer,
            process: None,
            program: None,
            data_of: None,
            arrived,
            offer: None,
            handshake: WatchedHandshake::Unfinished,
            left_before_tickets: false,
            sessions_given: 0,
            request_times: Vec::new(),
            requests: 0,
            first_response: None,
            user_agent: None,
            passed_on: false,
            alert: None,
            end: None,
        }
    }

    /// What was agreed on; none where the handshake did not complete.
    pub fn agreed(&self) -> Option<&Agreed> {
        match &self.handshake {
            WatchedHandshake::Completed(agreed) => Some(agreed),
            WatchedHandshake::Unfinished | WatchedHandshake::Failed(_) => None,
        }
    }
}

/// What a ClientHello says, as far as resumption is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOffer {
    /// When it was whole.
    pub at: Nanos,
    /// The name that is asked for.
    pub sni: Option<String>,
    /// The application protocols, the preferred first.
    pub alpn: Vec<String>,
    /// Whether TLS 1.2 and TLS 1.3 are offered.
    pub versions: Vec<Version>,
    /// IANA's numbers of the cipher suites.
    pub suites: Vec<u16>,
    /// IANA's numbers of the groups.
    pub groups: Vec<u16>,
    /// `psk_key_exchange_modes`: 0 is psk_ke, 1 psk_dhe_ke; none where the extension is absent.
    pub psk_modes: Option<Vec<u8>>,
    /// Whether the `session_ticket` extension is there, empty or not.
    pub session_ticket: bool,
    /// Whether the extended master secret is offered.
    pub extended_master_secret: bool,
    /// Whether early data is announced.
    pub early_data: bool,
    /// By what it is known.
    pub fingerprint: Fingerprint,
    /// The sessions that are offered, the preferred first. A random session ID is none.
    pub sessions: Vec<OfferedSession>,
}

impl ClientOffer {
    /// Whether this version is offered.
    pub fn speaks(&self, version: Version) -> bool {
        self.versions.contains(&version)
    }
}

/// One session that a ClientHello offers to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedSession {
    /// The version that it belongs to.
    pub version: Version,
    /// [`Kind::Id`] or [`Kind::Ticket`].
    pub mechanism: Kind,
    /// Which session of this server it is; none where the server did not give it, or has forgotten it.
    pub given: Option<GivenSession>,
}

/// A session of a watched server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GivenSession {
    /// The number of the connection that it was given on.
    pub connection: u32,
    /// Which session of that connection, from 0.
    pub nth: u32,
}

/// What a handshake came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchedHandshake {
    /// It is not over, or the client left in the middle of it.
    Unfinished,
    /// It completed.
    Completed(Agreed),
    /// It failed.
    Failed(HandshakeEnd),
}

/// What a completed handshake agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// When the client's Finished had been read.
    pub at: Nanos,
    /// The version.
    pub version: Version,
    /// Full or resumed, and by what.
    pub kind: Kind,
    /// IANA's number of the cipher suite.
    pub suite: u16,
    /// How many bytes of early data were accepted; none where there was none, or it was rejected.
    pub early_data: Option<usize>,
}

/// Why a handshake failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandshakeEnd {
    /// [`FailureClass::Certificate`] where the client refused the certificate.
    pub class: FailureClass,
    /// IANA's name of the alert that the client sent; none where it sent none.
    pub alert: Option<String>,
    /// What the server's TLS library or the socket said.
    pub reason: String,
    /// Whether the client left in the middle of it without a word: as one that is stopped does.
    pub is_left: bool,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchedEnd {
    /// The client sent close_notify.
    CloseNotify,
    /// The client closed the socket without close_notify.
    Fin,
    /// The client's system reset the connection: mostly, it was closed with bytes of the server still unread.
    Reset,
    /// The server closed it: the request asked for that, or was malformed.
    Server,
    /// The client was silent for too long.
    Idle,
    /// TLS broke.
    Broken,
    /// The server was stopped.
    Stopped,
}

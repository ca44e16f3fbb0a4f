//! Everything that was seen on one connection.

use std::net::SocketAddr;

use crate::{
    Answer, AnsweredConnection, Asked, Bytes, ClientCpu, Facts, FaultName, Kind, Nanos, NextRequest, Offered, Phases,
    Version,
};

/// One connection that was begun, and what was seen of it: of fixed size, numbers and no names, so that a run may keep as many
/// as it likes. Whoever draws conclusions draws them from these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Its place among all connections that its schedule began, from 0.
    pub index: u32,
    /// When it was begun, by its schedule's clock.
    pub start: Nanos,
    /// What it was made for.
    pub purpose: Purpose,
    /// What was asked for.
    pub asked: Asked,
    /// What it offered to begin from; `None` for nothing.
    pub offered: Option<Offered>,
    /// The client's address and port, by which a server's own account is joined to this one; `None` where none came about.
    pub client: Option<SocketAddr>,
    /// Where TCP connected to: the server, or the proxy.
    pub server: Option<SocketAddr>,
    /// The version that the server chose, whether the connection completed or not; `None` before its ServerHello.
    pub chosen: Option<Version>,
    /// What was negotiated; the error's name where the connection did not complete.
    pub outcome: Result<Facts, FaultName>,
    /// How long each phase took; of a connection that failed, those that were over by then.
    pub phases: Phases,
    /// Bytes written to the transport over the whole connection.
    pub sent: Bytes,
    /// Bytes read from it.
    pub received: Bytes,
    /// Those of the ClientHello and of early data, written before the server has said anything of TLS.
    pub first_flight: Bytes,
    /// Round trips until application data could first be sent, those of a proxy and of STARTTLS included.
    pub round_trips: u64,
    /// Processor time of the client, from the beginning of this connection to its end; `None` where it was not taken.
    pub client_cpu: Option<ClientCpu>,
    /// The status of the first response, where the service is HTTP.
    pub http_status: Option<u16>,
    /// The first response.
    pub answer: Option<Answer>,
    /// The same request once more on the same connection, where it was kept alive.
    pub next_request: Option<NextRequest>,
    /// Where early data was accepted and the client's Finished held back: whether a response came before it; `None` elsewhere.
    pub answered_before_finished: Option<bool>,
    /// Whether a ticket that came is sealed with a key of zero bytes.
    pub ticket_key_is_zero: bool,
    /// Whether the server has sent a record of TLS.
    pub heard_tls: bool,
    /// Whether the server has accepted the session that was offered, whatever became of the connection after that.
    pub accepted: bool,
    /// How the server ended it.
    pub ended: Ended,
}

impl Observation {
    /// One that was begun just now, of which nothing was seen yet.
    pub fn begun(index: u32, start: Nanos, purpose: Purpose, asked: Asked) -> Self {
        Self {
            index,
            start,
            purpose,
            asked,
            offered: None,
            client: None,
            server: None,
            chosen: None,
            outcome: Err(FaultName::Interrupted),
            phases: Phases::default(),
            sent: Bytes(0),
            received: Bytes(0),
            first_flight: Bytes(0),
            round_trips: 0,
            client_cpu: None,
            http_status: None,
            answer: None,
            next_request: None,
            answered_before_finished: None,
            ticket_key_is_zero: false,
            heard_tls: false,
            accepted: false,
            ended: Ended::Open,
        }
    }

    /// What was negotiated, where the connection completed.
    pub fn facts(&self) -> Option<&Facts> {
        self.outcome.as_ref().ok()
    }

    /// The kind that was observed, where the connection completed.
    pub fn kind(&self) -> Option<Kind> {
        self.facts().map(|facts| facts.kind)
    }

    /// Whether it completed and is of the kind that was asked for.
    pub fn is_as_asked(&self) -> bool {
        self.kind() == Some(self.asked.kind)
    }

    /// Whether a session was offered and a full handshake followed all the same.
    pub fn is_refusal(&self) -> bool {
        self.facts().is_some_and(|facts| facts.session_offered && facts.kind == Kind::Full)
    }

    /// Whether a session was offered and the connection failed all the same; not where this machine or the end of the run is to blame.
    pub fn is_failed_offer(&self) -> bool {
        // A connection that was never made says nothing of what it would have offered.
        self.offered.is_some() && self.client.is_some() && self.outcome.is_err_and(FaultName::is_the_targets)
    }

    /// Whether the server accepted the session that was offered, and the handshake failed after that.
    pub fn is_broken_resumption(&self) -> bool {
        self.is_failed_offer() && self.accepted && self.phases.tls.is_none()
    }

    /// Whether the response, if there was one, is no error that may have to do with the connection: a page that is not there, or that
    /// asks for a password, is not. Of a resumption that ends in another 4xx, or in a 5xx, nothing is concluded: it may be a certificate
    /// that is missing (400, 495 to 497), a name (421), early data (425), a limit (429) or a node that is ill.
    pub fn is_answered_well(&self) -> bool {
        const OF_CONNECTIONS: [u16; 8] = [400, 408, 421, 425, 429, 495, 496, 497];
        self.http_status.is_none_or(|status| status < 500 && !OF_CONNECTIONS.contains(&status))
    }

    /// Whether the response says that there were too many requests, or that the server cannot answer now.
    pub fn is_unavailable(&self) -> bool {
        self.http_status.is_some_and(|status| status == 429 || status >= 500)
    }

    /// What it was answered, where it completed. Of one that was to carry a further request and did not, the server kept nothing open.
    pub fn answered(&self, asks_again: bool) -> Option<AnsweredConnection> {
        let (facts, answer) = (self.facts()?, self.answer?);
        let keeps_alive = answer.keeps_alive && (self.next_request.is_some() || !asks_again);
        Some(AnsweredConnection { tls: facts.version, kind: facts.kind, answer: Answer { keeps_alive, ..answer } })
    }

    /// The client's port.
    pub fn local_port(&self) -> Option<u16> {
        self.client.map(|client| client.port())
    }

    /// How many connections were begun since the one that issued the session, this one included; `None` where none did.
    pub fn distance(&self) -> Option<u32> {
        self.index.checked_sub(self.offered?.origin?.index)
    }

    /// The most bytes of early data that a ticket of this connection allows the next one.
    pub fn max_early_data(&self) -> Option<u32> {
        self.facts()?.tickets.iter().filter_map(|ticket| ticket.max_early_data).filter(|bytes| *bytes > 0).max()
    }
}

/// What a connection was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To find out what the target speaks and offers.
    Discovery,
    /// To have a session to offer.
    Priming,
    /// To be counted.
    Sample,
}

/// How the server ended a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// It had not ended it when the client went.
    #[default]
    Open,
    /// With a close_notify.
    CloseNotify,
    /// With a FIN, and no close_notify before.
    Fin,
    /// With a reset.
    Reset,
}

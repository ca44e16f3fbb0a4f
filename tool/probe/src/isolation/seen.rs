//! What one connection shows of who may enter.

use reprise_model::{ClientAuthentication, Direction, Event, FaultName, Kind, Observation, What};

use crate::connection_plan::ConnectionRecord;

/// One connection of a holder at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Everything that was seen of it.
    pub observation: Observation,
    /// Whether the server asked for a client certificate; `None` where the handshake did not go so far.
    pub asks_for_certificate: Option<bool>,
    /// A number by which the body of the response is known; `None` where there was none.
    pub content: Option<u64>,
}

/// What a connection came to for its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameTo {
    /// It completed, and its request, if there was one, was not refused.
    LetIn,
    /// It completed, and the response refuses the request: 400, 401, 403, 421, or nginx' own 495 and 496.
    RefusedByResponse(u16),
    /// The server refused the handshake.
    RefusedByTls(FaultName),
    /// Nothing can be told: the server failed, or the network.
    Nothing,
}

/// What a holder may do at a place, as its full handshakes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Each was let in.
    LetIn,
    /// Each was refused.
    Refused,
    /// They came to different things, or to nothing that can be told.
    Unclear,
}

impl Seen {
    pub(super) fn of(record: &ConnectionRecord) -> Self {
        let asks_for_certificate = asks_for_certificate(record);
        Self { observation: record.observation, asks_for_certificate, content: record.content }
    }

    /// Whether a session was resumed.
    pub fn is_resumed(&self) -> bool {
        self.observation.kind().is_some_and(|kind| kind != Kind::Full)
    }

    /// Whether it says what became of what was offered: the server was reached and has answered.
    pub fn is_conclusive(&self) -> bool {
        match self.observation.outcome {
            Ok(_) => true,
            Err(name) => is_refusal(name) || self.observation.heard_tls && is_end(name),
        }
    }

    /// What it came to for its holder.
    pub fn came_to(&self) -> CameTo {
        match (self.observation.outcome, self.observation.http_status) {
            (Ok(_), Some(status @ (400 | 401 | 403 | 421 | 495 | 496))) => CameTo::RefusedByResponse(status),
            // A resumed session has entered by then, whatever the service behind makes of it.
            (Ok(_), Some(500..)) if !self.is_resumed() => CameTo::Nothing,
            (Ok(_), _) => CameTo::LetIn,
            (Err(name), _) if is_refusal(name) => CameTo::RefusedByTls(name),
            // Whoever wanted a certificate and hangs up does not want this one.
            (Err(name), _) if is_end(name) && self.asks_for_certificate == Some(true) => CameTo::RefusedByTls(name),
            (Err(_), _) => CameTo::Nothing,
        }
    }
}

impl Entry {
    /// What these full handshakes show.
    pub fn of(seen: &[Seen]) -> Self {
        let is_let_in = |seen: &Seen| seen.came_to() == CameTo::LetIn;
        let is_refused = |seen: &Seen| matches!(seen.came_to(), CameTo::RefusedByTls(_) | CameTo::RefusedByResponse(_));
        match seen {
            [] => Self::Unclear,
            _ if seen.iter().all(is_let_in) => Self::LetIn,
            _ if seen.iter().all(is_refused) => Self::Refused,
            _ => Self::Unclear,
        }
    }
}

/// An alert says no to whoever asks, but for those that say no to the version (RFC 9846 §6.2, RFC 7507) or speak of the server.
fn is_refusal(name: FaultName) -> bool {
    const PROTOCOL_VERSION: u8 = 70;
    const INTERNAL_ERROR: u8 = 80;
    const INAPPROPRIATE_FALLBACK: u8 = 86;
    matches!(name, FaultName::Alert(alert) if ![PROTOCOL_VERSION, INTERNAL_ERROR, INAPPROPRIATE_FALLBACK].contains(&alert))
}

/// Whether the server ended the connection without a word.
fn is_end(name: FaultName) -> bool {
    matches!(name, FaultName::ClosedEarly | FaultName::ConnectionReset | FaultName::Unconfirmed | FaultName::NoResponse)
        || matches!(name, FaultName::Alert(_))
}

/// The response that all of these were given, where it is the same each time and there are at least two: its status and body.
pub fn same_response<'s>(seen: impl IntoIterator<Item = &'s Seen>) -> Option<(u16, u64)> {
    let mut seen = seen.into_iter().map(|seen| seen.observation.http_status.zip(seen.content));
    let (first, second) = (seen.next()??, seen.next()??);
    (first == second && seen.all(|other| other == Some(first))).then_some(first)
}

fn asks_for_certificate(record: &ConnectionRecord) -> Option<bool> {
    if let Ok(facts) = record.observation.outcome {
        return (facts.kind == Kind::Full).then_some(facts.client_authentication != ClientAuthentication::NotRequested);
    }
    let is = |event: &Event, name: &str| {
        matches!(&event.what, What::Handshake { message } if message == name) && event.direction == Direction::Received
    };
    let messages = &record.messages.messages;
    match messages.iter().any(|event| is(event, "CertificateRequest")) {
        true => Some(true),
        false => {
            messages.iter().any(|event| is(event, "CertificateVerify") || is(event, "ServerHelloDone")).then_some(false)
        }
    }
}

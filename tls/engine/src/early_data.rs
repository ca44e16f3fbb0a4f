//! Early data: what is said to the server before it has answered (RFC 9846 §2.3, §4.3.10).

use reprise_model::EarlyData as Verdict;

use crate::error::Misbehaviour;
use crate::session::Tls13Ticket;
use crate::suite::Suite;

/// Where a connection's early data stands.
#[derive(Default)]
pub(crate) enum EarlyData {
    /// None was offered, or its time is over.
    #[default]
    None,
    /// The server has not said yet whether it takes it.
    Unanswered { terms: Terms, left: usize },
    /// The server takes it, until the client's EndOfEarlyData.
    Accepted { left: usize },
    /// The server has skipped it.
    Rejected,
}

/// What early data is bound to besides its PSK: the server takes it under these terms or not at all.
pub(crate) struct Terms {
    suite: &'static Suite,
    alpn: Option<Vec<u8>>,
}

impl EarlyData {
    /// Nothing has been sent yet, and no more may be than the ticket allows.
    pub(crate) fn offered(ticket: &Tls13Ticket) -> Self {
        let terms = Terms { suite: ticket.suite, alpn: ticket.alpn.clone() };
        let left = usize::try_from(ticket.max_early_data.unwrap_or_default()).unwrap_or(usize::MAX);
        Self::Unanswered { terms, left }
    }

    /// How many bytes may still be sent.
    pub(crate) fn left(&self) -> usize {
        match self {
            Self::Unanswered { left, .. } | Self::Accepted { left } => *left,
            Self::None | Self::Rejected => 0,
        }
    }

    /// These were sent, no more than there were left.
    pub(crate) fn count(&mut self, data: &[u8]) {
        if let Self::Unanswered { left, .. } | Self::Accepted { left } = self {
            *left = left.saturating_sub(data.len());
        }
    }

    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unanswered { .. })
    }

    /// What became of it, as far as that is known.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::None | Self::Unanswered { .. } => None,
            Self::Accepted { .. } => Some(Verdict::Accepted),
            Self::Rejected => Some(Verdict::Rejected),
        }
    }

    /// The server says that it takes it, having chosen this suite and this protocol.
    pub(crate) fn accept(&mut self, suite: &Suite, protocol: Option<&[u8]>) -> Result<(), Misbehaviour> {
        let Self::Unanswered { terms, left } = self else {
            return Err(Misbehaviour::IllegalEarlyData("without the PSK that it belongs to"));
        };
        if terms.suite != suite {
            return Err(Misbehaviour::IllegalEarlyData("under another cipher suite"));
        }
        if terms.alpn.as_deref() != protocol {
            return Err(Misbehaviour::IllegalEarlyData("with another ALPN protocol"));
        }
        *self = Self::Accepted { left: *left };
        Ok(())
    }

    /// The server has shown that it does not take it.
    pub(crate) fn reject(&mut self) {
        if self.is_unanswered() {
            *self = Self::Rejected;
        }
    }

    /// No more will be sent. Returns whether there was any that the server took.
    pub(crate) fn end(&mut self) -> bool {
        let accepted = matches!(self, Self::Accepted { .. });
        if accepted {
            *self = Self::None;
        }
        accepted
    }
}

//! One connection as the hypotheses see it: what was offered, with its whole history, and what became of it.

/// A connection that is made or may be made. Times are seconds.
#[derive(Clone, Copy, Debug)]
pub struct JudgedConnection {
    /// How many connections were made before.
    pub connection: usize,
    /// When it is made.
    pub at: f64,
    /// How long after the connection before.
    pub gap: f64,
    /// The session that it offers.
    pub offered: Option<OfferedSession>,
    /// What is changed in it.
    pub variation: OfferVariation,
}

/// A session that is offered.
#[derive(Clone, Copy, Debug)]
pub struct OfferedSession {
    /// The connection that it is from.
    pub from: usize,
    /// How old it is, in seconds.
    pub age: f64,
    /// How many sessions were given to this client since.
    pub others: usize,
    /// How often it was resumed before.
    pub used: usize,
    /// How many resumptions lie between it and a full handshake.
    pub depth: usize,
    /// What offers before showed of it.
    pub earlier: PriorOffers,
}

/// What earlier offers of a session showed, in which nothing was changed: what is forgotten stays forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PriorOffers {
    /// How many others there were, and how old it was, when it was resumed last.
    pub accepted: Option<(usize, f64)>,
    /// Whether it was refused.
    pub is_refused: bool,
    /// Whether a connection failed that offered it.
    pub is_broken: bool,
}

impl PriorOffers {
    /// Notes what became of this attempt.
    pub fn note(&mut self, attempt: &JudgedConnection, outcome: ConnectionOutcome) {
        let offered = attempt.offered.filter(|_| attempt.variation == OfferVariation::Plain);
        match outcome {
            ConnectionOutcome::Resumed => self.accepted = offered.map(|it| (it.others, it.age)).or(self.accepted),
            ConnectionOutcome::Full => self.is_refused |= offered.is_some(),
            ConnectionOutcome::Failed | ConnectionOutcome::Broken => self.is_broken |= offered.is_some(),
        }
    }
}

/// What is changed in the connection that offers a session; the session is always from a plain one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OfferVariation {
    /// Nothing.
    #[default]
    Plain,
    /// Another server name, or none.
    Name,
    /// The cipher suite of the session is not offered.
    Suite,
    /// Another client certificate, or none.
    Certificate,
}

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionOutcome {
    /// A full handshake.
    Full,
    /// The session was resumed.
    Resumed,
    /// The connection failed.
    Failed,
    /// The server accepted the session, and the handshake failed after that.
    Broken,
}

impl ConnectionOutcome {
    /// Whether the connection did not complete.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Broken)
    }
}

/// What was seen of a connection.
#[derive(Clone, Copy, Debug)]
pub struct SeenConnection {
    /// What became of it.
    pub outcome: ConnectionOutcome,
    /// The key name of the ticket that it gave, as a number; `None` where it shows none.
    pub key: Option<u32>,
}

impl OfferVariation {
    /// Each that changes something.
    pub const CHANGES: [Self; 3] = [Self::Name, Self::Suite, Self::Certificate];

    /// "name".
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Name => "name",
            Self::Suite => "suite",
            Self::Certificate => "cert",
        }
    }
}

impl SeenConnection {
    /// The key name where it can be compared: under another server name another key may be used.
    pub(crate) fn comparable_key(&self, attempt: &JudgedConnection) -> Option<u32> {
        self.key.filter(|_| attempt.variation == OfferVariation::Plain)
    }
}

/// How often something happens that no hypothesis explains: a lost packet, a node that was just restarted.
pub(crate) const UNEXPLAINED: f64 = 0.02;
/// The same of key names, which are read from a ticket.
pub(crate) const UNEXPLAINED_KEY: f64 = 0.005;

/// The probability of `outcome` where a session is resumed with probability `resumed` unless the connection fails, which it
/// does with probability `failed`; where the outcome says when it failed, that is how probable it is to fail then. No attempt weighs more than about 125 : 1, since anything may happen for no known reason.
pub(crate) fn likelihood(attempt: &JudgedConnection, outcome: ConnectionOutcome, resumed: f64, failed: f64) -> f64 {
    let (explained, unexplained) = match (attempt.offered.is_some(), outcome) {
        (false, ConnectionOutcome::Failed | ConnectionOutcome::Broken) => (failed, 0.3),
        (false, _) => (1.0 - failed, 0.7),
        (true, ConnectionOutcome::Failed | ConnectionOutcome::Broken) => (failed, 0.2),
        (true, ConnectionOutcome::Resumed) => ((1.0 - failed) * resumed, 0.4),
        (true, ConnectionOutcome::Full) => ((1.0 - failed) * (1.0 - resumed), 0.4),
    };
    (1.0 - UNEXPLAINED) * explained + UNEXPLAINED * unexplained
}

/// The probability of a key name that is as expected, or is not.
pub(crate) fn key_likelihood(is_expected: bool) -> f64 {
    if is_expected { 1.0 - UNEXPLAINED_KEY } else { UNEXPLAINED_KEY }
}

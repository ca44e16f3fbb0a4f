//! What a hypothesis may say is wrong.

/// A reason why sessions are not resumed, or connections fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum JudgedCause {
    /// Sessions are given and never accepted.
    NeverAccepted,
    /// A new key for each connection.
    FreshKey,
    /// Nodes or processes that do not share keys or caches.
    NotShared,
    /// Sessions are forgotten after a time.
    Lifetime,
    /// Sessions are forgotten after so many others.
    Capacity,
    /// Keys change, and the old ones are forgotten: once, as by a restart.
    Restart,
    /// Keys change, and the old ones are forgotten: again and again.
    Rotation,
    /// A session is accepted once.
    SingleUse,
    /// A session is bound to the server name.
    BoundToName,
    /// A session is bound to the cipher suite.
    BoundToSuite,
    /// A session is bound to the client certificate.
    BoundToCertificate,
    /// Connections fail after too many in a short time.
    RateLimit,
    /// One of several nodes fails.
    NodeDown,
    /// Connections fail that offer a session, and others do not.
    OfferBreaks,
    /// A session is refused until it is older.
    RefusedYoung,
    /// A session is refused after so many resumptions since the full handshake.
    ChainCap,
    /// The application answers resumed connections with errors, and full ones well.
    AnswersDiffer,
    /// Something that no hypothesis describes.
    Unknown,
}

impl JudgedCause {
    /// Every cause.
    pub const ALL: [Self; 18] = [
        Self::NeverAccepted,
        Self::FreshKey,
        Self::NotShared,
        Self::Lifetime,
        Self::Capacity,
        Self::Restart,
        Self::Rotation,
        Self::SingleUse,
        Self::BoundToName,
        Self::BoundToSuite,
        Self::BoundToCertificate,
        Self::RateLimit,
        Self::NodeDown,
        Self::OfferBreaks,
        Self::RefusedYoung,
        Self::ChainCap,
        Self::AnswersDiffer,
        Self::Unknown,
    ];

    /// Whether it is what a session is bound to: only a connection in which that is changed shows it.
    pub(crate) fn is_bond(self) -> bool {
        matches!(self, Self::BoundToName | Self::BoundToSuite | Self::BoundToCertificate)
    }

    /// The name of the finding, `hidden-nodes`.
    pub fn slug(self) -> &'static str {
        match self {
            Self::NeverAccepted => "id-never-accepted",
            Self::FreshKey => "context-per-connection",
            Self::NotShared => "hidden-nodes",
            Self::Lifetime => "lifetime-short",
            Self::Capacity => "cache-too-small",
            Self::Restart => "restart-lost-keys",
            Self::Rotation => "rotation-no-overlap",
            Self::SingleUse => "single-use",
            Self::BoundToName => "sni-differs",
            Self::BoundToSuite => "suite-differs",
            Self::BoundToCertificate => "isolated-by-design",
            Self::RateLimit => "rate-limited",
            Self::NodeDown => "node-down",
            Self::OfferBreaks => "offer-breaks-connection",
            Self::RefusedYoung => "key-propagation-skew",
            Self::ChainCap => "chain-cap",
            Self::AnswersDiffer => "answers-differ",
            Self::Unknown => "unknown",
        }
    }
}

/// A set of causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Causes(u32);

impl Causes {
    /// Nothing is wrong.
    pub const NONE: Self = Self(0);

    /// Of these.
    pub const fn of(causes: &[JudgedCause]) -> Self {
        let (mut bits, mut place) = (0, 0);
        while place < causes.len() {
            bits |= 1 << causes[place] as u8;
            place += 1;
        }
        Self(bits)
    }

    /// Whether it holds this cause.
    pub fn has(self, cause: JudgedCause) -> bool {
        self.0 & 1 << cause as u8 != 0
    }

    /// Whether it holds one of these.
    pub fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

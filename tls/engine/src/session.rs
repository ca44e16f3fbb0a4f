//! What one connection leaves behind for the next.

mod encoding;
mod zero_key;

pub use encoding::SessionError;
pub use zero_key::is_sealed_with_zero_key;

use reprise_model::{Nanos, Version};

use crate::key_schedule::tls12::MasterSecret;
use crate::secret::Secret;
use crate::suite::Suite;

/// RFC 9846 §4.7.1: no ticket is kept longer than seven days.
const MAX_TLS13_LIFETIME: u32 = 604_800;

/// RFC 5246 §F.1.4: no session is kept longer than a day.
const MAX_TLS12_LIFETIME: u32 = 86_400;

/// Whether a session of this age is to be discarded, whose server gave it this lifetime in seconds. Zero is over at once under
/// TLS 1.3 (RFC 9846 §4.7.1); under TLS 1.2 it is unspecified (RFC 5077 §3.3), as the lifetime of an ID always is.
pub fn is_expired(version: Version, lifetime_s: u32, age: Nanos) -> bool {
    let lifetime = match (version, lifetime_s) {
        (Version::Tls12, 0) => MAX_TLS12_LIFETIME,
        (Version::Tls12, hint) => hint.min(MAX_TLS12_LIFETIME),
        (Version::Tls13, lifetime) => lifetime.min(MAX_TLS13_LIFETIME),
    };
    age.0 / 1_000_000_000 >= u64::from(lifetime)
}

/// A session that a later connection may offer.
#[derive(Clone, Debug)]
pub enum Session {
    /// A TLS 1.2 session, by ID, by ticket or by both.
    Tls12(Tls12Session),
    /// A TLS 1.3 ticket.
    Tls13(Tls13Ticket),
}

impl Session {
    /// Its age at `now`.
    pub fn age(&self, now: Nanos) -> Nanos {
        match self {
            Self::Tls12(session) => session.received.age(now),
            Self::Tls13(ticket) => ticket.received.age(now),
        }
    }

    /// SHA-256 of the certificate that the server has shown for it; `None` where that is not known.
    pub fn leaf(&self) -> Option<[u8; 32]> {
        match self {
            Self::Tls12(session) => session.leaf,
            Self::Tls13(ticket) => ticket.leaf,
        }
    }

    pub(crate) fn with_leaf(self, leaf: Option<[u8; 32]>) -> Self {
        match self {
            Self::Tls12(session) => Self::Tls12(Tls12Session { leaf, ..session }),
            Self::Tls13(ticket) => Self::Tls13(Tls13Ticket { leaf, ..ticket }),
        }
    }

    /// Its ticket and secret as a session of the other version, whose `suite` has the same hash: for servers that do not look at the
    /// version which a ticket was made under. `None` where the other version has no place for such a secret.
    pub fn of_other_version(&self, suite: &'static Suite) -> Option<Self> {
        const SOME_MINUTES: u32 = 300;
        match self {
            Self::Tls12(session) if suite.version == Version::Tls13 && suite.hash == session.suite.hash => {
                let ticket = session.ticket.as_ref()?;
                let lifetime = if ticket.lifetime_hint == 0 { SOME_MINUTES } else { ticket.lifetime_hint };
                Some(Self::Tls13(Tls13Ticket {
                    suite,
                    psk: Secret::new(session.master_secret.as_bytes())?,
                    ticket: ticket.ticket.clone(),
                    lifetime,
                    age_add: 0,
                    max_early_data: None,
                    received: session.received,
                    alpn: None,
                    leaf: session.leaf,
                }))
            }
            Self::Tls13(ticket) if suite.version == Version::Tls12 && suite.hash == ticket.suite.hash => {
                Some(Self::Tls12(Tls12Session {
                    suite,
                    master_secret: MasterSecret::from_bytes(ticket.psk.as_ref()).ok()?,
                    extended_master_secret: true,
                    session_id: Vec::new(),
                    ticket: Some(Tls12Ticket { ticket: ticket.ticket.clone(), lifetime_hint: ticket.lifetime }),
                    received: ticket.received,
                    leaf: ticket.leaf,
                }))
            }
            _ => None,
        }
    }

    /// Whether it is to be discarded.
    pub fn is_expired(&self, now: Nanos) -> bool {
        match self {
            Self::Tls12(session) => session.is_expired(now),
            Self::Tls13(ticket) => ticket.is_expired(now),
        }
    }
}

/// When a session came to this process, and how old it was by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// By the clock of this process.
    pub at: Nanos,
    /// Zero, but for a session that another process has left behind: it is older than this one's clock.
    pub prior_age: Nanos,
}

impl Receipt {
    /// Fresh from the server.
    pub fn fresh(now: Nanos) -> Self {
        Self { at: now, prior_age: Nanos(0) }
    }

    /// The session's age at `now`.
    pub fn age(self, now: Nanos) -> Nanos {
        self.prior_age + now.since(self.at)
    }
}

/// What a TLS 1.2 handshake leaves behind.
#[derive(Clone, Debug)]
pub struct Tls12Session {
    /// The suite; the same in every resumption (RFC 5246 §7.4.1.3).
    pub suite: &'static Suite,
    /// The secret from which every resumption derives its keys.
    pub master_secret: MasterSecret,
    /// Whether it was derived over the handshake's hash (RFC 7627).
    pub extended_master_secret: bool,
    /// The ID that the server gave; empty where it gave none.
    pub session_id: Vec<u8>,
    /// The ticket that the server gave (RFC 5077).
    pub ticket: Option<Tls12Ticket>,
    /// When it was made, or its ticket renewed.
    pub received: Receipt,
    /// SHA-256 of the certificate that the server has shown, on the connection itself or on the one that it was resumed from; `None` where
    /// that is not known.
    pub leaf: Option<[u8; 32]>,
}

impl Tls12Session {
    /// Whether it is to be discarded: the lifetime that its ticket hints at is over.
    pub fn is_expired(&self, now: Nanos) -> bool {
        let hint = self.ticket.as_ref().map_or(0, |ticket| ticket.lifetime_hint);
        is_expired(Version::Tls12, hint, self.received.age(now))
    }
}

/// An RFC 5077 ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls12Ticket {
    /// The ticket, opaque.
    pub ticket: Vec<u8>,
    /// Seconds; zero is unspecified (RFC 5077 §3.3).
    pub lifetime_hint: u32,
}

/// A TLS 1.3 ticket with the PSK that belongs to it (RFC 9846 §4.7.1). It is meant to be used once.
#[derive(Clone, Debug)]
pub struct Tls13Ticket {
    /// The suite of the connection that gave it; a resumption must have the same hash.
    pub suite: &'static Suite,
    /// The PSK.
    pub psk: Secret,
    /// The ticket, opaque.
    pub ticket: Vec<u8>,
    /// Seconds until it is to be discarded, as the server said it; more than seven days is more than it may say.
    pub lifetime: u32,
    /// What is added to its age, in milliseconds, to hide it.
    pub age_add: u32,
    /// Bytes of early data that the server would take; `None` if none at all.
    pub max_early_data: Option<u32>,
    /// When it came.
    pub received: Receipt,
    /// The protocol that ALPN chose on the connection that gave it.
    pub alpn: Option<Vec<u8>>,
    /// SHA-256 of the certificate that the server has shown, on the connection itself or on the one that it was resumed from; `None` where
    /// that is not known.
    pub leaf: Option<[u8; 32]>,
}

impl Tls13Ticket {
    /// `obfuscated_ticket_age` at `now` (RFC 9846 §4.3.11.1): milliseconds, modulo 2^32.
    pub fn obfuscated_age(&self, now: Nanos) -> u32 {
        let age_ms = self.received.age(now).0 / 1_000_000;
        (age_ms as u32).wrapping_add(self.age_add)
    }

    /// Whether it is to be discarded: its lifetime, seven days at most (RFC 9846 §4.7.1), is over.
    pub fn is_expired(&self, now: Nanos) -> bool {
        is_expired(Version::Tls13, self.lifetime, self.received.age(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_expires_with_its_lifetime() {
        let at = |version, lifetime, seconds: u64| is_expired(version, lifetime, Nanos(seconds * 1_000_000_000));
        for version in [Version::Tls12, Version::Tls13] {
            assert!(!at(version, 300, 299) && at(version, 300, 300));
        }
        for unspecified in [0, u32::MAX] {
            assert!(!at(Version::Tls12, unspecified, 86_399) && at(Version::Tls12, unspecified, 86_400));
        }
        assert!(at(Version::Tls13, 0, 0), "a lifetime of zero is over at once");
        assert!(!at(Version::Tls13, u32::MAX, 604_799) && at(Version::Tls13, u32::MAX, 604_800));
    }
}

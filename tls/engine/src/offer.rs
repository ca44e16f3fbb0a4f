//! What a connection offers to begin from: nothing, a session, or a key that both sides know already.

use std::fmt;

use reprise_model::{Kind, Nanos, Version};
use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::config::Config;
use crate::error::Error;
use crate::key_schedule::tls13::{BinderLabel, EarlySecret};
use crate::session::{Tls12Session, Tls13Ticket};
use crate::suite::{self, Hash};

/// What one connection needs to begin.
pub struct Start {
    /// What it offers to resume.
    pub offer: Offer,
    /// The date, by which certificates are judged.
    pub date: UnixTime,
}

/// What a connection offers to begin from.
#[derive(Clone, Debug)]
pub enum Offer {
    /// Nothing: a full handshake. `session_ticket` says whether a TLS 1.2 ticket is asked for (RFC 5077 §3.2); a server
    /// that is asked gives a ticket rather than an ID.
    Full {
        /// Whether the ClientHello carries an empty session_ticket extension.
        session_ticket: bool,
    },
    /// A TLS 1.2 session by its ID.
    SessionId(Tls12Session),
    /// A TLS 1.2 session by its ticket, with a fresh random session ID, whose echo tells acceptance (RFC 5077 §3.4).
    SessionTicket(Tls12Session),
    /// A TLS 1.3 ticket, to be used in one of [`Tls13Extensions::psk_modes`](crate::Tls13Extensions::psk_modes).
    Ticket(Tls13Ticket),
    /// The same, with early data: [`Connection::send_early`](crate::Connection::send_early) may send what the ticket allows
    /// before the server has answered. Only a ticket whose `max_early_data` says so, and whose ALPN protocol is offered
    /// again, may be offered thus.
    Early(Tls13Ticket),
    /// A TLS 1.3 PSK that was agreed on outside TLS, to be used in one of the same modes.
    External(ExternalPsk),
}

/// A PSK that was agreed on outside TLS (RFC 9846 §4.3.11). Which hash belongs to it is part of the agreement; SHA-256
/// where nothing was said.
#[derive(Clone)]
pub struct ExternalPsk {
    /// Its name, as both sides know it: 1 to 65,535 bytes.
    pub identity: Vec<u8>,
    /// The key; wiped when dropped.
    pub key: Zeroizing<Vec<u8>>,
    /// The hash that it is used with: a suite with this hash must be offered.
    pub hash: Hash,
}

impl fmt::Debug for ExternalPsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExternalPsk({:?}, {:?})", String::from_utf8_lossy(&self.identity), self.hash)
    }
}

impl Offer {
    /// SHA-256 of the certificate that the server had shown for the session.
    pub(crate) fn leaf(&self) -> Option<[u8; 32]> {
        match self {
            Self::SessionId(session) | Self::SessionTicket(session) => session.leaf,
            Self::Ticket(ticket) | Self::Early(ticket) => ticket.leaf,
            Self::Full { .. } | Self::External(_) => None,
        }
    }

    /// Whether it can be offered under this configuration at all: an offer that cannot be seen in the ClientHello would
    /// make a full handshake look like a refusal.
    pub(crate) fn check(&self, config: &Config) -> Result<(), Error> {
        let (version, is_there, missing) = match self {
            Self::Full { .. } => return Ok(()),
            Self::SessionId(session) => (Version::Tls12, !session.session_id.is_empty(), "the session has no ID"),
            Self::SessionTicket(session) => {
                let has_ticket = session.ticket.as_ref().is_some_and(|ticket| !ticket.ticket.is_empty());
                (Version::Tls12, has_ticket, "the session has no ticket")
            }
            Self::Ticket(ticket) | Self::Early(ticket) => (Version::Tls13, !ticket.ticket.is_empty(), "the ticket is empty"),
            Self::External(psk) => {
                let is_there = !psk.identity.is_empty() && !psk.key.is_empty();
                (Version::Tls13, is_there, "an external PSK needs an identity and a key")
            }
        };
        if !config.versions.contains(&version) {
            return Err(Error::NothingToOffer("the session is of a version that is not offered"));
        }
        if !is_there {
            return Err(Error::NothingToOffer(missing));
        }
        if version == Version::Tls13 && config.tls13.psk_modes.is_empty() {
            // RFC 9846 §4.3.9.
            return Err(Error::NothingToOffer("a PSK needs a mode to be used in"));
        }
        // A ticket brings its own suite; an external PSK has none.
        let fits = |hash| {
            let suites = config.cipher_suites.iter().filter_map(|&id| suite::find(id));
            suites.into_iter().any(|suite| suite.version == Version::Tls13 && suite.hash == hash)
        };
        match self {
            Self::External(psk) if !fits(psk.hash) => {
                Err(Error::NothingToOffer("no cipher suite has the hash of the external PSK"))
            }
            Self::Early(ticket) if ticket.max_early_data.unwrap_or_default() == 0 => {
                Err(Error::NothingToOffer("the ticket allows no early data"))
            }
            // RFC 9846 §4.3.10: the server must choose the protocol of the ticket's connection, so it must be there.
            Self::Early(Tls13Ticket { alpn: Some(protocol), .. }) if !config.alpn.contains(protocol) => {
                Err(Error::NothingToOffer("the protocol that the early data would be of is not offered by ALPN"))
            }
            _ => Ok(()),
        }
    }

    /// RFC 9846 §4.2.2: a second ClientHello offers no early data any more.
    pub(crate) fn without_early_data(self) -> Self {
        match self {
            Self::Early(ticket) => Self::Ticket(ticket),
            other => other,
        }
    }

    /// The PSK that is offered under TLS 1.3, if one is.
    pub(crate) fn psk(&self) -> Option<Psk<'_>> {
        match self {
            Self::Ticket(ticket) | Self::Early(ticket) => Some(Psk::Ticket(ticket)),
            Self::External(psk) => Some(Psk::External(psk)),
            Self::Full { .. } | Self::SessionId(_) | Self::SessionTicket(_) => None,
        }
    }
}

/// A PSK of TLS 1.3, wherever it comes from.
#[derive(Clone, Copy)]
pub(crate) enum Psk<'a> {
    Ticket(&'a Tls13Ticket),
    External(&'a ExternalPsk),
}

impl<'a> Psk<'a> {
    pub(crate) fn identity(self) -> &'a [u8] {
        match self {
            Self::Ticket(ticket) => &ticket.ticket,
            Self::External(psk) => &psk.identity,
        }
    }

    /// RFC 9846 §4.3.11: an external PSK has no age, and says zero.
    pub(crate) fn obfuscated_age(self, now: Nanos) -> u32 {
        match self {
            Self::Ticket(ticket) => ticket.obfuscated_age(now),
            Self::External(_) => 0,
        }
    }

    pub(crate) fn hash(self) -> Hash {
        match self {
            Self::Ticket(ticket) => ticket.suite.hash,
            Self::External(psk) => psk.hash,
        }
    }

    pub(crate) fn binder_label(self) -> BinderLabel {
        match self {
            Self::Ticket(_) => BinderLabel::Resumption,
            Self::External(_) => BinderLabel::External,
        }
    }

    pub(crate) fn early_secret(self) -> Result<EarlySecret, Error> {
        let key = match self {
            Self::Ticket(ticket) => ticket.psk.as_ref(),
            Self::External(psk) => &psk.key,
        };
        EarlySecret::new(self.hash(), Some(key))
    }

    /// What a handshake is that it begins.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Ticket(_) => Kind::Ticket,
            Self::External(_) => Kind::Psk,
        }
    }
}

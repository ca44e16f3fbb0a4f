//! Sessions as bytes, for another process to resume.
//!
//! ```text
//! "reprise session" | uint8 format = 2 | opaque server<0..2^16-1>
//! uint16 cipher_suite | uint64 milliseconds between 1970 and its receipt
//! TLS 1.3:  opaque psk<0..255> | opaque ticket<0..2^16-1> | uint32 lifetime | uint32 age_add
//!           uint32 max_early_data, zero for none | opaque alpn<0..255>, empty for none
//! TLS 1.2:  opaque master_secret[48] | uint8 extended_master_secret
//!           opaque session_id<0..32> | opaque ticket<0..2^16-1>, empty for none | uint32 lifetime_hint
//! opaque leaf<0..255>: SHA-256 of the server's certificate, empty where it is not known
//! ```
//!
//! Format 1 is the same without the last field. The suite says which version it is. Whoever has these bytes can resume the session and, without (EC)DHE, read it.

use std::time::{Duration, SystemTime};

use reprise_model::{Nanos, Version};
use reprise_wire::codec::{self, Reader, vec8, vec16};
use reprise_wire::{CipherSuite, Error as WireError};
use thiserror::Error;
use zeroize::Zeroizing;

use super::{Receipt, Session, Tls12Session, Tls12Ticket, Tls13Ticket};
use crate::key_schedule::tls12::MasterSecret;
use crate::secret::Secret;
use crate::suite::{self, Suite};

const MAGIC: &[u8; 15] = b"reprise session";
const FORMAT: u8 = 2;
/// The format that does not know the server's certificate.
const WITHOUT_LEAF: u8 = 1;
/// More than all fields of fixed or short length take together.
const FIXED_LEN: usize = 256;
const MAX_SESSION_ID: usize = 32;

/// Why bytes are no session that could be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SessionError {
    /// They begin otherwise.
    #[error("this is no saved session")]
    NotASession,
    /// They are of another version of this program.
    #[error("the session is saved in format {0}, and this version reads format {FORMAT}")]
    UnknownFormat(u8),
    /// They were cut or changed.
    #[error("the saved session is damaged: {0}")]
    Damaged(#[from] WireError),
    /// The session is of a suite that is not spoken here.
    #[error("the session is of the cipher suite {0}, which is not spoken here")]
    UnknownSuite(CipherSuite),
    /// The session is another server's.
    #[error("the session is of {saved}, not of {asked}")]
    OtherServer {
        /// The server that it was saved for.
        saved: String,
        /// The server that it was to be offered to.
        asked: String,
    },
}

impl Session {
    /// The session as bytes, which hold its secrets. `server` names the server that it is for, and whatever else
    /// it must not be parted from (a session does not say whether its certificate was verified), as the caller pleases:
    /// [`Session::decode`] must be told the same. `date` is the moment of `now` by the calendar, since no other process has
    /// this one's clock.
    pub fn encode(&self, server: &str, now: Nanos, date: SystemTime) -> Zeroizing<Vec<u8>> {
        // Enough at once: a buffer that grew would leave secrets behind where it was.
        let mut out = Zeroizing::new(Vec::with_capacity(FIXED_LEN + server.len() + self.variable_len()));
        out.extend_from_slice(MAGIC);
        codec::u8(&mut out, FORMAT);
        vec16(&mut out, |out| out.extend_from_slice(server.as_bytes()));
        let (suite, received) = match self {
            Self::Tls12(session) => (session.suite, session.received),
            Self::Tls13(ticket) => (ticket.suite, ticket.received),
        };
        codec::u16(&mut out, suite.id.0);
        out.extend_from_slice(&millis_at_receipt(received.age(now), date).to_be_bytes());
        match self {
            Self::Tls12(session) => session.write(&mut out),
            Self::Tls13(ticket) => ticket.write(&mut out),
        }
        vec8(&mut out, |out| self.leaf().iter().for_each(|leaf| out.extend_from_slice(leaf)));
        out
    }

    /// The session that [`Session::encode`] wrote. Its age is the time that has passed between the two by the calendar;
    /// zero where the calendar was set back.
    ///
    /// Fails on whatever is not the whole of such bytes, and on a session for another server.
    pub fn decode(bytes: &[u8], server: &str, now: Nanos, date: SystemTime) -> Result<Self, SessionError> {
        let mut reader = Reader::new(bytes);
        if reader.take(MAGIC.len()) != Ok(MAGIC) {
            return Err(SessionError::NotASession);
        }
        let format = reader.u8()?;
        if ![WITHOUT_LEAF, FORMAT].contains(&format) {
            return Err(SessionError::UnknownFormat(format));
        }
        let saved = reader.vec16()?;
        if saved != server.as_bytes() {
            let saved = String::from_utf8_lossy(saved).into_owned();
            return Err(SessionError::OtherServer { saved, asked: server.to_owned() });
        }
        let id = CipherSuite(reader.u16()?);
        let suite = suite::find(id).ok_or(SessionError::UnknownSuite(id))?;
        let received = Receipt { at: now, prior_age: age(reader.u64()?, date) };
        let session = match suite.version {
            Version::Tls12 => Self::Tls12(Tls12Session::read(&mut reader, suite, received)?),
            Version::Tls13 => Self::Tls13(Tls13Ticket::read(&mut reader, suite, received)?),
        };
        let leaf = match format {
            WITHOUT_LEAF => None,
            _ => match reader.vec8()? {
                [] => None,
                leaf => Some(leaf.try_into().map_err(|_| WireError::BadLength)?),
            },
        };
        reader.finish()?;
        Ok(session.with_leaf(leaf))
    }

    /// Bytes of the fields that may be long.
    fn variable_len(&self) -> usize {
        match self {
            Self::Tls12(session) => session.ticket.as_ref().map_or(0, |ticket| ticket.ticket.len()),
            Self::Tls13(ticket) => ticket.ticket.len() + ticket.alpn.as_ref().map_or(0, Vec::len),
        }
    }
}

impl Tls13Ticket {
    fn write(&self, out: &mut Vec<u8>) {
        vec8(out, |out| out.extend_from_slice(self.psk.as_ref()));
        vec16(out, |out| out.extend_from_slice(&self.ticket));
        codec::u32(out, self.lifetime);
        codec::u32(out, self.age_add);
        codec::u32(out, self.max_early_data.unwrap_or_default());
        vec8(out, |out| self.alpn.iter().for_each(|protocol| out.extend_from_slice(protocol)));
    }

    fn read(reader: &mut Reader<'_>, suite: &'static Suite, received: Receipt) -> Result<Self, WireError> {
        let psk = reader.vec8()?;
        let psk = Secret::new(psk).filter(|_| psk.len() == suite.hash.output_len()).ok_or(WireError::BadLength)?;
        Ok(Self {
            suite,
            psk,
            ticket: non_empty(reader.vec16()?).ok_or(WireError::BadLength)?,
            lifetime: reader.u32()?,
            age_add: reader.u32()?,
            max_early_data: Some(reader.u32()?).filter(|&limit| limit > 0),
            received,
            alpn: non_empty(reader.vec8()?),
            leaf: None,
        })
    }
}

impl Tls12Session {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.master_secret.as_bytes());
        codec::u8(out, u8::from(self.extended_master_secret));
        vec8(out, |out| out.extend_from_slice(&self.session_id));
        vec16(out, |out| self.ticket.iter().for_each(|ticket| out.extend_from_slice(&ticket.ticket)));
        codec::u32(out, self.ticket.as_ref().map_or(0, |ticket| ticket.lifetime_hint));
    }

    fn read(reader: &mut Reader<'_>, suite: &'static Suite, received: Receipt) -> Result<Self, WireError> {
        let master_secret = MasterSecret::from_bytes(reader.take(48)?).map_err(|_| WireError::BadLength)?;
        let extended_master_secret = match reader.u8()? {
            0 => false,
            1 => true,
            _ => return Err(WireError::Illegal("extended_master_secret is neither 0 nor 1")),
        };
        let session_id = reader.vec8()?;
        if session_id.len() > MAX_SESSION_ID {
            return Err(WireError::BadLength);
        }
        let ticket = non_empty(reader.vec16()?);
        let lifetime_hint = reader.u32()?;
        let ticket = ticket.map(|ticket| Tls12Ticket { ticket, lifetime_hint });
        Ok(Self {
            suite,
            master_secret,
            extended_master_secret,
            session_id: session_id.to_vec(),
            ticket,
            received,
            leaf: None,
        })
    }
}

fn non_empty(bytes: &[u8]) -> Option<Vec<u8>> {
    (!bytes.is_empty()).then(|| bytes.to_vec())
}

/// The moment of receipt by the calendar; 1970 where it would be earlier.
fn millis_at_receipt(age: Nanos, date: SystemTime) -> u64 {
    let since_1970 = date.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.saturating_sub(age.into()).as_millis()).unwrap_or(u64::MAX)
}

fn age(millis_at_receipt: u64, date: SystemTime) -> Nanos {
    let since_1970 = date.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since_1970.saturating_sub(Duration::from_millis(millis_at_receipt)).into()
}

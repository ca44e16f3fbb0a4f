//! What leaves the process, sealed: tickets, and the entries of a shared store.
//!
//! ```text
//! 0          16             20       48
//! +----------+--------------+--------+--------------------------------------------+-----+
//! | key name | policy check | salt   | AES-256-GCM: first auth (8) issued (8) state | tag |
//! +----------+--------------+--------+--------------------------------------------+-----+
//! ```
//!
//! The associated data are everything before the ciphertext, the whole digest of the policy, what the thing is for, and, for
//! an entry, where it belongs. The policy check is the first four bytes of the digest, so that a refusal can be explained;
//! it says nothing about the client.

use std::time::Duration;

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::deriving_key::TAG_LEN;
use crate::key::{KeyName, TicketKey};
use crate::policy::Policy;
use crate::random::Random;
pub use crate::refused::Refused;
use crate::ring::KeyRing;
use crate::rotation::after;
use crate::store::StoreKey;

const CHECK_LEN: usize = 4;
const SALT_LEN: usize = 28;
const HEADER_LEN: usize = KeyName::LEN + CHECK_LEN + SALT_LEN;
pub(crate) const TIMES_LEN: usize = 16;
/// What sealing adds to a state, in bytes.
pub const OVERHEAD: usize = HEADER_LEN + TIMES_LEN + TAG_LEN;
/// How far ahead of ours another node's clock may be before what it issued is refused, in seconds.
pub(crate) const SKEW: Duration = Duration::from_secs(60);

/// What a sealed thing is for: one is never taken for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealPurpose<'a> {
    /// A ticket, which the client keeps.
    Ticket,
    /// The entry of a shared store under this key: the store cannot hand out one in the place of another.
    Entry(&'a StoreKey),
}

/// How long sessions last: by default one of them an hour, and all that follow from one full handshake a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// From issue to the last resumption; a ticket's key may allow less.
    pub lifetime: Duration,
    /// From the client's full handshake to the last resumption of the last session that followed from it: renewal does not
    /// prolong it.
    pub chain: Duration,
}

/// When a session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The full handshake at the beginning of the chain.
    pub first_authentication: UnixTime,
    /// When this session was issued.
    pub issued: UnixTime,
}

/// A session as it was put in: its times, and the TLS library's state.
#[non_exhaustive]
pub struct Opened {
    /// Its times.
    pub times: Times,
    /// The state, whose encoding is the TLS library's.
    pub state: Zeroizing<Vec<u8>>,
}

impl Times {
    /// Judges a session at `now`. `lifetime` is its own.
    ///
    /// # Errors
    /// [`Refused::Expired`], [`Refused::OverCap`], [`Refused::Future`].
    pub fn check(&self, limits: &Limits, now: UnixTime) -> Result<(), Refused> {
        if self.issued > after(now, SKEW) || self.first_authentication > self.issued {
            return Err(Refused::Future);
        }
        if now >= after(self.first_authentication, limits.chain) {
            return Err(Refused::OverCap);
        }
        if now >= after(self.issued, limits.lifetime) { Err(Refused::Expired) } else { Ok(()) }
    }

    /// Appends both, as they stand before a state.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for time in [self.first_authentication, self.issued] {
            out.extend_from_slice(&time.as_secs().to_be_bytes());
        }
    }

    /// Reads what [`Times::write`] wrote, and returns what follows.
    pub(crate) fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Refused> {
        let time = |seconds: &[u8; 8]| UnixTime::since_unix_epoch(Duration::from_secs(u64::from_be_bytes(*seconds)));
        let (first_authentication, rest) = bytes.split_first_chunk().ok_or(Refused::Altered)?;
        let (issued, rest) = rest.split_first_chunk().ok_or(Refused::Altered)?;
        Ok((Self { first_authentication: time(first_authentication), issued: time(issued) }, rest))
    }
}

impl Limits {
    /// The default.
    pub const fn new() -> Self {
        Self { lifetime: Duration::from_secs(3600), chain: Duration::from_secs(86_400) }
    }

    /// With this [`Limits::lifetime`].
    #[must_use]
    pub const fn lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// With this [`Limits::chain`].
    #[must_use]
    pub const fn chain(self, chain: Duration) -> Self {
        Self { chain, ..self }
    }

    /// The same for what `key` seals: it lives at most half as long as the key can decrypt (RFC 9325 §3.4).
    #[must_use]
    pub fn under(&self, key: &TicketKey) -> Self {
        Self { lifetime: self.lifetime.min(key.times().span() / 2), ..*self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// Seals a session. `None` if no key of the ring encrypts at `times.issued`, or randomness fails: then there is no ticket.
pub fn seal(
    ring: &KeyRing,
    policy: &Policy,
    purpose: SealPurpose<'_>,
    times: Times,
    state: &[u8],
    random: &dyn Random,
) -> Option<Vec<u8>> {
    let key = ring.encryption_key(times.issued)?;
    let mut sealed = Vec::with_capacity(state.len().checked_add(OVERHEAD)?);
    let mut salt = [0; SALT_LEN];
    random.fill(&mut salt).ok()?;
    sealed.extend_from_slice(&key.name().0);
    sealed.extend_from_slice(policy.check());
    sealed.extend_from_slice(&salt);
    let aad = associated_data(&sealed, policy, purpose);
    times.write(&mut sealed);
    sealed.extend_from_slice(state);
    key.deriving().seal(&salt, &aad, &mut sealed, HEADER_LEN)?;
    Some(sealed)
}

/// Opens what [`seal`] made, on whichever node, and judges it at `now`.
///
/// # Errors
/// Why it is refused. Whatever `sealed` is, nothing else happens.
pub fn open(
    ring: &KeyRing,
    policy: &Policy,
    purpose: SealPurpose<'_>,
    limits: &Limits,
    now: UnixTime,
    sealed: &[u8],
) -> Result<Opened, Refused> {
    let (name, after_name) = sealed.split_first_chunk().ok_or(Refused::Altered)?;
    let (check, after_check) = after_name.split_first_chunk::<CHECK_LEN>().ok_or(Refused::Altered)?;
    let (salt, ciphertext) = after_check.split_first_chunk::<SALT_LEN>().ok_or(Refused::Altered)?;
    let key = ring.decryption_key(KeyName(*name), now)?;
    if check != policy.check() {
        return Err(Refused::Policy);
    }
    let header = sealed.get(..HEADER_LEN).ok_or(Refused::Altered)?;
    let aad = associated_data(header, policy, purpose);
    let mut plain = Zeroizing::new(ciphertext.to_vec());
    let length = key.deriving().open(salt, &aad, &mut plain).ok_or(Refused::Altered)?.len();
    plain.truncate(length);
    let (times, _) = Times::read(&plain)?;
    times.check(&limits.under(key), now)?;
    plain.drain(..TIMES_LEN);
    Ok(Opened { times, state: plain })
}

fn associated_data(header: &[u8], policy: &Policy, purpose: SealPurpose<'_>) -> Vec<u8> {
    let mut aad = Vec::with_capacity(HEADER_LEN + 32 + 1 + 32);
    aad.extend_from_slice(header);
    aad.extend_from_slice(policy.as_bytes());
    match purpose {
        SealPurpose::Ticket => aad.push(1),
        SealPurpose::Entry(key) => {
            aad.push(2);
            aad.extend_from_slice(key.as_bytes());
        }
    }
    aad
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;
    use crate::policy::PolicyBuilder;
    use crate::random::SystemRandom;
    use crate::rotation::Rotation;

    const LIMITS: Limits = Limits::new().lifetime(Duration::from_secs(100)).chain(Duration::from_secs(250));

    fn ring() -> KeyRing {
        KeyRing::generate(&Rotation::new(Duration::from_secs(100)).unwrap(), at(1000), &SystemRandom).unwrap()
    }

    fn policy(name: &str) -> Policy {
        PolicyBuilder::new().field("name", name.as_bytes()).build()
    }

    fn issued_at(second: u64) -> Times {
        Times { first_authentication: at(second), issued: at(second) }
    }

    fn ticket(ring: &KeyRing) -> Vec<u8> {
        seal(ring, &policy("a"), SealPurpose::Ticket, issued_at(1000), b"state", &SystemRandom).unwrap()
    }

    fn opened(ring: &KeyRing, now: u64, ticket: &[u8]) -> Result<Vec<u8>, Refused> {
        open(ring, &policy("a"), SealPurpose::Ticket, &LIMITS, at(now), ticket).map(|opened| opened.state.to_vec())
    }

    #[test]
    fn what_was_sealed_is_opened_within_its_life() {
        let ring = ring();
        let ticket = ticket(&ring);
        assert_eq!(ticket.len(), OVERHEAD + 5);
        assert_eq!(opened(&ring, 1099, &ticket).unwrap(), b"state");
        assert_eq!(opened(&ring, 1100, &ticket), Err(Refused::Expired));
        assert_eq!(opened(&ring, 1200, &ticket), Err(Refused::KeyExpired));
    }

    #[test]
    fn no_ticket_lives_longer_than_half_its_key() {
        // The key decrypts for 200 seconds, whatever sessions may.
        let (ring, limits) = (ring(), Limits { lifetime: Duration::from_secs(199), ..LIMITS });
        let ticket = ticket(&ring);
        let opened = |now| open(&ring, &policy("a"), SealPurpose::Ticket, &limits, at(now), &ticket).map(|_| ());
        assert_eq!((opened(1099), opened(1100)), (Ok(()), Err(Refused::Expired)));
    }

    #[test]
    fn every_altered_bit_is_refused() {
        let ring = ring();
        let ticket = ticket(&ring);
        for bit in 0..ticket.len() * 8 {
            let mut altered = ticket.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(&ring, 1001, &altered).is_err(), "bit {bit}");
        }
        for length in 0..ticket.len() {
            assert!(opened(&ring, 1001, &ticket[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn another_policy_purpose_or_entry_is_refused() {
        let ring = ring();
        let [one, two] = [[1; 32], [2; 32]].map(StoreKey::new);
        let entry = seal(&ring, &policy("a"), SealPurpose::Entry(&one), issued_at(1000), b"state", &SystemRandom).unwrap();
        let open = |policy: &Policy, purpose| open(&ring, policy, purpose, &LIMITS, at(1001), &entry).map(|_| ());
        assert_eq!(open(&policy("a"), SealPurpose::Entry(&one)), Ok(()));
        assert_eq!(open(&policy("a"), SealPurpose::Entry(&two)), Err(Refused::Altered));
        assert_eq!(open(&policy("a"), SealPurpose::Ticket), Err(Refused::Altered));
        assert_eq!(open(&policy("b"), SealPurpose::Entry(&one)), Err(Refused::Policy));
    }

    #[test]
    fn the_chain_is_capped_whatever_was_renewed() {
        let ring = ring();
        let times = Times { first_authentication: at(800), issued: at(1000) };
        let renewed = seal(&ring, &policy("a"), SealPurpose::Ticket, times, b"state", &SystemRandom).unwrap();
        assert!(opened(&ring, 1049, &renewed).is_ok());
        assert_eq!(opened(&ring, 1050, &renewed), Err(Refused::OverCap));
    }

    #[test]
    fn what_is_issued_by_a_clock_far_ahead_is_refused() {
        let ring = ring();
        let ticket = seal(&ring, &policy("a"), SealPurpose::Ticket, issued_at(1090), b"state", &SystemRandom).unwrap();
        assert!(opened(&ring, 1030, &ticket).is_ok());
        assert_eq!(opened(&ring, 1029, &ticket), Err(Refused::Future));
    }

    #[test]
    fn two_tickets_share_no_key_and_show_no_state() {
        let ring = ring();
        let [one, two] = [ticket(&ring), ticket(&ring)];
        assert_ne!(one[HEADER_LEN..], two[HEADER_LEN..]);
        assert!(!one.windows(5).any(|window| window == b"state"));
    }
}

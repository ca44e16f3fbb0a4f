//! The key schedule of TLS 1.3 (RFC 8446 §7.1), with all that is the same for every connection computed once.

use reprise_engine::suite::Hash;
use ring::{digest, hmac};

use super::hkdf::{Secret, digest_of};

const ZEROS: [u8; 48] = [0; 48];

/// What never changes, for both hashes; one for each thread.
pub(crate) struct Schedule {
    sha256: Constants,
    sha384: Constants,
}

struct Constants {
    hash: Hash,
    empty: digest::Digest,
    /// HKDF-Extract's salt of zeros, under which a PSK becomes the Early Secret.
    no_salt: Secret,
    /// The salt of the Handshake Secret where there is no PSK.
    full_salt: Secret,
}

impl Schedule {
    pub(crate) fn new() -> Self {
        Self { sha256: Constants::new(Hash::Sha256), sha384: Constants::new(Hash::Sha384) }
    }

    /// The Early Secret of a PSK.
    pub(crate) fn early(&self, hash: Hash, psk: &[u8]) -> Secret {
        Secret::new(hash, self.of(hash).no_salt.extract(psk).as_ref())
    }

    /// The binder of a ticket's PSK over the hash of the truncated ClientHello (RFC 8446 §4.2.11.2).
    pub(crate) fn binder(&self, hash: Hash, psk: &[u8], transcript: &[u8]) -> hmac::Tag {
        let key = self.early(hash, psk).derive(b"res binder", self.of(hash).empty.as_ref());
        Secret::new(hash, key.as_ref()).finished(hash, transcript)
    }

    /// The Handshake Secret, from the PSK if there is one.
    pub(crate) fn handshake(&self, hash: Hash, psk: Option<&[u8]>, shared: &[u8]) -> Secret {
        let constants = self.of(hash);
        let secret = match psk {
            None => constants.full_salt.extract(shared),
            Some(psk) => {
                let salt = self.early(hash, psk).derive(b"derived", constants.empty.as_ref());
                Secret::new(hash, salt.as_ref()).extract(shared)
            }
        };
        Secret::new(hash, secret.as_ref())
    }

    /// The Master Secret.
    pub(crate) fn master(&self, hash: Hash, handshake: &Secret) -> Secret {
        let salt = handshake.derive(b"derived", self.of(hash).empty.as_ref());
        let zeros = ZEROS.get(..hash.output_len()).unwrap_or(&ZEROS);
        Secret::new(hash, Secret::new(hash, salt.as_ref()).extract(zeros).as_ref())
    }

    fn of(&self, hash: Hash) -> &Constants {
        match hash {
            Hash::Sha256 => &self.sha256,
            Hash::Sha384 => &self.sha384,
        }
    }
}

impl Constants {
    fn new(hash: Hash) -> Self {
        let empty = digest::digest(digest_of(hash), &[]);
        let no_salt = Secret::new(hash, &[]);
        let zeros = ZEROS.get(..hash.output_len()).unwrap_or(&ZEROS);
        let early = Secret::new(hash, no_salt.extract(zeros).as_ref());
        let full_salt = Secret::new(hash, early.derive(b"derived", empty.as_ref()).as_ref());
        Self { hash, empty, no_salt, full_salt }
    }
}

impl std::fmt::Debug for Constants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Constants({:?})", self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_engine::key_schedule::tls13::{BinderLabel, EarlySecret};

    /// The engine's schedule is held against RFC 8448's traces; this one is held against the engine's.
    #[test]
    fn the_schedule_is_the_engines() {
        let schedule = Schedule::new();
        for hash in [Hash::Sha256, Hash::Sha384] {
            let transcript = vec![7; hash.output_len()];
            for psk in [None, Some(&[9; 32][..])] {
                let theirs = EarlySecret::new(hash, psk).unwrap();
                if let Some(psk) = psk {
                    let binder = theirs.binder(BinderLabel::Resumption, &transcript).unwrap();
                    assert_eq!(schedule.binder(hash, psk, &transcript).as_ref(), binder.as_ref());
                }
                let theirs = theirs.handshake(Some(&[3; 32])).unwrap();
                let ours = schedule.handshake(hash, psk, &[3; 32]);
                let traffic = ours.derive(b"c hs traffic", &transcript);
                let their_traffic = theirs.client_traffic(&transcript).unwrap();
                assert_eq!(traffic.as_ref(), their_traffic.as_bytes());
                let traffic = Secret::new(hash, traffic.as_ref());
                assert_eq!(
                    traffic.finished(hash, &transcript).as_ref(),
                    their_traffic.finished(&transcript).unwrap().as_ref()
                );
                assert_eq!(&traffic.expand(b"key", &[], 16).as_ref()[..16], their_traffic.key(16).unwrap().as_ref());
                assert_eq!(&traffic.expand(b"iv", &[], 12).as_ref()[..12], &their_traffic.iv().unwrap());

                let (ours, theirs) = (schedule.master(hash, &ours), theirs.master().unwrap());
                let traffic = theirs.server_traffic(&transcript).unwrap();
                assert_eq!(ours.derive(b"s ap traffic", &transcript).as_ref(), traffic.as_bytes());
                let resumption = Secret::new(hash, ours.derive(b"res master", &transcript).as_ref());
                let psk = theirs.resumption(&transcript).unwrap().psk(&[1, 2]).unwrap();
                assert_eq!(resumption.expand(b"resumption", &[1, 2], hash.output_len()).as_ref(), psk.as_ref());
            }
        }
    }
}

//! The key schedule of TLS 1.2: the PRF of RFC 5246 §5 on the stack, and what is made with it.

use reprise_engine::suite::{Aead, Hash, Suite};
use ring::hmac;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::hkdf::hmac_of;
use super::record::Protection;
use reprise_model::FaultName;

/// Bytes of a verify_data.
pub(crate) const VERIFY_DATA_LEN: usize = 12;

/// The master secret of a session, wiped when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct MasterSecret([u8; 48]);

/// Whose Finished, or whose keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl MasterSecret {
    /// RFC 5246 §8.1: over both randoms.
    pub(crate) fn plain(hash: Hash, premaster: &[u8], client: &[u8; 32], server: &[u8; 32]) -> Self {
        let mut secret = [0; 48];
        prf(hash, premaster, b"master secret", [&client[..], server], &mut secret);
        Self(secret)
    }

    /// RFC 7627 §4: over the hash of the handshake up to ClientKeyExchange.
    pub(crate) fn extended(hash: Hash, premaster: &[u8], session_hash: &[u8]) -> Self {
        let mut secret = [0; 48];
        prf(hash, premaster, b"extended master secret", [session_hash, &[]], &mut secret);
        Self(secret)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The verify_data of a side's Finished (RFC 5246 §7.4.9).
    pub(crate) fn finished(&self, hash: Hash, side: Side, transcript: &[u8]) -> [u8; VERIFY_DATA_LEN] {
        let label: &[u8] = match side {
            Side::Client => b"client finished",
            Side::Server => b"server finished",
        };
        let mut verify_data = [0; VERIFY_DATA_LEN];
        prf(hash, &self.0, label, [transcript, &[]], &mut verify_data);
        verify_data
    }

    /// Both directions' protection, the client's first (RFC 5246 §6.3: keys, then IVs).
    pub(crate) fn protections(
        &self,
        suite: &Suite,
        client: &[u8; 32],
        server: &[u8; 32],
    ) -> Result<(Protection, Protection), FaultName> {
        let (key, iv) = (suite.aead.key_len(), fixed_iv_len(suite.aead));
        let mut block = [0; 2 * (32 + 12)];
        let block = block.get_mut(..2 * (key + iv)).ok_or(FaultName::Crypto)?;
        prf(suite.hash, &self.0, b"key expansion", [&server[..], client], block);
        let (keys, ivs) = block.split_at(2 * key);
        let (client_key, server_key) = keys.split_at(key);
        let (client_iv, server_iv) = ivs.split_at(iv);
        Ok((Protection::tls12(suite.aead, client_key, client_iv)?, Protection::tls12(suite.aead, server_key, server_iv)?))
    }
}

/// RFC 5288 §3: four bytes of salt; RFC 7905 §2: the whole IV.
fn fixed_iv_len(aead: Aead) -> usize {
    match aead {
        Aead::Aes128Gcm | Aead::Aes256Gcm => 4,
        Aead::ChaCha20Poly1305 => 12,
    }
}

/// P_hash(secret, label + seed) (RFC 5246 §5); the seed comes in two parts.
fn prf(hash: Hash, secret: &[u8], label: &[u8], seed: [&[u8]; 2], out: &mut [u8]) {
    let key = hmac::Key::new(hmac_of(hash), secret);
    let sign = |before: &[u8]| {
        let mut context = hmac::Context::with_key(&key);
        for part in [before, label, seed[0], seed[1]] {
            context.update(part);
        }
        context.sign()
    };
    let mut a = sign(&[]);
    for chunk in out.chunks_mut(hash.output_len()) {
        let block = sign(a.as_ref());
        for (to, from) in chunk.iter_mut().zip(block.as_ref()) {
            *to = *from;
        }
        a = hmac::sign(&key, a.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_engine::key_schedule::tls12;
    use reprise_engine::suite::SUITES;

    #[test]
    fn the_schedule_is_the_engines() {
        let (client, server) = ([1; 32], [2; 32]);
        for suite in SUITES.iter().filter(|suite| suite.version == reprise_model::Version::Tls12) {
            let theirs = tls12::MasterSecret::new(suite, &[5; 32], &client, &server).unwrap();
            let ours = MasterSecret::plain(suite.hash, &[5; 32], &client, &server);
            assert_eq!(ours.as_bytes(), theirs.as_bytes());
            let theirs = tls12::MasterSecret::extended(suite, &[5; 32], &[8; 32]).unwrap();
            let ours = MasterSecret::extended(suite.hash, &[5; 32], &[8; 32]);
            assert_eq!(ours.as_bytes(), theirs.as_bytes());
        }
    }
}

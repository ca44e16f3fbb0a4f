//! The key schedule of TLS 1.2: RFC 5246 §8.1 and §6.3, RFC 7627 §4.

use aws_lc_rs::tls_prf;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::secret::Secret;
use crate::suite::{Aead, Suite};

/// The length of verify_data in every suite that is spoken here.
pub const VERIFY_DATA_LEN: usize = 12;

/// The master secret of a session.
#[derive(Clone, Debug)]
pub struct MasterSecret(Secret);

impl MasterSecret {
    /// RFC 5246 §8.1: over both randoms.
    pub fn new(suite: &Suite, premaster: &[u8], client: &[u8; 32], server: &[u8; 32]) -> Result<Self, Error> {
        let seed = [&client[..], server].concat();
        prf(suite, premaster, b"master secret", &seed, 48).and_then(|secret| Self::from_bytes(&secret))
    }

    /// RFC 7627 §4: over the hash of the handshake up to ClientKeyExchange.
    pub fn extended(suite: &Suite, premaster: &[u8], session_hash: &[u8]) -> Result<Self, Error> {
        prf(suite, premaster, b"extended master secret", session_hash, 48).and_then(|secret| Self::from_bytes(&secret))
    }

    /// A master secret from a stored session.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Secret::new(bytes).filter(|secret| secret.as_ref().len() == 48).map(Self).ok_or(Error::Crypto("master secret"))
    }

    /// The record keys of a connection (RFC 5246 §6.3): server random first.
    pub fn key_block(&self, suite: &Suite, client: &[u8; 32], server: &[u8; 32]) -> Result<KeyBlock, Error> {
        let key_len = suite.aead.key_len();
        let iv_len = fixed_iv_len(suite.aead);
        let seed = [&server[..], client].concat();
        let block = prf(suite, self.as_bytes(), b"key expansion", &seed, 2 * (key_len + iv_len))?;

        let (client_key, rest) = block.split_at(key_len);
        let (server_key, rest) = rest.split_at(key_len);
        let (client_iv, server_iv) = rest.split_at(iv_len);
        Ok(KeyBlock {
            client: DirectionKeys::new(client_key, client_iv)?,
            server: DirectionKeys::new(server_key, server_iv)?,
        })
    }

    /// The client's verify_data over the handshake so far (RFC 5246 §7.4.9).
    pub fn client_finished(&self, suite: &Suite, transcript: &[u8]) -> Result<[u8; VERIFY_DATA_LEN], Error> {
        self.finished(suite, b"client finished", transcript)
    }

    /// The server's verify_data over the handshake so far.
    pub fn server_finished(&self, suite: &Suite, transcript: &[u8]) -> Result<[u8; VERIFY_DATA_LEN], Error> {
        self.finished(suite, b"server finished", transcript)
    }

    /// The secret itself, for a key log or a stored session.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    fn finished(&self, suite: &Suite, label: &[u8], transcript: &[u8]) -> Result<[u8; VERIFY_DATA_LEN], Error> {
        let mut verify_data = [0; VERIFY_DATA_LEN];
        verify_data.copy_from_slice(&prf(suite, self.as_bytes(), label, transcript, VERIFY_DATA_LEN)?);
        Ok(verify_data)
    }
}

/// The record keys of both directions.
pub struct KeyBlock {
    /// What the client writes with.
    pub client: DirectionKeys,
    /// What the server writes with.
    pub server: DirectionKeys,
}

/// One direction's key and the part of its nonce that is fixed.
pub struct DirectionKeys {
    /// `client_write_key` or `server_write_key`.
    pub key: Secret,
    /// `client_write_IV` or `server_write_IV`: 4 bytes under GCM (RFC 5288 §3), 12 under ChaCha20-Poly1305 (RFC 7905 §2).
    pub iv: Secret,
}

impl DirectionKeys {
    fn new(key: &[u8], iv: &[u8]) -> Result<Self, Error> {
        const FAILED: Error = Error::Crypto("key block");
        Ok(Self { key: Secret::new(key).ok_or(FAILED)?, iv: Secret::new(iv).ok_or(FAILED)? })
    }
}

fn fixed_iv_len(aead: Aead) -> usize {
    match aead {
        Aead::Aes128Gcm | Aead::Aes256Gcm => 4,
        Aead::ChaCha20Poly1305 => 12,
    }
}

/// The pseudorandom function of RFC 5246 §5, with the suite's hash.
fn prf(suite: &Suite, secret: &[u8], label: &[u8], seed: &[u8], length: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let derived = tls_prf::Secret::new(suite.hash.prf(), secret)
        .and_then(|secret| secret.derive(label, seed, length))
        .map_err(|_| Error::Crypto("PRF"))?;
    Ok(Zeroizing::new(derived.as_ref().to_vec()))
}

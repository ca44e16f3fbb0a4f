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

#[cfg(test)]
mod tests {
    //! NIST CAVP, SP 800-135 TLS component, count 0 of each hash. What RFC 7627 changes has no vectors there: it is checked
    //! against rustls' key log.

    use reprise_wire::CipherSuite;

    use super::*;
    use crate::suite::find;

    struct Vector {
        suite: CipherSuite,
        premaster: &'static str,
        hello_randoms: [&'static str; 2],
        master: &'static str,
        randoms: [&'static str; 2],
        /// The beginning of the key block, as far as the suite needs it.
        key_block: &'static str,
    }

    const VECTORS: [Vector; 2] = [
        Vector {
            suite: CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256,
            premaster: "f8938ecc9edebc5030c0c6a441e213cd24e6f770a50dda07876f8d55da062bcadb386b411fd4fe4313a604fce6c17fbc",
            hello_randoms: [
                "36c129d01a3200894b9179faac589d9835d58775f9b5ea3587cb8fd0364cae8c",
                "f6c9575ed7ddd73e1f7d16eca115415812a43c2b747daaaae043abfb50053fce",
            ],
            master: "202c88c00f84a17a20027079604787461176455539e705be730890602c289a5001e34eeb3a043e5d52a65e66125188bf",
            randoms: [
                "62e1fd91f23f558a605f28478c58cf72637b89784d959df7e946d3f07bd1b616",
                "ae6c806f8ad4d80784549dff28a4b58fd837681a51d928c3e30ee5ff14f39868",
            ],
            key_block: "d06139889fffac1e3a71865f504aa5d0d2a2e89506c6f2279b670c3e1b74f531016a2530c51a3a0f",
        },
        Vector {
            suite: CipherSuite::TLS_RSA_WITH_AES_256_GCM_SHA384,
            premaster: "a5e2642633f5b8c81ad3fe0c2fe3a8e5ef806b06121dd10df4bb0fe857bfdcf522558e05d2682c9a80c741a3aab1716f",
            hello_randoms: [
                "abe4bf5527429ac8eb13574d2709e8012bd1a113c6d3b1d3aa2c3840518778ac",
                "cb6e0b3eb02976b6466dfa9651c2919414f1648fd3a7838d02153e5bd39535b6",
            ],
            master: "b4d49bfa87747fe815457bc3da15073d6ac73389e703079a3503c09e14bd559a5b3c7c601c7365f6ea8c68d3d9596827",
            randoms: [
                "954b5fe1849c2ede177438261f099a2fcd884d001b9fe1de754364b1f6a6dd8e",
                "1b1c8568344a65c30828e7483c0e353e2c68641c9551efae6927d9cd627a107c",
            ],
            key_block: "10fd89ef689c7ef033387b8a8f3e5e8e7c11f680f6bdd71fbac3246a73e98d45d03185dde686e6b2369e4503e9dc5a6d\
                        2cee3e2bf2fa3f41d3de57dff3e197c8a9d5f74cc2d27711",
        },
    ];

    #[test]
    fn the_master_secret_and_the_key_block_are_those_of_cavp() {
        for vector in VECTORS {
            let suite = find(vector.suite).unwrap();
            let [client, server] = vector.hello_randoms.map(random);
            let master = MasterSecret::new(suite, &bytes(vector.premaster), &client, &server).unwrap();
            assert_eq!(master.as_bytes(), bytes(vector.master));

            let [client, server] = vector.randoms.map(random);
            let keys = master.key_block(suite, &client, &server).unwrap();
            let parts = [&keys.client.key, &keys.server.key, &keys.client.iv, &keys.server.iv];
            assert_eq!(parts.map(|part| part.as_ref()).concat(), bytes(vector.key_block));
        }
    }

    #[test]
    fn a_master_secret_has_48_bytes() {
        assert!(MasterSecret::from_bytes(&[1; 48]).is_ok());
        for length in [0, 47, 49] {
            assert!(MasterSecret::from_bytes(&vec![1; length]).is_err());
        }
    }

    fn random(hex: &str) -> [u8; 32] {
        bytes(hex).try_into().unwrap()
    }

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }
}

//! Randomness from the operating system.

use aws_lc_rs::rand;
use aws_lc_rs::rsa::{Pkcs1PublicEncryptingKey, PublicEncryptingKey};
use reprise_engine::{Entropy, Error, KeyShare, KeyShares, generate_key_share};
use reprise_wire::NamedGroup;

/// A new key pair for each connection.
pub(crate) struct FreshKeyShares;

impl KeyShares for FreshKeyShares {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        generate_key_share(group)
    }
}

/// The operating system's generator.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        rand::fill(bytes).map_err(|_| Error::Crypto("the system's random generator"))
    }

    fn encrypt_premaster(&self, public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
        const FAILED: Error = Error::Crypto("RSA encryption: it takes keys of 2048 to 8192 bits");
        let key = PublicEncryptingKey::from_der(public_key).map_err(|_| FAILED)?;
        let key = Pkcs1PublicEncryptingKey::new(key).map_err(|_| FAILED)?;
        let mut encrypted = vec![0; key.ciphertext_size()];
        let length = key.encrypt(premaster, &mut encrypted).map_err(|_| FAILED)?.len();
        encrypted.truncate(length);
        Ok(encrypted)
    }
}

//! RSA encryption of a premaster secret, for whoever implements [`Entropy`](crate::Entropy).

use aws_lc_rs::rsa::{Pkcs1PublicEncryptingKey, PublicEncryptingKey};

use crate::error::Error;

/// Encrypts a premaster secret to the server's RSA key, given as SubjectPublicKeyInfo (RFC 5246 §7.4.7.1).
///
/// The padding of PKCS #1 v1.5 is drawn from the system. Like [`EcdhKeyShare::generate`](crate::EcdhKeyShare::generate), this
/// is for callers above: the engine's own states never call it, so that they stay repeatable.
///
/// # Errors
/// [`Error::Crypto`] if the key is none of 2048 to 8192 bits.
pub fn encrypt_premaster(public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
    const FAILED: Error = Error::Crypto("RSA encryption: it takes keys of 2048 to 8192 bits");
    let key = PublicEncryptingKey::from_der(public_key).map_err(|_| FAILED)?;
    let key = Pkcs1PublicEncryptingKey::new(key).map_err(|_| FAILED)?;
    let mut encrypted = vec![0; key.ciphertext_size()];
    let length = key.encrypt(premaster, &mut encrypted).map_err(|_| FAILED)?.len();
    encrypted.truncate(length);
    Ok(encrypted)
}

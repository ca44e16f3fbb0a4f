//! The client's own certificate and the key that signs for it.

use reprise_wire::SignatureScheme;
use rustls_pki_types::CertificateDer;

use crate::error::Error;

/// Signs with the client's private key; ECDSA and RSA-PSS draw randomness, which is why this is the caller's.
pub trait Signer: Send + Sync {
    /// The schemes that the key can sign in, best first.
    fn schemes(&self) -> &[SignatureScheme];

    /// The signature of `message` in one of [`Signer::schemes`].
    fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Result<Vec<u8>, Error>;
}

/// A certificate chain, leaf first, with the key of its leaf.
pub struct ClientIdentity {
    /// The chain, leaf first.
    pub chain: Vec<CertificateDer<'static>>,
    /// The leaf's key.
    pub signer: Box<dyn Signer>,
}

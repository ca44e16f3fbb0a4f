//! A key that works longer than it must before it signs: a server whose handshakes cost more than they did.

use std::hint::black_box;
use std::sync::Arc;

use reprise_lab::Identity;
use rustls::sign::{CertifiedKey, Signer, SigningKey, SingleCertAndKey};
use rustls::{Error, ServerConfig, SignatureAlgorithm, SignatureScheme};
use rustls_pki_types::SubjectPublicKeyInfoDer;

/// Has `config` do so many rounds of arithmetic before each signature with the key of `identity`.
pub(crate) fn slow_down(config: &mut ServerConfig, identity: &Identity, rounds: u64) -> Result<(), Error> {
    let chain = identity.chain().to_vec();
    let CertifiedKey { cert, key, ocsp } = CertifiedKey::from_der(chain, identity.key_der(), config.crypto_provider())?;
    let key = Arc::new(SlowKey { key, rounds });
    config.cert_resolver = Arc::new(SingleCertAndKey::from(CertifiedKey { cert, key, ocsp }));
    Ok(())
}

/// A loop of so many rounds that no compiler leaves out: each is a multiplication and an addition that wait for those before.
pub(crate) fn spin(rounds: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..rounds {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

#[derive(Debug)]
struct SlowKey {
    key: Arc<dyn SigningKey>,
    rounds: u64,
}

impl SigningKey for SlowKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let signer = self.key.choose_scheme(offered)?;
        Some(Box::new(SlowSigner { signer, rounds: self.rounds }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}

#[derive(Debug)]
struct SlowSigner {
    signer: Box<dyn Signer>,
    rounds: u64,
}

impl Signer for SlowSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        spin(self.rounds);
        self.signer.sign(message)
    }

    fn scheme(&self) -> SignatureScheme {
        self.signer.scheme()
    }
}

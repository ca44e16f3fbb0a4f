//! The client's side: configurations, seeded randomness, a certificate of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::digest::{SHA512, digest};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use reprise_engine::{
    CertificatePolicy, ClientIdentity, Config, Connection, EcdhKeyShare, Entropy, Error, KeyShare, KeyShares, Offer, Signer,
    Start, WebPkiVerifier, encrypt_premaster, generate_key_share,
};
use reprise_lab::{Authority, Identity};
use reprise_model::Nanos;
use reprise_wire::{NamedGroup, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// A client that offers all that it can and verifies against this root.
pub fn client(root: &Authority) -> Config {
    let (verifier, unreadable) = WebPkiVerifier::new(std::slice::from_ref(root.certificate()));
    assert_eq!(unreadable, 0);
    Config { certificates: CertificatePolicy::Verify(Arc::new(verifier)), ..trusting_client() }
}

/// A client that offers all that it can and takes any certificate.
pub fn trusting_client() -> Config {
    let seeded = Arc::new(Seeded::default());
    Config::new(ServerName::try_from("localhost").unwrap(), CertificatePolicy::AcceptAnyChain, seeded.clone(), seeded)
}

/// What a client that was just started has to say.
pub fn start(config: &Arc<Config>, offer: Offer, now: Nanos) -> Result<Connection, Error> {
    Connection::start(config.clone(), Start { offer, date: UnixTime::now() }, now)
}

/// Bytes that look random and are the same in every run.
#[derive(Default)]
pub struct Seeded(AtomicU64);

impl Seeded {
    fn block(&self) -> [u8; 64] {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        digest(&SHA512, &count.to_be_bytes()).as_ref().try_into().unwrap()
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.chunks_mut(64).for_each(|chunk| chunk.copy_from_slice(&self.block()[..chunk.len()]));
        Ok(())
    }

    fn encrypt_premaster(&self, public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
        encrypt_premaster(public_key, premaster)
    }
}

impl KeyShares for Seeded {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        if [NamedGroup::X25519MLKEM768, NamedGroup::SECP521R1].contains(&group) {
            return generate_key_share(group);
        }
        let length = if group == NamedGroup::SECP384R1 { 48 } else { 32 };
        let mut private = self.block();
        // Below the order of every curve.
        private[0] = 0;
        Ok(Box::new(EcdhKeyShare::from_private_key(group, &private[..length])?))
    }
}

/// The client's certificate with its P-256 key.
pub fn identity(identity: &Identity) -> ClientIdentity {
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, identity.key_der().secret_der()).unwrap();
    ClientIdentity {
        chain: identity.chain().iter().map(|der| CertificateDer::from(der.to_vec())).collect(),
        signer: Box::new(P256(key)),
    }
}

struct P256(EcdsaKeyPair);

impl Signer for P256 {
    fn schemes(&self) -> &[SignatureScheme] {
        &[SignatureScheme::ECDSA_SECP256R1_SHA256]
    }

    fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Result<Vec<u8>, Error> {
        assert_eq!(scheme, SignatureScheme::ECDSA_SECP256R1_SHA256);
        let signature = self.0.sign(&aws_lc_rs::rand::SystemRandom::new(), message);
        signature.map(|signature| signature.as_ref().to_vec()).map_err(|_| Error::Crypto("signing"))
    }
}

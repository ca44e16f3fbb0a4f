//! RSA key exchange: one encrypted premaster secret for each server key (RFC 5246 §7.4.7.1).

use reprise_engine::{encrypt_premaster, subject_public_key_info};
use reprise_model::FaultName;
use rustls_pki_types::CertificateDer;
use zeroize::Zeroizing;

/// The premaster secrets of one thread. Encrypting costs about as much as a whole handshake does here, and what the server
/// pays for decrypting does not depend on its being a new one.
#[derive(Default)]
pub(crate) struct RsaPremasters {
    known: Vec<Known>,
}

struct Known {
    certificate: Vec<u8>,
    premaster: Zeroizing<[u8; 48]>,
    encrypted: Vec<u8>,
}

/// A server that shows another certificate on each connection does not fill the memory.
const MOST: usize = 64;

impl RsaPremasters {
    /// The place of the premaster for the key of this certificate.
    pub(crate) fn for_certificate(&mut self, certificate: &[u8]) -> Result<usize, FaultName> {
        if let Some(place) = self.known.iter().position(|known| known.certificate == certificate) {
            return Ok(place);
        }
        if self.known.len() >= MOST {
            return Err(FaultName::TooLarge);
        }
        self.known.push(Known::new(certificate)?);
        Ok(self.known.len() - 1)
    }

    /// The premaster secret and its encryption.
    pub(crate) fn at(&self, place: usize) -> Option<(&[u8; 48], &[u8])> {
        self.known.get(place).map(|known| (&*known.premaster, known.encrypted.as_slice()))
    }
}

impl Known {
    fn new(certificate: &[u8]) -> Result<Self, FaultName> {
        let spki = subject_public_key_info(&CertificateDer::from(certificate)).ok_or(FaultName::Malformed)?;
        let mut premaster = Zeroizing::new([0; 48]);
        aws_lc_rs::rand::fill(&mut premaster[..]).map_err(|_| FaultName::Crypto)?;
        premaster[..2].copy_from_slice(&[3, 3]);
        let encrypted = encrypt_premaster(&spki, &premaster).map_err(|_| FaultName::Unspoken)?;
        Ok(Self { certificate: certificate.to_vec(), premaster, encrypted })
    }
}

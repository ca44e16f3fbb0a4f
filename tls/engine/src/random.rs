//! Randomness from the operating system, for a caller that has no other to hand in.

use aws_lc_rs::rand;
use reprise_wire::NamedGroup;

use crate::config::Entropy;
use crate::error::Error;
use crate::key_share::{KeyShare, KeyShares, generate_key_share};
use crate::rsa_premaster;

/// A new key pair for each connection.
pub struct FreshKeyShares;

impl KeyShares for FreshKeyShares {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        generate_key_share(group)
    }
}

/// The operating system's generator.
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        rand::fill(bytes).map_err(|_| Error::Crypto("the system's random generator"))
    }

    fn encrypt_premaster(&self, public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
        rsa_premaster::encrypt_premaster(public_key, premaster)
    }
}

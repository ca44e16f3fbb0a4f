//! The kernel's randomness, and one encrypted premaster secret for each RSA key.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use reprise_engine::{Error, RsaPremaster, SystemEntropy};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// A server that shows another key on each connection does not fill the memory.
const MOST_KEYS: usize = 64;

/// So much is fetched at once: for 64 connections that need 32 bytes twice.
const CHUNK: usize = 4096;

/// A thread's randomness.
///
/// A premaster secret is used again for the same server key: encrypting costs about as much as a whole handshake does here, and
/// what the server pays for decrypting does not depend on its being a new one.
#[derive(Default)]
pub(crate) struct Entropy {
    premasters: Mutex<BTreeMap<Vec<u8>, RsaPremaster>>,
    /// What was fetched and not used yet.
    fetched: Mutex<Vec<u8>>,
}

impl reprise_engine::Entropy for Entropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        if fetched.len() < bytes.len() {
            fetched.resize(CHUNK.max(bytes.len()), 0);
            fetch(&mut fetched)?;
        }
        let rest = fetched.len() - bytes.len();
        bytes.iter_mut().zip(fetched.drain(rest..)).for_each(|(to, from)| *to = from);
        Ok(())
    }

    fn encrypt_premaster(&self, public_key: &[u8], premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
        SystemEntropy.encrypt_premaster(public_key, premaster)
    }

    fn rsa_premaster(&self, public_key: &[u8]) -> Result<RsaPremaster, Error> {
        let mut premasters = self.premasters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = premasters.get(public_key) {
            return Ok(known.clone());
        }
        let premaster = SystemEntropy.rsa_premaster(public_key)?;
        if premasters.len() < MOST_KEYS {
            premasters.insert(public_key.to_vec(), premaster.clone());
        }
        Ok(premaster)
    }
}

/// From the kernel itself: the generator of aws-lc gathers entropy of its own before its first byte, which takes longer than many
/// handshakes do.
fn fetch(bytes: &mut [u8]) -> Result<(), Error> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let count = match getrandom(&mut *rest, GetRandomFlags::empty()) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(_) => return Err(Error::Crypto("the system's random generator")),
        };
        rest = rest.get_mut(count..).unwrap_or_default();
    }
    Ok(())
}

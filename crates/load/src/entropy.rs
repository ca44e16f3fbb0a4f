//! The operating system's randomness, fetched for many connections at once.

use ring::rand::{SecureRandom, SystemRandom};

use reprise_model::FaultName;

/// One call for 128 randoms of 32 bytes.
const CHUNK: usize = 4096;

/// A thread's supply.
pub(crate) struct Entropy {
    system: SystemRandom,
    bytes: Box<[u8; CHUNK]>,
    used: usize,
}

impl Default for Entropy {
    fn default() -> Self {
        Self { system: SystemRandom::new(), bytes: Box::new([0; CHUNK]), used: CHUNK }
    }
}

impl Entropy {
    /// Fills `out`, at most a chunk.
    pub(crate) fn fill(&mut self, out: &mut [u8]) -> Result<(), FaultName> {
        if self.used + out.len() > CHUNK {
            self.system.fill(&mut self.bytes[..]).map_err(|_| FaultName::Crypto)?;
            self.used = 0;
        }
        let end = self.used + out.len();
        out.copy_from_slice(self.bytes.get(self.used..end).ok_or(FaultName::Crypto)?);
        self.used = end;
        Ok(())
    }
}

//! Key material that is wiped when dropped and never printed.

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// The longest secret that the key schedules make: the TLS 1.2 master secret and SHA-384 outputs, 48 bytes.
const CAPACITY: usize = 48;

/// A secret of at most 48 bytes, kept in place: no allocation, and nothing left behind on the heap.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Secret {
    /// A copy of `bytes`; `None` if they are more than 48.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut secret = Self::zeroed(bytes.len())?;
        secret.as_mut().copy_from_slice(bytes);
        Some(secret)
    }

    /// `length` zero bytes, to be filled; `None` if more than 48.
    pub(crate) fn zeroed(length: usize) -> Option<Self> {
        (length <= CAPACITY).then_some(Self { bytes: [0; CAPACITY], length })
    }
}

impl AsRef<[u8]> for Secret {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length.min(CAPACITY)]
    }
}

impl AsMut<[u8]> for Secret {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length.min(CAPACITY)]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        assert_eq!(format!("{:?}", Secret::new(b"hunter2").unwrap()), "Secret(7 bytes)");
    }

    #[test]
    fn a_secret_has_a_bound() {
        assert!(Secret::new(&[1; 49]).is_none());
    }
}

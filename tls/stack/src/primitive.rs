//! The operations that handshakes and records are made of, each ready to be repeated.

use reprise_model::Operation;

use crate::StackError;

/// One operation. Inputs are the same in every library: data, secrets and keys of ciphers are the bytes 0, 1, 2, … (modulo 256), a nonce is
/// twelve zeros, and the first five bytes of data are the additional data.
#[derive(Clone, Copy, Debug)]
pub struct PrimitiveOptions<'a> {
    /// What is done.
    pub operation: Operation,
    /// IANA's number: of a signature scheme, a group, a suite of TLS 1.3, or a hash (RFC 5246 §7.4.1.4.1); 0 of random bytes.
    pub algorithm: u16,
    /// Bytes of data; of random bytes.
    pub length: usize,
    /// The key of who signs: PKCS #8 in PEM, not encrypted. With it [`Operation::HkdfAfter`] is a signature, without it an exchange.
    pub key: Option<&'a str>,
}

/// An operation that was made ready.
pub trait ReadyPrimitive {
    /// Makes ready what each of the next so many times uses up. It is not part of the operation.
    ///
    /// # Errors
    /// What the library says.
    fn prepare(&mut self, count: usize) -> Result<(), StackError>;

    /// Does it so many times, one after the other: no more than were prepared.
    ///
    /// # Errors
    /// What the library says.
    fn run(&mut self, count: usize) -> Result<(), StackError>;

    /// What the first time after [`ReadyPrimitive::prepare`] has come to: the signature, what was sealed with its tag behind it, the hash, what was derived, the random bytes,
    /// the two secrets of an exchange. Empty where it is nothing of the kind.
    ///
    /// # Errors
    /// What the library says.
    fn output(&self) -> Result<Vec<u8>, StackError>;
}

/// How often HKDF-Expand follows under [`Operation::HkdfAfter`]: as often as the two sides of a handshake under TLS 1.3 do it
/// (`REPRISE_EXPANSIONS`).
pub const EXPANSIONS: u64 = 32;

/// The additional data of what is sealed.
pub(crate) const ADDITIONAL: [u8; 5] = [0, 1, 2, 3, 4];

/// The bytes 0, 1, 2, … (modulo 256).
pub(crate) fn data(length: usize) -> Vec<u8> {
    (0..length).map(|index| index as u8).collect()
}

/// Whether a group is a KEM, or a hybrid with one.
pub fn is_kem(group: u16) -> bool {
    matches!(group, 512..=514 | 4587..=4589)
}

//! From fragments of handshake records to whole handshake messages.

use std::ops::Deref;

use reprise_wire::{Handshake, HandshakeType};

use crate::error::{Error, Misbehaviour};

/// Certificates may be long (RSA-4096 chains, post-quantum signatures); 256 KiB is more than twice what OpenSSL takes.
pub(crate) const MAX_CERTIFICATE: usize = 256 * 1024;
/// Everything else is bounded by a ticket of 2^16 − 1 bytes and what stands around it.
const MAX_OTHER: usize = 68 * 1024;

/// A handshake message, and whether its record ends with it.
pub(crate) struct Message<'m> {
    handshake: Handshake<'m>,
    ends_record: bool,
}

impl Message<'_> {
    /// Refuses a server that goes on in one record where the keys change (RFC 9846 §5.1), or where it is our turn to speak.
    pub(crate) fn ends_record(&self) -> Result<(), Error> {
        if self.ends_record { Ok(()) } else { Err(Misbehaviour::KeyChangeInsideMessage.into()) }
    }
}

impl<'m> Deref for Message<'m> {
    type Target = Handshake<'m>;

    fn deref(&self) -> &Handshake<'m> {
        &self.handshake
    }
}

/// Joins handshake messages that span records, and splits records that hold several.
#[derive(Default)]
pub(crate) struct Joiner {
    buffer: Vec<u8>,
    taken: usize,
}

impl Joiner {
    /// Adds a fragment.
    pub(crate) fn push(&mut self, fragment: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(fragment);
    }

    /// The next whole message. A length that no message may have is refused as soon as its header is there, so a peer cannot
    /// make us hold what it promises.
    pub(crate) fn next_message(&mut self) -> Result<Option<Message<'_>>, Error> {
        let waiting = &self.buffer[self.taken..];
        if let [msg_type, high, middle, low, ..] = *waiting {
            let length = u32::from_be_bytes([0, high, middle, low]) as usize;
            let is_certificate = [HandshakeType::CERTIFICATE.0, HandshakeType::COMPRESSED_CERTIFICATE.0].contains(&msg_type);
            let limit = if is_certificate { MAX_CERTIFICATE } else { MAX_OTHER };
            if length > limit {
                return Err(Error::TooLarge { what: "handshake message", limit });
            }
        }
        match Handshake::parse(waiting).map_err(Error::malformed("handshake message"))? {
            Some((handshake, length)) => {
                self.taken += length;
                Ok(Some(Message { handshake, ends_record: self.taken == self.buffer.len() }))
            }
            None => Ok(None),
        }
    }

    /// Whether no message is begun and unfinished.
    pub(crate) fn is_aligned(&self) -> bool {
        self.taken == self.buffer.len()
    }
}

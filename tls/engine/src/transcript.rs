//! The hash of all handshake messages so far.

use aws_lc_rs::digest::{Context, Digest, digest};
use reprise_wire::{HandshakeType, MessageHash, frame};

use crate::suite::Hash;

/// The running hash, and the messages themselves where a TLS 1.2 CertificateVerify may have to sign them with another
/// hash (RFC 5246 §7.4.8).
pub(crate) struct Transcript {
    context: Context,
    messages: Option<Vec<u8>>,
}

impl Transcript {
    /// Begins with the ClientHello.
    pub(crate) fn beginning(hash: Hash, client_hello: &[u8]) -> Self {
        let mut context = Context::new(hash.digest());
        context.update(client_hello);
        Self { context, messages: None }
    }

    /// After a HelloRetryRequest, the hash of the first ClientHello stands in its place (RFC 9846 §4.1).
    pub(crate) fn after_retry(hash: Hash, first_hello: &[u8]) -> Self {
        let mut message = Vec::new();
        let hashed = hash_of(hash, first_hello);
        frame(&mut message, HandshakeType::MESSAGE_HASH, |out| MessageHash { hash: hashed.as_ref() }.emit(out));
        Self::beginning(hash, &message)
    }

    /// From here on the messages are kept too; `so_far` are those that were added.
    pub(crate) fn keep_messages(&mut self, so_far: &[u8]) {
        self.messages = Some(so_far.to_vec());
    }

    /// Keeps only the hash from here on.
    pub(crate) fn forget_messages(&mut self) {
        self.messages = None;
    }

    pub(crate) fn add(&mut self, message: &[u8]) {
        self.context.update(message);
        if let Some(messages) = &mut self.messages {
            messages.extend_from_slice(message);
        }
    }

    /// The hash so far.
    pub(crate) fn current(&self) -> Digest {
        self.context.clone().finish()
    }

    /// The hash of all so far and of `more`, which is not added: a PSK binder covers a truncated ClientHello.
    pub(crate) fn with(&self, more: &[u8]) -> Digest {
        let mut context = self.context.clone();
        context.update(more);
        context.finish()
    }

    /// The messages themselves, if they were kept.
    pub(crate) fn messages(&self) -> Option<&[u8]> {
        self.messages.as_deref()
    }
}

/// The hash of one message alone.
pub(crate) fn hash_of(hash: Hash, message: &[u8]) -> Digest {
    digest(hash.digest(), message)
}

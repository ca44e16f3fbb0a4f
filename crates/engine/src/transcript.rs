//! The hash of all handshake messages so far.

use aws_lc_rs::digest::{Context, Digest, digest};
use reprise_wire::HandshakeType;

use crate::suite::Hash;

/// The messages before the server has chosen the hash: the ClientHello alone.
#[derive(Default)]
pub(crate) struct UnhashedTranscript {
    messages: Vec<u8>,
}

impl UnhashedTranscript {
    pub(crate) fn add(&mut self, message: &[u8]) {
        self.messages.extend_from_slice(message);
    }

    pub(crate) fn hashed_by(self, hash: Hash) -> Transcript {
        let mut context = Context::new(hash.digest());
        context.update(&self.messages);
        Transcript { hash, context, messages: Some(self.messages) }
    }
}

/// The running hash, and the messages themselves as long as a TLS 1.2 CertificateVerify may have to sign them with
/// another hash (RFC 5246 §7.4.8).
pub(crate) struct Transcript {
    hash: Hash,
    context: Context,
    messages: Option<Vec<u8>>,
}

impl Transcript {
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

    /// The messages themselves, if they were kept.
    pub(crate) fn messages(&self) -> Option<&[u8]> {
        self.messages.as_deref()
    }

    /// Keeps only the hash from here on.
    pub(crate) fn forget_messages(&mut self) {
        self.messages = None;
    }

    /// After a HelloRetryRequest, the hash of the first ClientHello stands in its place (RFC 8446 §4.4.1). To be called
    /// before the HelloRetryRequest is added.
    pub(crate) fn replace_by_message_hash(&mut self) {
        let hash = self.current();
        let mut context = Context::new(self.hash.digest());
        context.update(&[HandshakeType::MESSAGE_HASH.0, 0, 0, hash.as_ref().len() as u8]);
        context.update(hash.as_ref());
        self.context = context;
        self.messages = None;
    }

    /// The hash of all so far and of `more`, which is not added: a PSK binder covers a truncated ClientHello.
    pub(crate) fn with(&self, more: &[u8]) -> Digest {
        let mut context = self.context.clone();
        context.update(more);
        context.finish()
    }
}

/// The hash of one message alone: a binder in a first ClientHello.
pub(crate) fn hash_of(hash: Hash, message: &[u8]) -> Digest {
    digest(hash.digest(), message)
}

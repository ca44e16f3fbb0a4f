//! TLS servers that say what a test tells them to say, under live keys. Honest unless told otherwise.
//!
//! A server is driven message by message: [`tls12::Server`] and [`tls13::Server`] make each message as an honest server
//! would, and the test sends it, or something else. [`client`] has the clients that they talk to.
//!
//! A [`play::Play`] is a whole server: a setting, the honest lines that belong to it, and what deviates from them. It takes
//! bytes and gives bytes, so the same play runs over memory, in a fuzzer and over sockets.
//!
//! For tests and fuzzing alone: where a test should fail, it panics.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub mod certificates;
pub mod client;
pub mod host;
pub mod hostile;
pub mod play;
pub mod sessions;
pub mod setting;
pub mod tls12;
pub mod tls13;

use aws_lc_rs::digest::{SHA256, SHA384, digest};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use reprise_engine::suite::Hash;
use reprise_engine::{Connection, EcdhKeyShare};
use reprise_lab::KeyKind;
use reprise_model::{Direction, Nanos};
use reprise_wire::{
    CipherSuite, ClientHello, ContentType, ExtensionType, ExtensionsBuilder, Handshake, HandshakeType, MAX_PLAINTEXT,
    NamedGroup, ProtocolVersion, Record, ServerHello, frame,
};

use crate::certificates::certificate;

/// When everything happens, where time does not matter.
pub const NOW: Nanos = Nanos(5_000_000);

/// A ServerHello or HelloRetryRequest in the making.
#[derive(Clone)]
pub struct Hello {
    /// TLS 1.2 in both versions.
    pub legacy_version: ProtocolVersion,
    /// That of a HelloRetryRequest makes it one.
    pub random: [u8; 32],
    /// Under TLS 1.3 the client's own.
    pub session_id: Vec<u8>,
    /// The suite that is chosen.
    pub suite: CipherSuite,
    /// 0 in any honest hello.
    pub compression: u8,
    /// In order, each with its data.
    pub extensions: Vec<(ExtensionType, Vec<u8>)>,
}

impl Hello {
    /// Says this in an extension, in place of what it said before.
    pub fn set(&mut self, extension: ExtensionType, data: &[u8]) {
        self.remove(extension);
        self.extensions.push((extension, data.to_vec()));
    }

    /// Takes an extension out.
    pub fn remove(&mut self, extension: ExtensionType) {
        self.extensions.retain(|(known, _)| *known != extension);
    }

    /// The message, framed.
    pub fn message(&self) -> Vec<u8> {
        let extensions = extensions(&self.extensions);
        let hello = ServerHello {
            legacy_version: self.legacy_version,
            random: &self.random,
            session_id: &self.session_id,
            cipher_suite: self.suite,
            compression_method: self.compression,
            extensions: Some(extensions.view()),
        };
        framed(HandshakeType::SERVER_HELLO, |out| hello.emit(out))
    }
}

/// All messages of a handshake so far, in the form in which they are hashed.
pub struct Transcript(Vec<u8>);

impl Transcript {
    /// A message that is made, and part of the transcript.
    pub(crate) fn message(&mut self, msg_type: HandshakeType, body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let message = framed(msg_type, body);
        self.add(&message);
        message
    }

    /// A message, honest or not, is part of the transcript.
    pub(crate) fn add(&mut self, message: &[u8]) {
        self.0.extend_from_slice(message);
    }

    /// The transcript has these bytes where it had the last message, of this length.
    pub(crate) fn amend(&mut self, length: usize, said: &[u8]) {
        self.0.truncate(self.0.len().saturating_sub(length));
        self.add(said);
    }

    pub(crate) fn hash(&self, hash: Hash) -> Vec<u8> {
        crate::hash(hash, &self.0)
    }
}

/// What the client said first, and what may be said to it.
pub struct HeardHello {
    /// The ClientHello, framed.
    pub message: Vec<u8>,
    /// Its random.
    pub random: [u8; 32],
    /// The session ID that it offers, or makes up.
    pub session_id: Vec<u8>,
    /// What followed it under other keys: the records of early data.
    pub early: Vec<(ContentType, Vec<u8>)>,
}

impl HeardHello {
    /// Takes the client's hello from it; what stands before it, a ChangeCipherSpec, is passed over.
    pub fn from(client: &mut Connection) -> Self {
        Self::of(&client.take_outgoing(NOW))
    }

    /// The hello in what a client has sent.
    pub fn of(bytes: &[u8]) -> Self {
        let (early, clear) = records(bytes).into_iter().partition(|(kind, _)| *kind == ContentType::APPLICATION_DATA);
        let clear: Vec<(ContentType, Vec<u8>)> = clear;
        let hello = clear.into_iter().filter(|(kind, _)| *kind == ContentType::HANDSHAKE);
        let message: Vec<u8> = hello.flat_map(|(_, part)| part).collect();
        let hello = ClientHello::parse(body_of(&message)).unwrap();
        let (random, session_id) = (*hello.random, hello.session_id.to_vec());
        Self { message, random, session_id, early }
    }

    /// The hello, parsed.
    pub fn hello(&self) -> ClientHello<'_> {
        ClientHello::parse(body_of(&self.message)).unwrap()
    }

    /// What the hello says in this extension.
    pub fn extension(&self, extension: ExtensionType) -> Option<&[u8]> {
        self.hello().extensions.unwrap().find(extension)
    }
}

/// The server's key share, the same in every test.
pub fn share(group: NamedGroup) -> EcdhKeyShare {
    let mut private = [7; 66];
    private[0] = 0;
    let length = match group {
        NamedGroup::SECP384R1 => 48,
        NamedGroup::SECP521R1 => 66,
        _ => 32,
    };
    EcdhKeyShare::from_private_key(group, &private[..length]).unwrap()
}

/// A signature by the server's P-256 key.
pub fn sign(message: &[u8]) -> Vec<u8> {
    let key = certificate(KeyKind::P256).key_der();
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.secret_der()).unwrap();
    key.sign(&aws_lc_rs::rand::SystemRandom::new(), message).unwrap().as_ref().to_vec()
}

/// The hash of messages, as the suite has it.
pub fn hash(hash: Hash, messages: &[u8]) -> Vec<u8> {
    let algorithm = if hash == Hash::Sha256 { &SHA256 } else { &SHA384 };
    digest(algorithm, messages).as_ref().to_vec()
}

/// A handshake message: type, length, body.
pub fn framed(msg_type: HandshakeType, body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut message = Vec::new();
    frame(&mut message, msg_type, body);
    message
}

/// The body of a framed message.
pub fn body_of(message: &[u8]) -> &[u8] {
    Handshake::parse(message).unwrap().unwrap().0.body
}

/// A list of extensions, ready to be emitted.
pub fn extensions(list: &[(ExtensionType, Vec<u8>)]) -> ExtensionsBuilder {
    let mut extensions = ExtensionsBuilder::new();
    for (extension, data) in list {
        extensions.push(*extension, |out| out.extend_from_slice(data));
    }
    extensions
}

/// A fragment in the clear, in as many records as it takes.
pub fn clear(content_type: ContentType, fragment: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for fragment in fragment.chunks(MAX_PLAINTEXT) {
        record(content_type, fragment, &mut out);
    }
    out
}

/// One record in the clear, however long or empty.
pub fn record(content_type: ContentType, fragment: &[u8], out: &mut Vec<u8>) {
    Record { content_type, version: ProtocolVersion::TLS_1_2, fragment }.emit(out);
}

/// Content type and fragment of every record.
pub fn records(mut bytes: &[u8]) -> Vec<(ContentType, Vec<u8>)> {
    let mut records = Vec::new();
    while let Some((record, consumed)) = Record::parse(bytes).unwrap() {
        records.push((record.content_type, record.fragment.to_vec()));
        bytes = &bytes[consumed..];
    }
    assert!(bytes.is_empty(), "a record is cut");
    records
}

/// The alert that the client has sent, if it has.
pub fn alert_of(client: &mut Connection) -> Option<String> {
    let _ = client.take_outgoing(NOW);
    let last = client.events().last()?;
    let is_alert = matches!(last.what, reprise_model::What::Alert { .. }) && last.direction == Direction::Sent;
    is_alert.then(|| last.what.name().to_owned())
}

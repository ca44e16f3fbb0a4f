//! Reads the ClientHello before the TLS library does, over any fragmentation.

use reprise_wire::extensions::{OfferedPsks, SupportedVersions};
use reprise_wire::{ClientHello, ContentType, ExtensionType, Handshake, HandshakeType, ProtocolVersion, Record};

use crate::store::{Lookup, StoreKey};

/// How many identities of one connection are looked up or decrypted: each is work that a client causes before it has proved
/// anything, and a ClientHello has room for hundreds. Go stops at 5 too, s2n at 3.
pub const MAX_IDENTITIES: usize = 5;

/// Bytes of a session ID or a ticket that names a stored session.
const ID_LEN: usize = 32;

/// Collects what a client sends until its ClientHello is whole.
///
/// It decides nothing but its size: what is no ClientHello is passed on, for the TLS library to refuse.
#[derive(Debug)]
pub struct LookAhead {
    received: Vec<u8>,
    /// How many bytes of `received` are in `message` already or were skipped.
    parsed: usize,
    /// The handshake message so far, without the records' headers.
    message: Vec<u8>,
    limit: usize,
    /// Whether anyone asks for what is offered; otherwise the announced length is all that is looked at.
    is_asked: bool,
}

/// What a ClientHello offers to resume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumptionOffer {
    /// The first [`MAX_IDENTITIES`] TLS 1.3 identities, by their keys; those that can name no stored session are left out.
    pub identities: Vec<StoreKey>,
    /// The session ID, which is a TLS 1.2 session's or a random one.
    pub session_id: Option<StoreKey>,
    /// Whether a TLS 1.2 ticket is offered: then the session ID names nothing (RFC 5077 §3.4).
    pub ticket: bool,
    /// Whether TLS 1.3 is offered.
    pub tls13: bool,
}

/// The ClientHello is larger than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ClientHello has more than {limit} bytes")]
#[non_exhaustive]
pub struct HelloTooLong {
    /// The bound, records' headers included.
    pub limit: usize,
}

impl HelloTooLong {
    /// The fatal alert to end the connection with: illegal_parameter, in a record.
    pub const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 47];
}

impl LookAhead {
    /// Allows `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { received: Vec::new(), parsed: 0, message: Vec::new(), limit, is_asked: true }
    }

    /// Only checks the announced length, and finds nothing offered: where no store is asked.
    pub fn of_length_alone(limit: usize) -> Self {
        Self { is_asked: false, ..Self::new(limit) }
    }

    /// Takes what the client sent. `None`: more is needed.
    ///
    /// # Errors
    /// [`HelloTooLong`], as soon as the length is announced.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<ResumptionOffer>, HelloTooLong> {
        self.received.extend_from_slice(bytes);
        let is_complete = self.join_records();
        let announced = Handshake::announced(&self.message).map_or(0, |(_, length)| length);
        // What follows the hello does not count: early data may.
        let read = if is_complete { self.parsed } else { self.received.len() };
        if announced.max(read) > self.limit {
            return Err(HelloTooLong { limit: self.limit });
        }
        let offered = || if self.is_asked { offered(&self.message).unwrap_or_default() } else { ResumptionOffer::default() };
        Ok(is_complete.then(offered))
    }

    /// Everything that was received, for the TLS library to read again.
    pub fn into_received(self) -> Vec<u8> {
        self.received
    }

    /// Whether the message is whole, or will never be a ClientHello.
    fn join_records(&mut self) -> bool {
        loop {
            match Handshake::announced(&self.message) {
                Some((HandshakeType::CLIENT_HELLO, length)) if length > self.limit => return false,
                Some((HandshakeType::CLIENT_HELLO, length)) if self.is_asked && self.message.len() < length => {}
                Some(_) => return true,
                None => {}
            }
            match Record::parse(self.received.get(self.parsed..).unwrap_or_default()) {
                Ok(Some((record, length))) if record.content_type == ContentType::HANDSHAKE => {
                    self.message.extend_from_slice(record.fragment);
                    self.parsed = self.parsed.saturating_add(length);
                }
                Ok(None) => return false,
                // Not TLS, or not a handshake: the TLS library knows what to say.
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

impl ResumptionOffer {
    /// What to ask a shared store for. `only_tls12`: the server does not speak TLS 1.3, whatever is offered.
    pub fn lookups(&self, only_tls12: bool) -> Vec<Lookup> {
        if self.tls13 && !only_tls12 {
            self.identities.iter().copied().map(Lookup::Take).collect()
        } else if self.ticket {
            Vec::new()
        } else {
            self.session_id.into_iter().map(Lookup::Get).collect()
        }
    }
}

fn offered(message: &[u8]) -> Option<ResumptionOffer> {
    let (message, _) = Handshake::parse(message).ok()??;
    let hello = ClientHello::parse(message.body).ok()?;
    let extensions = hello.extensions.unwrap_or_default();
    let versions = extensions.find(ExtensionType::SUPPORTED_VERSIONS).and_then(|data| SupportedVersions::parse(data).ok());
    let tls13 = versions.is_some_and(|list| list.values.iter().any(|version| version == ProtocolVersion::TLS_1_3));
    let psks = extensions.find(ExtensionType::PRE_SHARED_KEY).and_then(|data| OfferedPsks::parse(data).ok());
    let identities = psks.iter().flat_map(|psks| psks.identities.iter()).take(MAX_IDENTITIES);
    Some(ResumptionOffer {
        identities: identities.filter(|psk| psk.identity.len() == ID_LEN).map(|psk| StoreKey::of(psk.identity)).collect(),
        session_id: (hello.session_id.len() == ID_LEN).then(|| StoreKey::of(hello.session_id)),
        ticket: extensions.find(ExtensionType::SESSION_TICKET).is_some_and(|ticket| !ticket.is_empty()),
        tls13,
    })
}

#[cfg(test)]
mod tests {
    use reprise_wire::extensions::{OfferedPsks, PskBinder, PskIdentity};
    use reprise_wire::{ExtensionsBuilder, List16, frame};

    use super::*;

    fn hello(identities: usize, session_id: &[u8]) -> Vec<u8> {
        let mut extensions = ExtensionsBuilder::new();
        extensions.push(ExtensionType::SUPPORTED_VERSIONS, |out| out.extend([2, 3, 4]));
        if identities > 0 {
            extensions.push(ExtensionType::PRE_SHARED_KEY, |out| {
                let identity = |number: usize| [number as u8; ID_LEN];
                let all: Vec<_> = (0..identities).map(identity).collect();
                let identities = all.iter().map(|id| PskIdentity { identity: id, obfuscated_ticket_age: 0 });
                OfferedPsks::encode(identities, all.iter().map(|_| PskBinder(&[1; 32])), out);
            });
        }
        let mut message = Vec::new();
        frame(&mut message, HandshakeType::CLIENT_HELLO, |out| {
            ClientHello {
                legacy_version: ProtocolVersion::TLS_1_2,
                random: &[7; 32],
                session_id,
                cipher_suites: List16::from_bytes(&[0x13, 1]).unwrap(),
                compression_methods: &[0],
                extensions: Some(extensions.view()),
            }
            .emit(out);
        });
        message
    }

    fn records(message: &[u8], fragment: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for fragment in message.chunks(fragment) {
            Record { content_type: ContentType::HANDSHAKE, version: ProtocolVersion::TLS_1_2, fragment }.emit(&mut out);
        }
        out
    }

    #[test]
    fn every_fragmentation_gives_the_same_hello() {
        let message = hello(3, &[9; 32]);
        let whole = offered(&message).unwrap();
        assert_eq!((whole.identities.len(), whole.tls13, whole.session_id.is_some()), (3, true, true));
        for fragment in [1, 3, 4, 5, 100, message.len()] {
            let bytes = records(&message, fragment);
            for read in [1, 7, bytes.len()] {
                let mut ahead = LookAhead::new(1 << 15);
                let mut found = bytes.chunks(read).map(|chunk| ahead.receive(chunk).unwrap());
                assert_eq!(found.by_ref().last().unwrap(), Some(whole.clone()), "{fragment}, {read}");
                drop(found);
                assert_eq!(ahead.into_received(), bytes);
            }
        }
    }

    #[test]
    fn forty_identities_are_five_lookups() {
        let offered = offered(&hello(40, &[])).unwrap();
        assert_eq!(offered.lookups(false).len(), MAX_IDENTITIES);
        assert!(offered.lookups(true).is_empty());
    }

    #[test]
    fn an_absurd_hello_is_refused_by_its_announced_length() {
        let bytes = records(&hello(600, &[]), 1 << 14);
        let mut ahead = LookAhead::new(1 << 15);
        assert_eq!(ahead.receive(&bytes[..8]), Ok(None));
        assert_eq!(ahead.receive(&bytes[8..]), Err(HelloTooLong { limit: 1 << 15 }));
        // In fragments of one byte it is the records that are absurd.
        let tiny = records(&hello(100, &[]), 1);
        assert!(LookAhead::new(1 << 15).receive(&tiny).is_err());
        // Nothing but empty records never becomes a hello.
        let empty = [22, 3, 3, 0, 0].repeat(7000);
        assert!(LookAhead::new(1 << 15).receive(&empty).is_err());
    }

    #[test]
    fn where_nobody_asks_the_announced_length_is_enough() {
        let bytes = records(&hello(3, &[9; 32]), 1 << 14);
        assert_eq!(LookAhead::of_length_alone(1 << 15).receive(&bytes), Ok(Some(ResumptionOffer::default())));
        let absurd = records(&hello(600, &[]), 1 << 14);
        assert!(LookAhead::of_length_alone(1 << 15).receive(&absurd).is_err());
    }

    #[test]
    fn what_is_no_hello_is_passed_on() {
        for bytes in [&b"GET / HTTP/1.1\r\n"[..], &[21, 3, 3, 0, 2, 1, 0], &[22, 3, 3, 0, 4, 2, 0, 0, 0]] {
            assert_eq!(LookAhead::new(100).receive(bytes), Ok(Some(ResumptionOffer::default())));
        }
    }
}

//! A server of either version that can say any message at any time.

use reprise_engine::key_schedule::tls13::TrafficSecret;
use reprise_model::{Kind, Version};
use reprise_wire::{ContentType, ExtensionType, Handshake, HandshakeType, KeyUpdate, MAX_PLAINTEXT, NamedGroup, Record};

use crate::setting::{Line, Setting};
use crate::{HeardHello, Hello, Transcript, framed, record, sessions, tls12, tls13};

/// What is said in a hello, in EncryptedExtensions or in a CertificateRequest in place of what an honest server would say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wording {
    /// An extension says this, whether it belongs there or not.
    Extension(u16, Vec<u8>),
    /// An extension is missing.
    NoExtension(u16),
    /// Hello: legacy_version.
    Version(u16),
    /// Hello: another suite.
    Suite(u16),
    /// Hello: another session ID.
    SessionId(Vec<u8>),
    /// Hello: a compression method.
    Compression(u8),
    /// Hello: another random.
    Random([u8; 32]),
}

/// A server that has heard a hello.
pub(crate) struct Host {
    setting: Setting,
    server: Server,
    /// TLS 1.3: the application keys in force.
    application: Option<TrafficSecret>,
    /// TLS 1.2: whether its ChangeCipherSpec has been said.
    changed: bool,
    tickets: u32,
}

enum Server {
    Tls12(Box<tls12::Server>),
    Tls13(Box<tls13::Server>),
}

impl Host {
    pub(crate) fn answering(setting: Setting, hello: &[u8]) -> Self {
        let heard = HeardHello::of(hello);
        let server = match setting.version {
            Version::Tls12 => Server::Tls12(Box::new(tls12::Server::to(heard).under(setting.suite))),
            Version::Tls13 => {
                let server = tls13::Server::to(heard).under(setting.suite);
                Server::Tls13(Box::new(if setting.resumes() { server.resuming(&sessions::tls13()) } else { server }))
            }
        };
        Self { setting, server, application: None, changed: false, tickets: 0 }
    }

    /// The message of a line: its content type, and its bytes as an honest server would say them in this place, but for
    /// the wording. `None` where no server could say it, since it lacks the secret.
    pub(crate) fn say(&mut self, line: &Line, wording: &[Wording]) -> Option<(ContentType, Vec<u8>)> {
        let message = match line {
            Line::Wait | Line::End(_) => return None,
            Line::ChangeCipherSpec => return Some((ContentType::CHANGE_CIPHER_SPEC, vec![1])),
            Line::Data(data) => return Some((ContentType::APPLICATION_DATA, data.clone())),
            Line::Alert(level, description) => return Some((ContentType::ALERT, vec![*level, *description])),
            // In no transcript (RFC 5246 §7.4.1.1, RFC 9846 §4.1).
            Line::HelloRequest => framed(HandshakeType::HELLO_REQUEST, |_| {}),
            Line::KeyUpdate(request_update) => {
                let update = KeyUpdate { request_update: *request_update };
                framed(HandshakeType::KEY_UPDATE, |out| update.emit(out))
            }
            Line::Message(msg_type, body) => {
                let message = framed(*msg_type, |out| out.extend_from_slice(body));
                self.server.transcript().add(&message);
                message
            }
            Line::LongCertificate(length) => self.long_certificate(*length),
            Line::Hello => self.hello(wording),
            _ => match &mut self.server {
                Server::Tls12(server) => tls12_message(server, line)?,
                Server::Tls13(server) => {
                    self.tickets += 1;
                    tls13_message(server, line, wording, self.setting, self.tickets)?
                }
            },
        };
        Some((ContentType::HANDSHAKE, message))
    }

    /// The message of this line, so long in honesty, was said in other bytes.
    pub(crate) fn amend(&mut self, line: &Line, length: usize, said: &[u8]) {
        use Line as L;
        match (&mut self.server, line) {
            // In no transcript.
            (_, L::KeyUpdate(_) | L::HelloRequest | L::ChangeCipherSpec | L::Data(_) | L::Alert(..)) => {}
            (Server::Tls13(_), L::Ticket) => {}
            (server, _) => server.transcript().amend(length, said),
        }
    }

    /// Whether these bytes hold the whole of what the server waits for.
    pub(crate) fn is_answered_by(&self, bytes: &[u8]) -> bool {
        let records = whole_records(bytes);
        let place = |wanted: ContentType| records.iter().position(|kind| *kind == wanted);
        match &self.server {
            // ChangeCipherSpec, and Finished after it.
            Server::Tls12(_) if !self.changed => {
                place(ContentType::CHANGE_CIPHER_SPEC).is_some_and(|change| records.len() > change + 1)
            }
            Server::Tls13(server) if server.server_traffic.is_none() => holds_hello(bytes),
            // The early data, then EndOfEarlyData and Finished, or Finished and the data once more.
            Server::Tls13(server) if server.heard.extension(ExtensionType::EARLY_DATA).is_some() => {
                let protected = records.iter().filter(|kind| **kind == ContentType::APPLICATION_DATA);
                server.heard.early.len() + protected.count() >= 3
            }
            _ => place(ContentType::APPLICATION_DATA).is_some(),
        }
    }

    /// What changes once a line has been sent, in these bytes: keys.
    pub(crate) fn go_on_from(&mut self, line: &Line, said: &[u8]) {
        match (&mut self.server, line) {
            (Server::Tls12(server), Line::Hello) => {
                server.abide_by(said);
                if self.setting.resumes() {
                    server.resume(sessions::tls12().master_secret);
                }
            }
            (Server::Tls12(_), Line::ChangeCipherSpec) => self.changed = true,
            (Server::Tls13(server), Line::Hello) => {
                server.abide_by(said);
                server.change_keys();
            }
            (Server::Tls13(server), Line::Finished) if server.master.is_some() && self.application.is_none() => {
                self.application = Some(server.send_application());
            }
            (Server::Tls13(server), Line::KeyUpdate(_)) => {
                if let Some(next) = self.application.as_ref().and_then(|secret| secret.next().ok()) {
                    server.send_under(&next);
                    self.application = Some(next);
                }
            }
            _ => {}
        }
    }

    /// Records with this content under the keys in force, of which each carries at most so many bytes; one even if there
    /// are none.
    pub(crate) fn records(&mut self, content_type: ContentType, content: &[u8], fragment: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut fragments: Vec<&[u8]> = content.chunks(fragment.clamp(1, MAX_PLAINTEXT)).collect();
        if fragments.is_empty() {
            fragments.push(&[]);
        }
        for fragment in fragments {
            let sealer = match &mut self.server {
                Server::Tls12(server) if self.changed => server.sealer.as_mut(),
                // Its ChangeCipherSpec is never protected (RFC 9846 §5).
                Server::Tls13(server) if content_type != ContentType::CHANGE_CIPHER_SPEC => server.sealer.as_mut(),
                _ => None,
            };
            match sealer {
                Some(sealer) => sealer.seal(content_type, fragment, &mut out).unwrap(),
                None => record(content_type, fragment, &mut out),
            }
        }
        out
    }

    /// Takes what the client has sent in its turn.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        match &mut self.server {
            // The second flight of a full handshake, or the last of an abbreviated one.
            Server::Tls12(server) => drop(server.hear(bytes)),
            Server::Tls13(server) if server.server_traffic.is_none() && holds_hello(bytes) => {
                server.hear_hello(HeardHello::of(bytes));
            }
            Server::Tls13(_) => {}
        }
    }

    fn hello(&mut self, wording: &[Wording]) -> Vec<u8> {
        let mut hello = match &self.server {
            Server::Tls12(server) => tls12_hello(server, &self.setting),
            Server::Tls13(server) => server.hello(),
        };
        reword(&mut hello, wording);
        let message = hello.message();
        self.server.transcript().add(&message);
        message
    }

    fn long_certificate(&mut self, length: usize) -> Vec<u8> {
        let filler = vec![7; length];
        let leaf = crate::certificates::certificate(reprise_lab::KeyKind::P256).chain()[0].to_vec();
        match &mut self.server {
            Server::Tls13(server) => server.certificate_with(&[], &[&leaf, &filler], &[]),
            Server::Tls12(server) => server.certificate_of(&[&leaf, &filler]),
        }
    }
}

impl Server {
    fn transcript(&mut self) -> &mut Transcript {
        match self {
            Self::Tls12(server) => &mut server.transcript,
            Self::Tls13(server) => &mut server.transcript,
        }
    }
}

fn tls12_hello(server: &tls12::Server, setting: &Setting) -> Hello {
    let mut hello = server.hello();
    hello.session_id = match setting.kind {
        Kind::Id | Kind::Ticket => server.heard.session_id.clone(),
        _ => vec![5; 32],
    };
    // Who is not asked for a ticket says nothing of one (RFC 5077 §3.2).
    if setting.renews_ticket() && server.heard.extension(ExtensionType::SESSION_TICKET).is_some() {
        hello.set(ExtensionType::SESSION_TICKET, &[]);
    }
    if setting.alpn {
        hello.set(ExtensionType::ALPN, &tls13::protocols(&[b"http/1.1"]));
    }
    hello
}

fn tls12_message(server: &mut tls12::Server, line: &Line) -> Option<Vec<u8>> {
    use reprise_lab::KeyKind;
    Some(match line {
        Line::Certificate if server.suite.authentication == reprise_engine::suite::Authentication::Rsa => {
            server.certificate(KeyKind::Rsa2048)
        }
        Line::Certificate => server.certificate(KeyKind::P256),
        Line::ServerKeyExchange => server.server_key_exchange(),
        Line::CertificateRequest => server.certificate_request(),
        Line::ServerHelloDone => server.done(),
        Line::Ticket if server.heard.extension(ExtensionType::SESSION_TICKET).is_some() => server.ticket(b"ticket"),
        Line::Finished if server.master.is_some() => server.finished(),
        _ => return None,
    })
}

fn tls13_message(
    server: &mut tls13::Server,
    line: &Line,
    wording: &[Wording],
    setting: Setting,
    number: u32,
) -> Option<Vec<u8>> {
    Some(match line {
        Line::Retry => {
            let mut retry = server.retry(NamedGroup::SECP256R1);
            reword(&mut retry, wording);
            let message = retry.message();
            server.begin_again();
            server.transcript.add(&message);
            message
        }
        Line::EncryptedExtensions => {
            let mut list = Vec::new();
            if setting.kind == Kind::Early && server.heard.extension(ExtensionType::EARLY_DATA).is_some() {
                list.push((ExtensionType::EARLY_DATA, Vec::new()));
            }
            if setting.alpn {
                list.push((ExtensionType::ALPN, tls13::protocols(&[b"http/1.1"])));
            }
            reword_list(&mut list, wording);
            server.encrypted_extensions(&list)
        }
        Line::CertificateRequest => {
            // ecdsa_secp256r1_sha256.
            let mut list = vec![(ExtensionType::SIGNATURE_ALGORITHMS, vec![0, 2, 4, 3])];
            reword_list(&mut list, wording);
            server.certificate_request(&list)
        }
        Line::Certificate => server.certificate(),
        Line::CertificateVerify => server.certificate_verify(),
        Line::Finished if server.server_traffic.is_some() => server.finished(),
        Line::Ticket => tls13::new_session_ticket(&number.to_be_bytes(), &number.to_be_bytes()),
        _ => return None,
    })
}

fn reword(hello: &mut Hello, wording: &[Wording]) {
    for wording in wording {
        match wording {
            Wording::Version(version) => hello.legacy_version = reprise_wire::ProtocolVersion(*version),
            Wording::Suite(suite) => hello.suite = reprise_wire::CipherSuite(*suite),
            Wording::SessionId(id) => hello.session_id = id.iter().copied().take(32).collect(),
            Wording::Compression(method) => hello.compression = *method,
            Wording::Random(random) => hello.random = *random,
            Wording::Extension(..) | Wording::NoExtension(_) => {}
        }
    }
    reword_list(&mut hello.extensions, wording);
}

fn reword_list(list: &mut Vec<(ExtensionType, Vec<u8>)>, wording: &[Wording]) {
    for wording in wording {
        match wording {
            Wording::Extension(extension, data) => {
                list.retain(|(known, _)| known.0 != *extension);
                list.push((ExtensionType(*extension), data.clone()));
            }
            Wording::NoExtension(extension) => list.retain(|(known, _)| known.0 != *extension),
            _ => {}
        }
    }
}

/// Whether a client's flight has a whole hello in the clear, and ends with a record.
pub(crate) fn holds_hello(bytes: &[u8]) -> bool {
    let (mut rest, mut messages) = (bytes, Vec::new());
    while let Ok(Some((record, consumed))) = Record::parse(rest) {
        if record.content_type == ContentType::HANDSHAKE {
            messages.extend_from_slice(record.fragment);
        }
        rest = &rest[consumed..];
    }
    rest.is_empty()
        && matches!(Handshake::parse(&messages), Ok(Some((message, _))) if message.msg_type == HandshakeType::CLIENT_HELLO)
}

/// The content types of the records that have come whole.
fn whole_records(mut bytes: &[u8]) -> Vec<ContentType> {
    let mut kinds = Vec::new();
    while let Ok(Some((record, consumed))) = Record::parse(bytes) {
        kinds.push(record.content_type);
        bytes = &bytes[consumed..];
    }
    kinds
}

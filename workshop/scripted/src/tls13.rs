//! A TLS 1.3 server, message by message.

use reprise_engine::key_schedule::tls13::{EarlySecret, HandshakeSecret, MasterSecret, TrafficSecret};
use reprise_engine::protection::{Opener, Sealer};
use reprise_engine::suite::{Suite, find};
use reprise_engine::{Connection, Error, KeyShare, SharedSecret, Tls13Ticket};
use reprise_lab::KeyKind;
use reprise_model::Version;
use reprise_wire::codec::{vec8, vec24};
use reprise_wire::extensions::{KeyShareClientHello, ProtocolNameList};
use reprise_wire::{
    CertificateVerify, CipherSuite, ContentType, ExtensionType, HELLO_RETRY_REQUEST_RANDOM, Handshake, HandshakeType,
    NamedGroup, NewSessionTicketTls13, ProtocolVersion, ServerHello, SignatureScheme,
};

use crate::certificates::certificate;
use crate::{HeardHello, Hello, NOW, Transcript, clear, extensions, framed, hash, share, sign};

/// A server that has received a ClientHello.
pub struct Server {
    /// The client's hello, the second one if it sent two.
    pub heard: HeardHello,
    /// The suite of its keys.
    pub suite: &'static Suite,
    /// All messages so far, in the form in which they are hashed.
    pub(crate) transcript: Transcript,
    shared: Option<SharedSecret>,
    public: Vec<u8>,
    /// The PSK that is taken.
    psk: Option<Vec<u8>>,
    secret: Option<HandshakeSecret>,
    client_traffic: Option<TrafficSecret>,
    pub(crate) server_traffic: Option<TrafficSecret>,
    pub(crate) master: Option<MasterSecret>,
    pub(crate) sealer: Option<Sealer>,
}

impl Server {
    /// Takes the client's first hello.
    pub fn answering(client: &mut Connection) -> Self {
        Self::to(HeardHello::from(client))
    }

    /// Answers this hello.
    pub fn to(heard: HeardHello) -> Self {
        let transcript = Transcript(heard.message.clone());
        let mut server = Self {
            heard,
            suite: find(CipherSuite::TLS_AES_128_GCM_SHA256).unwrap(),
            transcript,
            shared: None,
            public: Vec::new(),
            psk: None,
            secret: None,
            client_traffic: None,
            server_traffic: None,
            master: None,
            sealer: None,
        };
        server.agree();
        server
    }

    /// Chooses this suite.
    pub fn under(mut self, suite: CipherSuite) -> Self {
        self.suite = find(suite).unwrap();
        self
    }

    /// Takes this ticket, which the client offers.
    pub fn resuming(self, ticket: &Tls13Ticket) -> Self {
        self.taking(ticket.psk.as_ref())
    }

    /// Takes the first PSK of the hello.
    pub fn taking(mut self, psk: &[u8]) -> Self {
        self.psk = Some(psk.to_vec());
        self
    }

    /// Says no key share: the keys come from the PSK alone.
    pub fn without_share(mut self) -> Self {
        self.shared = None;
        self.public.clear();
        self
    }

    fn agree(&mut self) {
        // A client of TLS 1.2 has none.
        let Some(shares) = self.heard.extension(ExtensionType::KEY_SHARE) else { return };
        let shares = KeyShareClientHello::parse(shares).unwrap();
        // As a server that knows no hybrid.
        let theirs = shares.client_shares.iter().find(|share| share.group != NamedGroup::X25519MLKEM768).unwrap();
        let ours = share(theirs.group);
        self.public =
            [&theirs.group.0.to_be_bytes()[..], &(ours.public().len() as u16).to_be_bytes(), ours.public()].concat();
        self.shared = Some(ours.agree(theirs.key_exchange).unwrap());
    }

    /// The ServerHello that an honest server would send.
    pub fn hello(&self) -> Hello {
        let mut hello = Hello {
            legacy_version: ProtocolVersion::TLS_1_2,
            random: [9; 32],
            session_id: self.heard.session_id.clone(),
            suite: self.suite.id,
            compression: 0,
            extensions: vec![
                (ExtensionType::SUPPORTED_VERSIONS, vec![3, 4]),
                (ExtensionType::KEY_SHARE, self.public.clone()),
            ],
        };
        if self.public.is_empty() {
            hello.remove(ExtensionType::KEY_SHARE);
        }
        if self.psk.is_some() {
            hello.set(ExtensionType::PRE_SHARED_KEY, &[0, 0]);
        }
        hello
    }

    /// The HelloRetryRequest that an honest server would send that wants this group.
    pub fn retry(&self, group: reprise_wire::NamedGroup) -> Hello {
        let mut hello = Hello { random: HELLO_RETRY_REQUEST_RANDOM, ..self.hello() };
        hello.set(ExtensionType::KEY_SHARE, &group.0.to_be_bytes());
        hello.remove(ExtensionType::PRE_SHARED_KEY);
        hello
    }

    /// Says a hello, honest or not; the keys are those that an honest one would lead to.
    pub fn say(&mut self, hello: &Hello) -> Vec<u8> {
        let message = hello.message();
        if hello.random == HELLO_RETRY_REQUEST_RANDOM {
            self.begin_again();
        }
        self.transcript.add(&message);
        if hello.random != HELLO_RETRY_REQUEST_RANDOM {
            self.change_keys();
        }
        clear(ContentType::HANDSHAKE, &message)
    }

    /// The first hello counts by its hash alone, now that the server asks for a second (RFC 9846 §4.1).
    pub fn begin_again(&mut self) {
        let first = self.transcript.hash(self.suite.hash);
        self.transcript = Transcript(framed(HandshakeType::MESSAGE_HASH, |out| out.extend_from_slice(&first)));
    }

    /// From here on both sides send under their handshake keys.
    pub fn change_keys(&mut self) {
        let early = EarlySecret::new(self.suite.hash, self.psk.as_deref()).unwrap();
        let secret = early.handshake(self.shared.as_ref().map(|shared| &shared[..])).unwrap();
        let server_traffic = secret.server_traffic(&self.hash()).unwrap();
        self.send_under(&server_traffic);
        self.server_traffic = Some(server_traffic);
        self.client_traffic = Some(secret.client_traffic(&self.hash()).unwrap());
        self.secret = Some(secret);
    }

    /// Goes on as a hello demands that was said, if it can be read: in its suite, and with a PSK only if it takes one.
    pub fn abide_by(&mut self, hello: &[u8]) {
        let Ok(Some((message, _))) = Handshake::parse(hello) else { return };
        let Ok(hello) = ServerHello::parse(message.body) else { return };
        self.suite = find(hello.cipher_suite).filter(|suite| suite.version == Version::Tls13).unwrap_or(self.suite);
        let takes = |extension| hello.extensions.is_some_and(|list| list.find(extension).is_some());
        self.psk = self.psk.take().filter(|_| takes(ExtensionType::PRE_SHARED_KEY));
    }

    /// Takes the client's second hello.
    pub fn hear_again(&mut self, client: &mut Connection) {
        self.hear_hello(HeardHello::from(client));
    }

    /// Takes this hello for the client's second one.
    pub fn hear_hello(&mut self, heard: HeardHello) {
        self.heard = heard;
        self.transcript.add(&self.heard.message);
        self.agree();
    }

    // Messages: each is added to the transcript as it is made.

    /// EncryptedExtensions with these.
    pub fn encrypted_extensions(&mut self, list: &[(ExtensionType, Vec<u8>)]) -> Vec<u8> {
        let list = extensions(list);
        self.transcript.message(HandshakeType::ENCRYPTED_EXTENSIONS, |out| list.view().emit(out))
    }

    /// A CertificateRequest with these extensions.
    pub fn certificate_request(&mut self, list: &[(ExtensionType, Vec<u8>)]) -> Vec<u8> {
        let list = extensions(list);
        self.transcript.message(HandshakeType::CERTIFICATE_REQUEST, |out| {
            vec8(out, |_| {});
            list.view().emit(out);
        })
    }

    /// The chain with a P-256 key.
    pub fn certificate(&mut self) -> Vec<u8> {
        let chain: Vec<&[u8]> = certificate(KeyKind::P256).chain().iter().map(|der| &**der).collect();
        self.certificate_with(&[], &chain, &[])
    }

    /// A Certificate of this context and chain, with the same extensions at each entry.
    pub fn certificate_with(&mut self, context: &[u8], chain: &[&[u8]], list: &[(ExtensionType, Vec<u8>)]) -> Vec<u8> {
        let list = extensions(list);
        self.transcript.message(HandshakeType::CERTIFICATE, |out| {
            vec8(out, |out| out.extend_from_slice(context));
            vec24(out, |out| {
                for der in chain {
                    vec24(out, |out| out.extend_from_slice(der));
                    list.view().emit(out);
                }
            });
        })
    }

    /// The server's signature over all messages so far.
    pub fn certificate_verify(&mut self) -> Vec<u8> {
        self.certificate_verify_as(SignatureScheme::ECDSA_SECP256R1_SHA256, |_| {})
    }

    /// A signature that claims another scheme, or is spoilt.
    pub fn certificate_verify_as(&mut self, scheme: SignatureScheme, spoil: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let signed = [&[b' '; 64][..], b"TLS 1.3, server CertificateVerify\0", &self.hash()].concat();
        let mut signature = sign(&signed);
        spoil(&mut signature);
        self.transcript.message(HandshakeType::CERTIFICATE_VERIFY, |out| {
            CertificateVerify { scheme, signature: &signature }.emit(out);
        })
    }

    /// The Finished; from here on the application secrets are known.
    pub fn finished(&mut self) -> Vec<u8> {
        let verify_data = self.server_traffic.as_ref().unwrap().finished(&self.hash()).unwrap();
        self.master = self.secret.take().map(|secret| secret.master().unwrap()).or(self.master.take());
        self.transcript.message(HandshakeType::FINISHED, |out| out.extend_from_slice(verify_data.as_ref()))
    }

    /// EncryptedExtensions to Finished, as an honest server would send them.
    pub fn flight(&mut self) -> Vec<Vec<u8>> {
        let mut flight = vec![self.encrypted_extensions(&[])];
        if self.psk.is_none() {
            flight.extend([self.certificate(), self.certificate_verify()]);
        }
        flight.push(self.finished());
        flight
    }

    // Records.

    /// Says an honest hello, which the client takes.
    pub fn greet(&mut self, client: &mut Connection) {
        let hello = self.hello();
        client.receive(NOW, &self.say(&hello)).unwrap();
    }

    /// Says an honest hello and all that follows it, and the client takes it.
    pub fn complete(&mut self, client: &mut Connection) {
        self.greet(client);
        let flight = self.flight();
        client.receive(NOW, &self.handshake(&flight)).unwrap();
    }

    /// A record under the keys in force.
    pub fn record(&mut self, content_type: ContentType, fragment: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.sealer.as_mut().unwrap().seal(content_type, fragment, &mut out).unwrap();
        out
    }

    /// Messages in one record.
    pub fn handshake(&mut self, messages: &[Vec<u8>]) -> Vec<u8> {
        self.record(ContentType::HANDSHAKE, &messages.concat())
    }

    /// From here on the server sends under its application keys.
    pub fn send_application(&mut self) -> TrafficSecret {
        let secret = self.master.as_ref().unwrap().server_traffic(&self.hash()).unwrap();
        self.send_under(&secret);
        secret
    }

    /// From here on the server sends under this secret.
    pub fn send_under(&mut self, secret: &TrafficSecret) {
        self.sealer = Some(Sealer::tls13(self.suite, secret).unwrap());
    }

    /// Opens what the client sends under its handshake keys: content type and content of each protected record.
    pub fn open(&self, bytes: &[u8]) -> Vec<(ContentType, Vec<u8>)> {
        let mut opener = Opener::tls13(self.suite, self.client_traffic.as_ref().unwrap()).unwrap();
        open_under(&mut opener, crate::records(bytes))
    }

    /// What opens the early data that followed the hello.
    pub fn early_opener(&self) -> Opener {
        let early = EarlySecret::new(self.suite.hash, self.psk.as_deref()).unwrap();
        let secret = early.client_early_traffic(&hash(self.suite.hash, &self.heard.message)).unwrap();
        Opener::tls13(self.suite, &secret).unwrap()
    }

    /// All messages so far, in the form in which they are hashed.
    pub fn said_and_heard(&self) -> &[u8] {
        &self.transcript.0
    }

    fn hash(&self) -> Vec<u8> {
        self.transcript.hash(self.suite.hash)
    }
}

/// Content type and content of each protected record.
pub fn open_under(opener: &mut Opener, records: Vec<(ContentType, Vec<u8>)>) -> Vec<(ContentType, Vec<u8>)> {
    let protected = records.into_iter().filter(|(outer, _)| *outer == ContentType::APPLICATION_DATA);
    let open = |(outer, fragment): (ContentType, Vec<u8>)| {
        let mut record = clear(outer, &fragment);
        let (content_type, place) = opener.open(&mut record).unwrap();
        (content_type, record[place].to_vec())
    };
    protected.map(open).collect()
}

/// The server has sent its hello.
pub fn greeted(client: &mut Connection) -> Server {
    let mut server = Server::answering(client);
    server.greet(client);
    server
}

/// The handshake is done on both sides, and the server sends under its application keys.
pub fn connected(client: &mut Connection) -> Server {
    let mut server = Server::answering(client);
    server.complete(client);
    let _ = client.take_outgoing(NOW);
    server.send_application();
    server
}

/// What the client makes of a ServerHello that was edited.
pub fn refusal_of_hello(client: &mut Connection, edit: impl FnOnce(&mut Hello)) -> Error {
    let mut server = Server::answering(client);
    let mut hello = server.hello();
    edit(&mut hello);
    client.receive(NOW, &server.say(&hello)).unwrap_err()
}

/// A NewSessionTicket that is good for a day.
pub fn new_session_ticket(nonce: &[u8], ticket: &[u8]) -> Vec<u8> {
    framed(HandshakeType::NEW_SESSION_TICKET, |out| {
        let extensions = Default::default();
        NewSessionTicketTls13 { lifetime: 86_400, age_add: 7, nonce, ticket, extensions }.emit(out);
    })
}

/// `name_list` of ALPN.
pub fn protocols(names: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    ProtocolNameList::encode(names.iter().copied(), &mut out);
    out
}

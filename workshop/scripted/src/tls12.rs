//! A TLS 1.2 server, message by message.

use aws_lc_rs::rsa::{Pkcs1PrivateDecryptingKey, PrivateDecryptingKey};
use reprise_engine::key_schedule::tls12::{KeyBlock, MasterSecret};
use reprise_engine::protection::{Opener, Sealer};
use reprise_engine::suite::{KeyExchange, Suite, find};
use reprise_engine::{Connection, KeyShare};
use reprise_lab::KeyKind;
use reprise_model::Version;
use reprise_wire::codec::vec24;
use reprise_wire::{
    CipherSuite, ClientKeyExchange, ContentType, ExtensionType, Handshake, HandshakeType, NamedGroup, NewSessionTicketTls12,
    ProtocolVersion, ServerHello, ServerKeyExchangeEcdhe, SignatureScheme,
};

use crate::certificates::certificate;
use crate::{HeardHello, Hello, NOW, Transcript, clear, records, share, sign};

/// What a ChangeCipherSpec is on the wire.
pub const CHANGE_CIPHER_SPEC: [u8; 6] = [20, 3, 3, 0, 1, 1];

/// A server that has received a ClientHello.
pub struct Server {
    /// The client's hello.
    pub heard: HeardHello,
    /// The suite of its keys.
    pub suite: &'static Suite,
    /// The group of its key exchange.
    pub group: NamedGroup,
    pub(crate) transcript: Transcript,
    server_random: [u8; 32],
    extended: bool,
    /// The master secret, once there is one.
    pub master: Option<MasterSecret>,
    keys: Option<KeyBlock>,
    pub(crate) sealer: Option<Sealer>,
}

impl Server {
    /// Takes the client's hello from it.
    pub fn answering(client: &mut Connection) -> Self {
        Self::to(HeardHello::from(client))
    }

    /// Answers this hello.
    pub fn to(heard: HeardHello) -> Self {
        let transcript = Transcript(heard.message.clone());
        Self {
            heard,
            suite: find(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256).unwrap(),
            group: NamedGroup::X25519,
            transcript,
            server_random: [9; 32],
            extended: true,
            master: None,
            keys: None,
            sealer: None,
        }
    }

    /// Chooses this suite.
    pub fn under(mut self, suite: CipherSuite) -> Self {
        self.suite = find(suite).unwrap();
        self
    }

    /// The ServerHello that an honest server would send: a full handshake, no ID, no ticket.
    pub fn hello(&self) -> Hello {
        Hello {
            legacy_version: ProtocolVersion::TLS_1_2,
            random: self.server_random,
            session_id: Vec::new(),
            suite: self.suite.id,
            compression: 0,
            extensions: vec![
                (ExtensionType::EXTENDED_MASTER_SECRET, Vec::new()),
                (ExtensionType::RENEGOTIATION_INFO, vec![0]),
            ],
        }
    }

    /// Says a hello, honest or not.
    pub fn say(&mut self, hello: &Hello) -> Vec<u8> {
        let message = hello.message();
        self.transcript.add(&message);
        self.abide_by(&message);
        clear(ContentType::HANDSHAKE, &message)
    }

    /// Goes on as a hello demands that was said, if it can be read: its random, its suite, its derivation of the secret.
    pub fn abide_by(&mut self, hello: &[u8]) {
        let Ok(Some((message, _))) = Handshake::parse(hello) else { return };
        let Ok(hello) = ServerHello::parse(message.body) else { return };
        self.server_random = *hello.random;
        self.extended = hello.extensions.is_some_and(|list| list.find(ExtensionType::EXTENDED_MASTER_SECRET).is_some());
        self.suite = find(hello.cipher_suite).filter(|suite| suite.version == Version::Tls12).unwrap_or(self.suite);
    }

    /// A CertificateRequest for a certificate of any authority.
    pub fn certificate_request(&mut self) -> Vec<u8> {
        self.transcript.message(HandshakeType::CERTIFICATE_REQUEST, |out| {
            // ecdsa_sign (RFC 8422 §5.5); ecdsa_secp256r1_sha256; no names.
            out.extend_from_slice(&[1, 64, 0, 2, 4, 3, 0, 0]);
        })
    }

    // Messages: each is added to the transcript as it is made.

    /// The chain with a key of this kind.
    pub fn certificate(&mut self, key: KeyKind) -> Vec<u8> {
        let chain: Vec<&[u8]> = certificate(key).chain().iter().map(|der| &**der).collect();
        self.certificate_of(&chain)
    }

    /// A Certificate of this chain.
    pub fn certificate_of(&mut self, chain: &[&[u8]]) -> Vec<u8> {
        self.transcript.message(HandshakeType::CERTIFICATE, |out| {
            vec24(out, |out| chain.iter().for_each(|der| vec24(out, |out| out.extend_from_slice(der))));
        })
    }

    /// The server's key share, signed.
    pub fn server_key_exchange(&mut self) -> Vec<u8> {
        let public = share(self.group).public().to_vec();
        self.server_key_exchange_as(&public, SignatureScheme::ECDSA_SECP256R1_SHA256, |_| {})
    }

    /// A key share, a scheme and a signature other than its own.
    pub fn server_key_exchange_as(
        &mut self,
        public: &[u8],
        scheme: SignatureScheme,
        spoil: impl FnOnce(&mut Vec<u8>),
    ) -> Vec<u8> {
        let mut signed = [self.heard.random, self.server_random].concat();
        ServerKeyExchangeEcdhe::emit_params(self.group, public, &mut signed);
        let mut signature = sign(&signed);
        spoil(&mut signature);
        let group = self.group;
        self.transcript.message(HandshakeType::SERVER_KEY_EXCHANGE, |out| {
            ServerKeyExchangeEcdhe { group, public, params_raw: &[], scheme, signature: &signature }.emit(out);
        })
    }

    /// ServerHelloDone.
    pub fn done(&mut self) -> Vec<u8> {
        self.transcript.message(HandshakeType::SERVER_HELLO_DONE, |_| {})
    }

    /// NewSessionTicket.
    pub fn ticket(&mut self, ticket: &[u8]) -> Vec<u8> {
        self.transcript
            .message(HandshakeType::NEW_SESSION_TICKET, |out| NewSessionTicketTls12 { lifetime_hint: 300, ticket }.emit(out))
    }

    /// The Finished over all that was said and heard.
    pub fn finished(&mut self) -> Vec<u8> {
        let transcript = self.transcript.hash(self.suite.hash);
        let verify_data = self.master.as_ref().unwrap().server_finished(self.suite, &transcript).unwrap();
        self.transcript.message(HandshakeType::FINISHED, |out| out.extend_from_slice(&verify_data))
    }

    /// Certificate to ServerHelloDone, as an honest server would send them.
    pub fn flight(&mut self) -> Vec<Vec<u8>> {
        if self.suite.key_exchange == KeyExchange::Rsa {
            return vec![self.certificate(KeyKind::Rsa2048), self.done()];
        }
        vec![self.certificate(KeyKind::P256), self.server_key_exchange(), self.done()]
    }

    /// Takes the client's flight up to its Finished, and verifies that.
    pub fn hear_flight(&mut self, client: &mut Connection) {
        self.hear(&client.take_outgoing(NOW)).expect("the client's flight is not as it should be");
    }

    /// Takes the client's flight up to its Finished from what it has sent, and verifies that. `None` if it is not what
    /// an honest server expects.
    pub fn hear(&mut self, bytes: &[u8]) -> Option<()> {
        let mut records = records(bytes).into_iter();
        let before_change = records.by_ref().take_while(|(kind, _)| *kind == ContentType::HANDSHAKE);
        let flight: Vec<u8> = before_change.flat_map(|(_, fragment)| fragment).collect();
        let mut rest = &flight[..];
        while let Ok(Some((message, length))) = Handshake::parse(rest) {
            self.transcript.add(message.raw);
            if message.msg_type == HandshakeType::CLIENT_KEY_EXCHANGE {
                let master = self.agree(message.body)?;
                self.resume(master);
            }
            rest = &rest[length..];
        }
        self.hear_finished(&records.next()?)
    }

    fn agree(&self, exchange: &[u8]) -> Option<MasterSecret> {
        let premaster = match self.suite.key_exchange {
            KeyExchange::Rsa => decrypt(exchange)?,
            _ => match ClientKeyExchange::parse_ecdhe(exchange).ok()? {
                ClientKeyExchange::Ecdhe { public } => share(self.group).agree(public).ok()?.to_vec(),
                ClientKeyExchange::Rsa { .. } => return None,
            },
        };
        let master = if self.extended {
            MasterSecret::extended(self.suite, &premaster, &self.transcript.hash(self.suite.hash))
        } else {
            MasterSecret::new(self.suite, &premaster, &self.heard.random, &self.server_random)
        };
        master.ok()
    }

    fn hear_finished(&mut self, (content_type, fragment): &(ContentType, Vec<u8>)) -> Option<()> {
        let mut opener = Opener::tls12(self.suite, &self.keys.as_ref()?.client).ok()?;
        let mut record = clear(*content_type, fragment);
        let (_, place) = opener.open(&mut record).ok()?;
        let message = record[place].to_vec();
        let transcript = self.transcript.hash(self.suite.hash);
        let due = self.master.as_ref()?.client_finished(self.suite, &transcript).ok()?;
        let (finished, _) = Handshake::parse(&message).ok()??;
        self.transcript.add(&message);
        (finished.body == due).then_some(())
    }

    /// Keys from the master secret of a session.
    pub fn resume(&mut self, master: MasterSecret) {
        let keys = master.key_block(self.suite, &self.heard.random, &self.server_random).unwrap();
        self.sealer = Some(Sealer::tls12(self.suite, &keys.server).unwrap());
        self.keys = Some(keys);
        self.master = Some(master);
    }

    /// A record under the server's keys.
    pub fn record(&mut self, content_type: ContentType, fragment: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.sealer.as_mut().unwrap().seal(content_type, fragment, &mut out).unwrap();
        out
    }

    /// ChangeCipherSpec and Finished.
    pub fn end(&mut self) -> Vec<u8> {
        let finished = self.finished();
        [&CHANGE_CIPHER_SPEC[..], &self.record(ContentType::HANDSHAKE, &finished)].concat()
    }
}

/// Messages in one record in the clear.
pub fn handshake(messages: &[Vec<u8>]) -> Vec<u8> {
    clear(ContentType::HANDSHAKE, &messages.concat())
}

/// The server has sent its hello, as edited, and the client has taken it.
pub fn greeted_with(client: &mut Connection, edit: impl FnOnce(&mut Hello)) -> Server {
    let mut server = Server::answering(client);
    let mut hello = server.hello();
    edit(&mut hello);
    client.receive(NOW, &server.say(&hello)).unwrap();
    server
}

/// The client has sent its Finished, and the server has verified it.
pub fn half_done(client: &mut Connection, edit: impl FnOnce(&mut Hello)) -> Server {
    let mut server = greeted_with(client, edit);
    let flight = server.flight();
    client.receive(NOW, &handshake(&flight)).unwrap();
    server.hear_flight(client);
    server
}

/// The handshake is done on both sides.
pub fn connected(client: &mut Connection) -> Server {
    let mut server = half_done(client, |_| {});
    client.receive(NOW, &server.end()).unwrap();
    server
}

fn decrypt(exchange: &[u8]) -> Option<Vec<u8>> {
    let ClientKeyExchange::Rsa { encrypted } = ClientKeyExchange::parse_rsa(exchange).ok()? else { return None };
    let key = PrivateDecryptingKey::from_pkcs8(certificate(KeyKind::Rsa2048).key_der().secret_der()).unwrap();
    let key = Pkcs1PrivateDecryptingKey::new(key).unwrap();
    let mut premaster = vec![0; key.min_output_size()];
    key.decrypt(encrypted, &mut premaster).ok().map(|premaster| premaster.to_vec())
}

//! What the wire says of a handshake, whatever the libraries at its ends say: read from the messages that are in the clear.

use reprise_model::{Kind, PskMode, Version};
use reprise_wire::extensions::{
    KeyShareClientHello, KeyShareServerHello, OfferedPsks, RecordSizeLimit, SelectedPsk, SelectedVersion,
};
use reprise_wire::{
    CipherSuite, ClientHello, ContentType, ExtensionType, Extensions, Handshake, HandshakeType, NamedGroup, ProtocolVersion,
    Record, ServerHello, ServerKeyExchangeDhe, ServerKeyExchangeEcdhe,
};

use crate::certificates::PSK_IDENTITY;
use crate::failed::Failed;

/// What the wire says of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireFacts {
    /// The version.
    pub version: Version,
    /// The suite.
    pub suite: CipherSuite,
    /// The group of the key exchange; of a finite field under TLS 1.2, that of its size. `None` where there was none.
    pub group: Option<NamedGroup>,
    /// The kind.
    pub kind: Kind,
    /// How a PSK of TLS 1.3 was used.
    pub psk_mode: Option<PskMode>,
    /// Whether a HelloRetryRequest cost a round trip.
    pub retried: bool,
    /// TLS 1.2: whether the client sent a certificate; under TLS 1.3 nobody outside sees it.
    pub client_certificate: Option<bool>,
    /// The last bytes of the server's ephemeral public key. `None` where there was none.
    pub server_share: Option<u64>,
    /// NewSessionTickets: under TLS 1.3 the encrypted records that the server sends once the client's Finished was sent, which are nothing
    /// else where the server has no data to send and none comes before.
    pub tickets: u64,
    /// The most bytes of data that the client takes in a record, by its ClientHello; `None` where it says nothing.
    pub client_max_fragment: Option<u16>,
    /// The same of the server, by its ServerHello; under TLS 1.3 nobody outside sees it.
    pub server_max_fragment: Option<u16>,
    /// TLS 1.3: whether the client has a key share of X25519MLKEM768, and one of another group.
    pub shares_hybrid: bool,
}

/// Reads along. It looks at nothing but what is in the clear.
#[derive(Default)]
pub struct Witness {
    client: Side,
    server: Side,
    hello: Option<Offered>,
    chosen: Option<Chosen>,
    retried: bool,
    server_certificate: bool,
    /// TLS 1.2: whether the handshake is not abbreviated.
    hello_done: bool,
    client_certificate: bool,
    group: Option<NamedGroup>,
    server_share: Option<u64>,
    tickets: u64,
    /// TLS 1.3: whether the client has answered the server's flight.
    client_answered: bool,
    /// Whether an encrypted record of the client's is shorter than any Finished.
    ends_early_data: bool,
}

/// A Finished under SHA-256 in a record of TLS 1.3, without padding: header of the message, hash, type of the content, tag.
const SHORTEST_FINISHED: usize = 4 + 32 + 1 + 16;

/// The messages of one side, until its bytes are encrypted.
#[derive(Default)]
struct Side {
    messages: Vec<u8>,
    is_encrypted: bool,
}

/// What of a ClientHello tells how it would resume.
struct Offered {
    has_ticket: bool,
    has_early_data: bool,
    has_id: bool,
    has_psk: bool,
    has_ml_dsa: bool,
    /// The place of the external PSK among those that are offered.
    external_psk: Option<u16>,
    max_fragment: Option<Fragment>,
    shares_hybrid: bool,
}

struct Chosen {
    version: Version,
    suite: CipherSuite,
    /// TLS 1.3: the place of the PSK that was taken.
    psk: Option<u16>,
    key_share: Option<NamedGroup>,
    max_fragment: Option<Fragment>,
}

/// By which extension one side limits what it is sent.
#[derive(Clone, Copy)]
enum Fragment {
    /// RFC 6066 §4.
    Length(u16),
    /// RFC 8449; under TLS 1.3 the content's type counts.
    Limit(u16),
}

impl Witness {
    /// The client sends these records.
    pub fn client_sends(&mut self, bytes: &[u8]) {
        self.ends_early_data |= encrypted(bytes).any(|length| length < SHORTEST_FINISHED);
        self.client_answered |= self.has_chosen_tls13() && encrypted(bytes).next().is_some();
        let mut rest = Some(bytes);
        while let Some(records) = rest {
            rest = self.client.record(records, self.is_between_hellos());
            while let Some((what, body)) = self.client.message() {
                match what {
                    HandshakeType::CLIENT_HELLO => self.client_hello(&body),
                    // An empty list is three bytes of zero.
                    HandshakeType::CERTIFICATE => self.client_certificate = body.len() > 3,
                    _ => {}
                }
            }
        }
    }

    /// The server sends these records.
    pub fn server_sends(&mut self, bytes: &[u8]) {
        if self.client_answered {
            self.tickets += encrypted(bytes).count() as u64;
        }
        let mut rest = Some(bytes);
        while let Some(records) = rest {
            rest = self.server.record(records, self.is_between_hellos());
            while let Some((what, body)) = self.server.message() {
                match what {
                    HandshakeType::SERVER_HELLO => self.server_hello(&body),
                    HandshakeType::CERTIFICATE => self.server_certificate = true,
                    HandshakeType::SERVER_KEY_EXCHANGE => {
                        self.group = group_of_tls12(&body, self.has_psk_suite());
                        self.server_share = share_of_tls12(&body, self.has_psk_suite()).filter(|_| self.group.is_some());
                    }
                    HandshakeType::SERVER_HELLO_DONE => self.hello_done = true,
                    HandshakeType::NEW_SESSION_TICKET => self.tickets += 1,
                    _ => {}
                }
                // What follows a ServerHello of TLS 1.3 is encrypted.
                self.server.is_encrypted |= self.has_chosen_tls13();
            }
        }
    }

    /// What there was, of a handshake that is complete.
    ///
    /// # Errors
    /// Where no ServerHello was seen.
    pub fn facts(&self) -> Result<WireFacts, Failed> {
        let nothing = || Failed::because("both say that the handshake is complete, and no ServerHello was seen");
        self.observed().ok_or_else(nothing)
    }

    /// What there was; `None` where the server has chosen nothing.
    pub fn observed(&self) -> Option<WireFacts> {
        let chosen = self.chosen.as_ref()?;
        let is_tls13 = chosen.version == Version::Tls13;
        let by_ticket = self.hello.as_ref().is_some_and(|hello| hello.has_ticket);
        let kind = match chosen.version {
            Version::Tls13 if chosen.psk.is_some() && self.is_external(chosen.psk) => Kind::Psk,
            Version::Tls13 if chosen.psk.is_some() && self.is_early_data_accepted() => Kind::Early,
            Version::Tls13 if chosen.psk.is_some() => Kind::Ticket,
            Version::Tls13 => Kind::Full,
            // RFC 4279 §2: no certificate, and all else of a full handshake.
            Version::Tls12 if self.has_psk_suite() && self.hello_done => Kind::Psk,
            // Every other suite that is compared has the server send one, unless it resumes.
            Version::Tls12 if self.server_certificate => Kind::Full,
            // By which of both, where a session has both, the server does not say (RFC 5077 §3.4).
            Version::Tls12 if by_ticket => Kind::Ticket,
            Version::Tls12 => Kind::Id,
        };
        let psk_mode = chosen.psk.map(|_| match chosen.key_share {
            Some(_) => PskMode::PskDheKe,
            None => PskMode::PskKe,
        });
        Some(WireFacts {
            version: chosen.version,
            suite: chosen.suite,
            group: if is_tls13 { chosen.key_share } else { self.group },
            kind,
            psk_mode,
            retried: self.retried,
            client_certificate: (!is_tls13).then_some(self.client_certificate),
            server_share: self.server_share,
            tickets: self.tickets,
            client_max_fragment: self.hello.as_ref().and_then(|hello| Some(hello.max_fragment?.data(chosen.version))),
            server_max_fragment: chosen.max_fragment.map(|fragment| fragment.data(chosen.version)),
            shares_hybrid: self.hello.as_ref().is_some_and(|hello| hello.shares_hybrid),
        })
    }

    fn has_chosen_tls13(&self) -> bool {
        self.chosen.as_ref().is_some_and(|chosen| chosen.version == Version::Tls13)
    }

    /// After a HelloRetryRequest, and before the ServerHello.
    fn is_between_hellos(&self) -> bool {
        self.retried && self.chosen.is_none()
    }

    /// Whether the client verifies signatures of ML-DSA, as far as its ClientHello says.
    pub(crate) fn offers_ml_dsa(&self) -> bool {
        self.hello.as_ref().is_some_and(|hello| hello.has_ml_dsa)
    }

    fn is_external(&self, psk: Option<u16>) -> bool {
        self.hello.as_ref().is_some_and(|hello| hello.external_psk == psk)
    }

    fn has_psk_suite(&self) -> bool {
        self.chosen.as_ref().is_some_and(|chosen| chosen.suite.to_string().contains("PSK_WITH_"))
    }

    /// Which extension says so is encrypted. But a client then ends its early data before it finishes (RFC 9846 §4.6), in a record of its
    /// own, since the keys change after it; and that is shorter than any Finished, and than what clients here send besides.
    fn is_early_data_accepted(&self) -> bool {
        self.ends_early_data && self.hello.as_ref().is_some_and(|hello| hello.has_early_data)
    }

    /// Whether the client offered a session in the version that was chosen; an ID means nothing under TLS 1.3.
    pub fn offers_session(&self) -> bool {
        let is_tls13 = self.has_chosen_tls13();
        self.hello.as_ref().is_some_and(|hello| if is_tls13 { hello.has_psk } else { hello.has_ticket || hello.has_id })
    }

    fn client_hello(&mut self, body: &[u8]) {
        let Ok(hello) = ClientHello::parse(body) else { return };
        let find = |extension| hello.extensions.and_then(|extensions| extensions.find(extension));
        self.hello = Some(Offered {
            has_ticket: find(ExtensionType::SESSION_TICKET).is_some_and(|ticket| !ticket.is_empty()),
            has_early_data: find(ExtensionType::EARLY_DATA).is_some(),
            has_id: !hello.session_id.is_empty(),
            has_psk: find(ExtensionType::PRE_SHARED_KEY).is_some(),
            has_ml_dsa: find(ExtensionType::SIGNATURE_ALGORITHMS).is_some_and(names_ml_dsa),
            external_psk: find(ExtensionType::PRE_SHARED_KEY).and_then(place_of_external_psk),
            max_fragment: hello.extensions.and_then(Fragment::find),
            shares_hybrid: find(ExtensionType::KEY_SHARE).is_some_and(has_hybrid_and_another),
        });
    }

    fn server_hello(&mut self, body: &[u8]) {
        let Ok(hello) = ServerHello::parse(body) else { return };
        if hello.is_hello_retry_request() {
            self.retried = true;
            return;
        }
        let find = |extension| hello.extensions.and_then(|extensions| extensions.find(extension));
        let selected = find(ExtensionType::SUPPORTED_VERSIONS).and_then(|data| SelectedVersion::parse(data).ok());
        let is_tls13 = selected.is_some_and(|selected| selected.selected_version == ProtocolVersion::TLS_1_3);
        let psk = find(ExtensionType::PRE_SHARED_KEY).and_then(|data| SelectedPsk::parse(data).ok());
        let share = find(ExtensionType::KEY_SHARE).and_then(|data| KeyShareServerHello::parse(data).ok());
        self.server_share = share.as_ref().and_then(|share| end_of(share.server_share.key_exchange));
        self.chosen = Some(Chosen {
            version: if is_tls13 { Version::Tls13 } else { Version::Tls12 },
            suite: hello.cipher_suite,
            psk: psk.map(|psk| psk.selected_identity),
            key_share: share.map(|share| share.server_share.group),
            max_fragment: hello.extensions.and_then(Fragment::find),
        });
    }
}

impl Fragment {
    /// Of both, the record size limit counts (RFC 8449 §5).
    fn find(extensions: Extensions<'_>) -> Option<Self> {
        let limit = extensions.find(ExtensionType::RECORD_SIZE_LIMIT).and_then(|data| RecordSizeLimit::parse(data).ok());
        let length = extensions.find(ExtensionType::MAX_FRAGMENT_LENGTH);
        limit.map(|limit| Self::Limit(limit.record_size_limit)).or(match length {
            Some(&[code @ 1..=4]) => Some(Self::Length(1 << (8 + code))),
            _ => None,
        })
    }

    /// Bytes of data in a record.
    fn data(self, version: Version) -> u16 {
        match self {
            Self::Limit(limit) if version == Version::Tls13 => limit.saturating_sub(1),
            Self::Limit(most) | Self::Length(most) => most,
        }
    }
}

fn has_hybrid_and_another(data: &[u8]) -> bool {
    let Ok(shares) = KeyShareClientHello::parse(data) else { return false };
    let is_hybrid = |group: NamedGroup| group == NamedGroup::X25519MLKEM768;
    let (hybrid, others): (Vec<_>, Vec<_>) = shares.client_shares.iter().partition(|share| is_hybrid(share.group));
    !hybrid.is_empty() && !others.is_empty()
}

/// ML-DSA-44, -65 and -87 (draft-ietf-tls-mldsa), in a list behind its length.
fn names_ml_dsa(data: &[u8]) -> bool {
    let mut schemes = data.get(2..).unwrap_or_default().chunks_exact(2);
    schemes.any(|scheme| matches!(scheme, [0x09, 0x04..=0x06]))
}

fn place_of_external_psk(data: &[u8]) -> Option<u16> {
    let offered = OfferedPsks::parse(data).ok()?;
    let place = offered.identities.iter().position(|psk| psk.identity == PSK_IDENTITY.as_bytes())?;
    u16::try_from(place).ok()
}

/// The group of a ServerKeyExchange. One of a finite field has no number under TLS 1.2, and is named after its size.
fn group_of_tls12(body: &[u8], has_psk: bool) -> Option<NamedGroup> {
    if has_psk {
        return group_beside_psk(body);
    }
    if let Ok(ecdhe) = ServerKeyExchangeEcdhe::parse(body) {
        return Some(ecdhe.group);
    }
    group_of_size(ServerKeyExchangeDhe::parse(body).ok()?.p.len())
}

/// Where there is a PSK it is not signed, and ends the message.
fn share_of_tls12(body: &[u8], has_psk: bool) -> Option<u64> {
    if has_psk {
        return end_of(body);
    }
    match ServerKeyExchangeEcdhe::parse(body) {
        Ok(ecdhe) => end_of(ecdhe.public),
        Err(_) => end_of(ServerKeyExchangeDhe::parse(body).ok()?.public),
    }
}

fn end_of(public: &[u8]) -> Option<u64> {
    public.last_chunk().copied().map(u64::from_be_bytes)
}

/// The same behind the PSK's identity hint, and not signed (RFC 4279 §3, RFC 5489 §2); `None` where the hint is all.
fn group_beside_psk(body: &[u8]) -> Option<NamedGroup> {
    const NAMED_CURVE: u8 = 3;
    let number = |bytes: &[u8]| Some(u16::from_be_bytes(bytes.get(..2)?.try_into().ok()?));
    let parameters = body.get(2 + usize::from(number(body)?)..)?;
    match parameters {
        [NAMED_CURVE, curve @ ..] => number(curve).map(NamedGroup),
        _ => group_of_size(usize::from(number(parameters)?)),
    }
}

fn group_of_size(bytes: usize) -> Option<NamedGroup> {
    match bytes {
        256 => Some(NamedGroup::FFDHE2048),
        384 => Some(NamedGroup::FFDHE3072),
        _ => None,
    }
}

/// The lengths of the records that are encrypted under TLS 1.3.
fn encrypted(mut bytes: &[u8]) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let (record, length) = Record::parse(bytes).ok()??;
        bytes = bytes.get(length..).unwrap_or_default();
        Some((record.content_type, record.fragment.len()))
    })
    .filter_map(|(content, length)| (content == ContentType::APPLICATION_DATA).then_some(length))
}

impl Side {
    /// Takes the first record, and returns what is behind it. Between hellos a ChangeCipherSpec is for middleboxes alone (RFC 9846 §5.1).
    fn record<'b>(&mut self, bytes: &'b [u8], is_between_hellos: bool) -> Option<&'b [u8]> {
        if self.is_encrypted {
            return None;
        }
        let (record, length) = Record::parse(bytes).ok()??;
        match record.content_type {
            ContentType::HANDSHAKE => self.messages.extend_from_slice(record.fragment),
            // Under TLS 1.3 it means nothing, and what follows is not called a handshake any more.
            ContentType::CHANGE_CIPHER_SPEC => self.is_encrypted = !is_between_hellos,
            _ => {}
        }
        bytes.get(length..)
    }

    /// The next whole message.
    fn message(&mut self) -> Option<(HandshakeType, Vec<u8>)> {
        let (what, body, length) = match Handshake::parse(&self.messages) {
            Ok(Some((message, length))) => (message.msg_type, message.body.to_vec(), length),
            _ => return None,
        };
        drop(self.messages.drain(..length));
        Some((what, body))
    }
}

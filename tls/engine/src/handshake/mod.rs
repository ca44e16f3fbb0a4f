//! The states of a connection: one struct for each message that may come next, consumed by handling it.

mod checks;
mod first_flight;
#[cfg(test)]
mod replay;
mod retry;
mod server_hello;
mod tls12;
mod tls13;

use reprise_model::Direction;
use reprise_wire::{ContentType, HandshakeType, frame};

use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::joiner::Message;
use crate::offer::Offer;
use crate::suite::Suite;
use crate::transcript::Transcript;
use checks::unexpected;
use first_flight::ExpectServerHello;

/// Where a connection stands.
pub(crate) enum State {
    ServerHello(Box<ExpectServerHello>),
    Tls13EncryptedExtensions(Box<tls13::ExpectEncryptedExtensions>),
    Tls13CertificateOrRequest(Box<tls13::ExpectCertificateOrRequest>),
    Tls13CertificateVerify(Box<tls13::ExpectCertificateVerify>),
    Tls13Finished(Box<tls13::ExpectFinished>),
    Tls13Traffic(Box<tls13::ExpectTraffic>),
    Tls12Certificate(Box<tls12::ExpectCertificate>),
    Tls12ServerKeyExchange(Box<tls12::ExpectServerKeyExchange>),
    Tls12RequestOrDone(Box<tls12::ExpectRequestOrDone>),
    Tls12Ticket(Box<tls12::ExpectTicket>),
    Tls12ChangeCipherSpec(Box<tls12::ExpectChangeCipherSpec>),
    Tls12Finished(Box<tls12::ExpectFinished>),
    Tls12Traffic(tls12::ExpectTraffic),
}

impl State {
    /// Sends the ClientHello.
    pub(crate) fn start(core: &mut Core, offer: Offer) -> Result<Self, Error> {
        ExpectServerHello::start(core, offer).map(|state| Self::ServerHello(Box::new(state)))
    }

    /// Handles one handshake message.
    pub(crate) fn handle(self, core: &mut Core, message: &Message<'_>) -> Result<Self, Error> {
        if !matches!(self, Self::ServerHello(_)) {
            core.observe_message(Direction::Received, message);
        }
        match self {
            Self::ServerHello(state) => state.handle(core, message),
            Self::Tls13EncryptedExtensions(state) => state.handle(core, message),
            Self::Tls13CertificateOrRequest(state) => state.handle(core, message),
            Self::Tls13CertificateVerify(state) => state.handle(core, message),
            Self::Tls13Finished(state) => state.handle(core, message),
            Self::Tls13Traffic(state) => state.handle(core, message),
            Self::Tls12Certificate(state) => state.handle(core, message),
            Self::Tls12ServerKeyExchange(state) => state.handle(core, message),
            Self::Tls12RequestOrDone(state) => state.handle(core, message),
            Self::Tls12Ticket(state) => state.handle(core, message),
            Self::Tls12Finished(state) => state.handle(core, message),
            other @ (Self::Tls12ChangeCipherSpec(_) | Self::Tls12Traffic(_)) => Err(unexpected(message, other.expected())),
        }
    }

    /// Handles a ChangeCipherSpec of TLS 1.2.
    pub(crate) fn handle_change_cipher_spec(self, core: &mut Core) -> Result<Self, Error> {
        match self {
            Self::Tls12ChangeCipherSpec(state) => state.handle_change_cipher_spec(core),
            other => {
                let (received, expected) = (ContentType::CHANGE_CIPHER_SPEC, other.expected());
                Err(Misbehaviour::UnexpectedRecord { received, expected }.into())
            }
        }
    }

    /// Whether the handshake is done.
    pub(crate) fn is_traffic(&self) -> bool {
        matches!(self, Self::Tls13Traffic(_) | Self::Tls12Traffic(_))
    }

    /// The message that is due, for people.
    pub(crate) fn expected(&self) -> &'static str {
        match self {
            Self::ServerHello(_) => "ServerHello",
            Self::Tls13EncryptedExtensions(_) => "EncryptedExtensions",
            Self::Tls13CertificateOrRequest(_) | Self::Tls12Certificate(_) => "Certificate",
            Self::Tls13CertificateVerify(_) => "CertificateVerify",
            Self::Tls13Finished(_) | Self::Tls12Finished(_) => "Finished",
            Self::Tls12ServerKeyExchange(_) => "ServerKeyExchange",
            Self::Tls12RequestOrDone(_) => "ServerHelloDone",
            Self::Tls12Ticket(_) => "NewSessionTicket",
            Self::Tls12ChangeCipherSpec(_) => "ChangeCipherSpec",
            Self::Tls13Traffic(_) | Self::Tls12Traffic(_) => "application data",
        }
    }
}

/// What both versions carry from the ServerHello on.
struct Handshaking {
    suite: &'static Suite,
    transcript: Transcript,
    client_random: [u8; 32],
}

impl Handshaking {
    /// Appends a message to a flight and to the transcript.
    fn append(&mut self, flight: &mut Vec<u8>, msg_type: HandshakeType, body: impl FnOnce(&mut Vec<u8>)) {
        let start = flight.len();
        frame(flight, msg_type, body);
        self.transcript.add(flight.get(start..).unwrap_or_default());
    }
}

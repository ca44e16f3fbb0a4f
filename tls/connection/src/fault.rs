//! Why a connection did not complete: typed, with one fixed name. Words are found where a document or a message is made.

use std::io;
use std::net::SocketAddr;

use reprise_engine::{CertificateError, Error, Misbehaviour};
use reprise_model::{FailureClass, FaultName};
use reprise_wire::AlertDescription;

use crate::prologue::fault::ClearTextFault;

/// Why a connection did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its fixed name.
    pub name: FaultName,
    /// Where it failed.
    pub class: FailureClass,
    /// What else is known.
    pub detail: Option<Box<Detail>>,
}

/// The name by which documents and people call a fault: `connection_refused`, `alert_handshake_failure`.
pub fn fault_name(fault: FaultName) -> String {
    match fault {
        // IANA's name.
        FaultName::Alert(number) => format!("alert_{}", AlertDescription(number)),
        named => named.to_string(),
    }
}

/// What is known of a fault beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The engine's own error.
    Tls {
        /// The error.
        error: Error,
        /// Whether it is an answer to the ClientHello: nothing was chosen yet.
        answers_hello: bool,
    },
    /// What was awaited when the time was up.
    Awaited(&'static str),
    /// The transport broke.
    Transport {
        /// What was awaited then.
        awaited: &'static str,
        /// What the system says.
        error: IoError,
    },
    /// No address could be connected to: each with what the system says, the preferred first.
    Connect(Vec<(SocketAddr, IoError)>),
    /// The name was not resolved.
    Resolve {
        /// The name.
        host: String,
        /// What the resolver says; `None` where it did not answer in time.
        reason: Option<String>,
    },
    /// What was said in the clear, or by a service that began there.
    ClearText(ClearTextFault),
    /// The server's own words, or what its library says of them.
    Said(Vec<u8>),
    /// What cannot be used.
    Unusable(String),
    /// What HTTP/2 has no place for.
    Unfit(RequestPart),
}

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// Its method.
    Method,
    /// The URL that it is for.
    HostOrPath,
    /// The header field of this name.
    Field(String),
}

/// An error of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoError {
    /// Its kind.
    pub kind: io::ErrorKind,
    /// The system's words.
    pub text: String,
}

impl From<&io::Error> for IoError {
    fn from(error: &io::Error) -> Self {
        Self { kind: error.kind(), text: error.to_string() }
    }
}

impl Fault {
    /// One whose name says it all.
    pub const fn new(name: FaultName) -> Self {
        Self { name, class: name.class(), detail: None }
    }

    /// The same, where it occurred at this stage.
    pub fn at(self, class: FailureClass) -> Self {
        Self { class, ..self }
    }

    /// The same with what else is known.
    pub fn with(self, detail: Detail) -> Self {
        Self { detail: Some(Box::new(detail)), ..self }
    }

    /// Ctrl-C.
    pub fn interrupted() -> Self {
        Self::new(FaultName::Interrupted)
    }

    /// The peer sent nothing more before it showed that it had finished.
    pub fn unconfirmed() -> Self {
        Self::new(FaultName::Unconfirmed).with(Detail::Awaited("record under its application keys"))
    }

    /// An error of the transport at this stage, while something was awaited.
    pub fn of_transport(class: FailureClass, awaited: &'static str, error: &io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, Interrupted, TimedOut};
        let name = match error.kind() {
            Interrupted => return Self::interrupted(),
            TimedOut => return Self::new(FaultName::Timeout).at(class).with(Detail::Awaited(awaited)),
            ConnectionReset | BrokenPipe | ConnectionAborted => FaultName::ConnectionReset,
            _ => FaultName::SocketError,
        };
        Self::new(name).at(class).with(Detail::Transport { awaited, error: error.into() })
    }

    /// No address could be connected to: each with its error, the one that the system prefers first.
    pub fn of_connecting(errors: Vec<(SocketAddr, IoError)>) -> Self {
        let name = match errors.first().map(|(_, error)| error.kind) {
            Some(io::ErrorKind::ConnectionRefused) => FaultName::ConnectionRefused,
            Some(io::ErrorKind::TimedOut) => FaultName::ConnectTimeout,
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => FaultName::Unreachable,
            _ => FaultName::ConnectFailed,
        };
        Self::new(name).with(Detail::Connect(errors))
    }

    /// An error of the engine. `answers_hello`: nothing was chosen yet.
    pub fn of_engine(error: Error, answers_hello: bool) -> Self {
        Self::new(name_of(&error)).with(Detail::Tls { error, answers_hello })
    }

    /// The engine's error, if it is one.
    pub fn engine_error(&self) -> Option<&Error> {
        match self.detail.as_deref() {
            Some(Detail::Tls { error, .. }) => Some(error),
            _ => None,
        }
    }
}

impl From<ClearTextFault> for Fault {
    fn from(fault: ClearTextFault) -> Self {
        Self::new(fault.name()).with(Detail::ClearText(fault))
    }
}

/// The fixed name of each of the engine's errors.
fn name_of(error: &Error) -> FaultName {
    match error {
        Error::NotTls(_) => FaultName::NotTls,
        Error::Malformed { .. } => FaultName::Malformed,
        Error::PeerMisbehaved(Misbehaviour::BadSignature) => FaultName::BadSignature,
        Error::PeerMisbehaved(Misbehaviour::BadFinished) => FaultName::BadFinished,
        Error::PeerMisbehaved(Misbehaviour::UnofferedVersion(_)) | Error::OtherVersion(_) => FaultName::OtherVersion,
        Error::PeerMisbehaved(_) => FaultName::PeerMisbehaved,
        Error::Unspoken(_) => FaultName::Unspoken,
        Error::AlertReceived(description) => FaultName::Alert(description.0),
        Error::Certificate(certificate) => match certificate {
            CertificateError::UnknownIssuer | CertificateError::SelfSigned => FaultName::UnknownIssuer,
            CertificateError::Expired => FaultName::CertificateExpired,
            CertificateError::NotValidYet => FaultName::CertificateNotValidYet,
            CertificateError::WrongName { .. } => FaultName::CertificateWrongName,
            CertificateError::UnsupportedKey(_) => FaultName::CertificateUnsupportedKey,
            CertificateError::Unreadable => FaultName::UnreadableCertificate,
            CertificateError::Empty => FaultName::NoCertificate,
            CertificateError::OfCa | CertificateError::Other(_) => FaultName::BadCertificate,
        },
        Error::BadRecordMac => FaultName::BadRecordMac,
        Error::ClosedEarly(_) => FaultName::ClosedEarly,
        Error::TooLarge { .. } => FaultName::TooLarge,
        Error::TooMany { .. } => FaultName::TooMany,
        Error::NothingToOffer(_) => FaultName::NothingToOffer,
        Error::NoCommonSignatureScheme => FaultName::NoCommonSignatureScheme,
        Error::Crypto(_) => FaultName::Crypto,
        Error::NoKeyUpdate(_) => FaultName::NoKeyUpdate,
        Error::RetryRequested(_) => FaultName::HelloRetryRequest,
        Error::Closed => FaultName::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_has_ianas_name_and_an_unknown_one_its_number() {
        assert_eq!(fault_name(FaultName::Alert(40)), "alert_handshake_failure");
        assert_eq!(fault_name(FaultName::Alert(99)), "alert_0x63");
        assert_eq!(fault_name(FaultName::ConnectionRefused), "connection_refused");
    }
}

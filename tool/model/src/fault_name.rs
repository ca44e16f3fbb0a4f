//! The fixed name of every error that a connection may end in: one name an error, the same in every command.

use std::fmt;

use crate::FailureClass;

/// Declares the names with where they belong, so that none is missing from a list.
macro_rules! fault_names {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal in $class:ident,)+) => {
        /// Why a connection did not complete: what documents, counts and tests call it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultName {
            $($(#[$doc])+ $variant,)+
            /// The server sent this alert (IANA "TLS Alerts"); named `alert_` and IANA's name.
            Alert(u8),
        }

        impl FaultName {
            /// Every name but those of alerts.
            pub const NAMED: &'static [Self] = &[$(Self::$variant),+];

            /// The name in documents; `None` for an alert, which has IANA's.
            pub const fn fixed(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)+
                    Self::Alert(_) => None,
                }
            }

            /// Where an error of this name belongs. Some may occur elsewhere too: the fault says where they did.
            pub const fn class(self) -> FailureClass {
                match self {
                    $(Self::$variant => FailureClass::$class,)+
                    Self::Alert(_) => FailureClass::Tls,
                }
            }
        }
    };
}

fault_names! {
    /// Ctrl-C.
    Interrupted = "interrupted" in Interrupted,
    /// The name has no address, or was not resolved in time.
    NameNotResolved = "name_not_resolved" in Resolve,
    /// Nothing listens there.
    ConnectionRefused = "connection_refused" in Connect,
    /// No SYN-ACK within the timeout.
    ConnectTimeout = "connect_timeout" in Connect,
    /// No route to the host or its network.
    Unreachable = "unreachable" in Connect,
    /// The connection could not be made for another reason.
    ConnectFailed = "connect_failed" in Connect,
    /// No local port is left for this target (EADDRNOTAVAIL).
    PortsExhausted = "ports_exhausted" in Connect,
    /// The process may open no more descriptors (EMFILE, ENFILE).
    DescriptorLimit = "descriptor_limit" in Connect,
    /// Ctrl-C or the end of a load cut it off.
    CutOff = "cut_off" in Interrupted,
    /// Something that was awaited did not come within the timeout.
    Timeout = "timeout" in Tls,
    /// The peer reset the connection.
    ConnectionReset = "connection_reset" in Tls,
    /// Another error of the socket.
    SocketError = "socket_error" in Tls,
    /// The proxy refuses to connect to the target.
    ProxyRefused = "proxy_refused" in Proxy,
    /// The proxy wants a user name and a password.
    ProxyAuthenticationRequired = "proxy_authentication_required" in Proxy,
    /// The proxy does not accept them.
    ProxyAuthenticationFailed = "proxy_authentication_failed" in Proxy,
    /// The proxy's bytes have no place in its protocol.
    ProxyUnexpected = "proxy_unexpected" in Proxy,
    /// The proxy goes on without end.
    ProxyTooLong = "proxy_too_long" in Proxy,
    /// The proxy closed the connection.
    ProxyClosed = "proxy_closed" in Proxy,
    /// More bytes came before TLS than were due.
    ProxyInjected = "proxy_injected" in Proxy,
    /// The server refuses to begin TLS.
    StarttlsRefused = "starttls_refused" in Starttls,
    /// The server does not offer STARTTLS.
    StarttlsNotOffered = "starttls_not_offered" in Starttls,
    /// The server's bytes have no place in the protocol.
    StarttlsUnexpected = "starttls_unexpected" in Starttls,
    /// The server goes on without end.
    StarttlsTooLong = "starttls_too_long" in Starttls,
    /// The server closed the connection before TLS.
    StarttlsClosed = "starttls_closed" in Starttls,
    /// More bytes came before TLS than were due (CVE-2011-0411).
    StarttlsInjected = "starttls_injected" in Starttls,
    /// The name cannot be one of a certificate.
    BadServerName = "bad_server_name" in Request,
    /// The first bytes are no TLS record.
    NotTls = "not_tls" in Tls,
    /// A message cannot be parsed.
    Malformed = "malformed" in Tls,
    /// The signature over the handshake is wrong.
    BadSignature = "bad_signature" in Tls,
    /// The server's Finished does not verify.
    BadFinished = "bad_finished" in Tls,
    /// The server answers with another version than was offered.
    OtherVersion = "other_version" in Tls,
    /// The server broke another rule of the protocol.
    PeerMisbehaved = "peer_misbehaved" in Tls,
    /// The server chose what is recognised and not spoken here.
    Unspoken = "unspoken" in Tls,
    /// A record does not decrypt.
    BadRecordMac = "bad_record_mac" in Tls,
    /// The server closed the connection in the middle of the handshake.
    ClosedEarly = "closed_early" in Tls,
    /// A message or record is longer than is held.
    TooLarge = "too_large" in Tls,
    /// A message came too often.
    TooMany = "too_many" in Tls,
    /// The configuration offers nothing that could be negotiated.
    NothingToOffer = "nothing_to_offer" in Tls,
    /// The client's key cannot sign in any scheme that the server takes.
    NoCommonSignatureScheme = "no_common_signature_scheme" in Tls,
    /// A primitive failed that does not fail on valid input.
    Crypto = "crypto" in Tls,
    /// Keys cannot be updated now.
    NoKeyUpdate = "no_key_update" in Tls,
    /// The connection was used after its end.
    Closed = "closed" in Tls,
    /// The server wants another group first, and the client sends no second ClientHello.
    HelloRetryRequest = "hello_retry_request" in Tls,
    /// The handshake is done here, and the server never showed that it is at its own end.
    Unconfirmed = "unconfirmed" in Tls,
    /// No trusted root signed the certificate.
    UnknownIssuer = "unknown_issuer" in Certificate,
    /// The certificate has expired.
    CertificateExpired = "certificate_expired" in Certificate,
    /// The certificate is not valid yet.
    CertificateNotValidYet = "certificate_not_valid_yet" in Certificate,
    /// The certificate is for another name.
    CertificateWrongName = "certificate_wrong_name" in Certificate,
    /// The certificate's key is one that no current verifier takes.
    CertificateUnsupportedKey = "certificate_unsupported_key" in Certificate,
    /// The certificate cannot be read.
    UnreadableCertificate = "unreadable_certificate" in Certificate,
    /// The server sent no certificate.
    NoCertificate = "no_certificate" in Certificate,
    /// The certificate is invalid for another reason.
    BadCertificate = "bad_certificate" in Certificate,
    /// The request cannot be sent by the protocol that was chosen.
    UnfitRequest = "unfit_request" in Request,
    /// The server closed the connection without a response.
    NoResponse = "no_response" in Request,
    /// The server accepted early data and did not answer it.
    EarlyDataUnanswered = "early_data_unanswered" in Request,
    /// The server closed the connection in the middle of its response.
    ResponseTruncated = "response_truncated" in Request,
    /// What came is no HTTP response.
    NotHttp = "not_http" in Request,
    /// The head of the response is longer than is read.
    HeadTooLarge = "head_too_large" in Request,
    /// The body is not framed as HTTP wants it: a chunk, a length.
    BadFraming = "bad_framing" in Request,
    /// More came than the response that was asked for.
    UnexpectedData = "unexpected_data" in Request,
    /// The server switched to another protocol, which nobody asked for.
    ProtocolSwitched = "protocol_switched" in Request,
    /// HTTP/2 came to no response.
    Http2Error = "http2_error" in Request,
    /// The server's settings allow no request by HTTP/2.
    Http2Blocked = "http2_blocked" in Request,
    /// The answer of a service that began in the clear goes on without end.
    AnswerTooLong = "answer_too_long" in Request,
    /// The answer of such a service is none.
    AnswerUnexpected = "answer_unexpected" in Request,
    /// Such a service closed the connection without an answer.
    NoAnswer = "no_answer" in Request,
}

impl FaultName {
    /// Whether the server spoke TLS and said no.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Alert(_))
    }

    /// Whether the server or the way there is to blame: not this machine's limits, nor the end of the run.
    pub fn is_the_targets(self) -> bool {
        let ours = [Self::PortsExhausted, Self::DescriptorLimit, Self::CutOff, Self::Crypto];
        !ours.contains(&self) && self != Self::Interrupted
    }
}

impl fmt::Display for FaultName {
    /// An alert is shown by its number here; IANA's names stand in `reprise-wire`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.fixed(), self) {
            (Some(name), _) => f.pad(name),
            (None, Self::Alert(number)) => write!(f, "alert_{number}"),
            (None, _) => Ok(()),
        }
    }
}

//! The measurement client of TLS 1.2 and 1.3: bytes in, bytes out, time as an argument.
//!
//! Start at [`Connection`]. It never reads a clock, opens a socket or draws randomness: the caller hands in `now`, the
//! bytes that the socket gave, and, through [`Config`], key shares and all other randomness. So the same engine runs over
//! sockets, over memory, and in virtual time.
//!
//! Its states stand in `handshake/`, one struct for each message that may come next, consumed by handling it:
//!
//! ```text
//!                    ExpectServerHello ── HelloRetryRequest ──┐
//!                      │            │  ^──────────────────────┘
//!              TLS 1.3 │            │ TLS 1.2
//!  ExpectEncryptedExtensions       ExpectCertificate (resumed: from ExpectTicket on)
//!  ExpectCertificateOrRequest      ExpectServerKeyExchange
//!  ExpectCertificateVerify         ExpectRequestOrDone
//!  ExpectFinished (psk: at once)   ExpectTicket, if one was announced
//!  ExpectTraffic                   ExpectChangeCipherSpec
//!                                  ExpectFinished
//!                                  ExpectTraffic
//! ```

mod client_auth;
mod client_hello;
mod config;
mod connection;
mod core;
mod deframer;
mod early_data;
mod error;
mod event_log;
mod facts;
mod handshake;
mod hello_form;
mod hello_shape;
mod joiner;
mod key_log;
mod key_share;
mod offer;
mod offered;
mod random;
mod ready;
mod rsa_premaster;
mod secret;
mod session;
mod transcript;
mod verify;

#[cfg(test)]
mod vector_file;

// Servers of tests need both sides of what these derive and protect. Nobody else is shown secrets.
#[cfg(feature = "testing")]
pub mod key_schedule;
#[cfg(not(feature = "testing"))]
#[allow(unreachable_pub)]
mod key_schedule;
#[cfg(feature = "testing")]
pub mod protection;
#[cfg(not(feature = "testing"))]
#[allow(unreachable_pub)]
mod protection;

pub mod suite;

pub use client_auth::{ClientIdentity, Signer};
pub use config::{Config, Decompress, Entropy, RsaPremaster, Strictness, Tls13Extensions};
pub use connection::Connection;
pub use error::{Error, Misbehaviour, Unspoken};
pub use facts::{hello_retry_record, outcome_of, shared_names};
pub use hello_form::{GREASE, HelloExtension, HelloForm, is_grease};
pub use hello_shape::HelloShape;
pub use key_log::{KeyLog, line as key_log_line};
pub use key_share::{EcdhKeyShare, GROUPS, HybridKeyShare, KeyShare, KeyShares, SharedSecret, generate_key_share};
pub use offer::{ExternalPsk, Offer, Start};
pub use random::{FreshKeyShares, SystemEntropy};
pub use ready::Ready;
pub use rsa_premaster::encrypt_premaster;
pub use secret::Secret;
pub use session::{
    Receipt, Session, SessionError, Tls12Session, Tls12Ticket, Tls13Ticket, is_expired, is_sealed_with_zero_key,
};
pub use verify::{
    CertificateError, CertificatePolicy, ChainVerifier, SIGNATURE_SCHEMES, WebPkiVerifier, public_key_of,
    subject_public_key_info,
};

//! The form of a ClientHello apart from what it offers: some servers and middleboxes react to it.

use reprise_wire::MAX_PLAINTEXT;

/// The form of a ClientHello apart from what it offers. The default is what clients commonly send; other forms show how a
/// server reacts to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloShape {
    /// TLS 1.2: whether the extended master secret is offered (RFC 7627).
    pub extended_master_secret: bool,
    /// TLS 1.3: whether the first ClientHello has a key share. Without one the server has to ask for it with a
    /// HelloRetryRequest (RFC 9846 §4.3.8).
    pub key_share: bool,
    /// Bytes of the padding extension (RFC 7685); zero sends none.
    pub padding: u16,
    /// The most bytes of a ClientHello in one record, at least 1: a longer one is split (RFC 9846 §5.1).
    pub record_size: u16,
    /// TLS 1.3: identities that mean nothing, offered before the ticket or the external PSK.
    pub decoys: u8,
    /// Whether the suite of the session that is offered is offered too, where the configuration leaves it out.
    pub session_suite: bool,
    /// TLS 1.3: whether an encrypted_client_hello that holds nothing is sent, where the form has none (RFC 9849 §6.2).
    pub ech_grease: bool,
}

impl Default for HelloShape {
    fn default() -> Self {
        Self {
            extended_master_secret: true,
            key_share: true,
            padding: 0,
            record_size: MAX_PLAINTEXT as u16,
            decoys: 0,
            session_suite: true,
            ech_grease: false,
        }
    }
}

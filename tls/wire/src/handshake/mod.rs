//! Handshake messages: the frame here, one message per file.
//!
//! `parse` takes the whole body of a message, without its header, and refuses what is left over; `emit` appends the
//! body, and [`frame`] puts the header before it.

mod certificate_entry;
mod certificate_request_tls12;
mod certificate_request_tls13;
mod certificate_tls12;
mod certificate_tls13;
mod certificate_verify;
mod client_hello;
mod client_key_exchange;
mod compressed_certificate;
mod empty;
mod encrypted_extensions;
mod finished;
mod key_update;
mod message_hash;
mod new_session_ticket_tls12;
mod new_session_ticket_tls13;
mod server_hello;
mod server_key_exchange_dhe;
mod server_key_exchange_ecdhe;

pub use certificate_entry::CertificateEntry;
pub use certificate_request_tls12::CertificateRequestTls12;
pub use certificate_request_tls13::CertificateRequestTls13;
pub use certificate_tls12::{CertificateDer, CertificateTls12};
pub use certificate_tls13::CertificateTls13;
pub use certificate_verify::CertificateVerify;
pub use client_hello::ClientHello;
pub use client_key_exchange::ClientKeyExchange;
pub use compressed_certificate::CompressedCertificate;
pub use empty::{EndOfEarlyData, HelloRequest, ServerHelloDone};
pub use encrypted_extensions::EncryptedExtensions;
pub use finished::Finished;
pub use key_update::KeyUpdate;
pub use message_hash::MessageHash;
pub use new_session_ticket_tls12::NewSessionTicketTls12;
pub use new_session_ticket_tls13::NewSessionTicketTls13;
pub use server_hello::{DOWNGRADE_TLS11, DOWNGRADE_TLS12, HELLO_RETRY_REQUEST_RANDOM, ServerHello};
pub use server_key_exchange_dhe::ServerKeyExchangeDhe;
pub use server_key_exchange_ecdhe::ServerKeyExchangeEcdhe;

use crate::{Error, HandshakeType, Reader, codec};

/// A handshake message in its frame: type, 24-bit length, body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake<'a> {
    /// Which message it is.
    pub msg_type: HandshakeType,
    /// What follows the header.
    pub body: &'a [u8],
    /// Header and body: what the transcript hash takes.
    pub raw: &'a [u8],
}

impl<'a> Handshake<'a> {
    /// The bytes of the header.
    pub const HEADER_LEN: usize = 4;

    /// Reads the first message of `bytes`, and says how many bytes it took. `None`: more bytes are needed.
    ///
    /// A body may claim up to 16 MiB; [`Handshake::announced`] tells how much before it is buffered.
    pub fn parse(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Error> {
        let Some((msg_type, len)) = Self::announced(bytes) else { return Ok(None) };
        let Some(raw) = bytes.get(..len) else { return Ok(None) };
        let Some(body) = raw.get(Self::HEADER_LEN..) else { return Ok(None) };
        Ok(Some((Handshake { msg_type, body, raw }, len)))
    }

    /// The type and the whole length, header included, that the header at the front of `bytes` announces.
    pub fn announced(bytes: &[u8]) -> Option<(HandshakeType, usize)> {
        let mut header = Reader::new(bytes);
        let msg_type = HandshakeType(header.u8().ok()?);
        let body_len = usize::try_from(header.u24().ok()?).ok()?;
        Some((msg_type, body_len.checked_add(Self::HEADER_LEN)?))
    }
}

/// Appends a message: the header, then what `body` writes.
pub fn frame(out: &mut Vec<u8>, msg_type: HandshakeType, body: impl FnOnce(&mut Vec<u8>)) {
    codec::u8(out, msg_type.0);
    codec::vec24(out, body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_complete_only_with_its_last_byte() {
        let mut bytes = Vec::new();
        frame(&mut bytes, HandshakeType::KEY_UPDATE, |out| KeyUpdate { request_update: true }.emit(out));
        for cut in 0..bytes.len() {
            assert_eq!(Handshake::parse(&bytes[..cut]), Ok(None), "{cut} bytes");
        }
        bytes.push(99);
        let (message, consumed) = Handshake::parse(&bytes).unwrap().unwrap();
        assert_eq!((message.msg_type, message.body, consumed), (HandshakeType::KEY_UPDATE, &[1][..], 5));
        assert_eq!(message.raw, &bytes[..5]);
    }

    #[test]
    fn the_header_alone_announces_the_length() {
        assert_eq!(Handshake::announced(&[11, 0xff, 0xff]), None);
        let announced = Handshake::announced(&[11, 0xff, 0xff, 0xff]);
        assert_eq!(announced, Some((HandshakeType::CERTIFICATE, 0x0100_0003)));
    }
}

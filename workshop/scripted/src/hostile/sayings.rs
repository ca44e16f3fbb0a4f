//! What servers of the tables say in place of what is due.

use reprise_wire::{CipherSuite, ExtensionType};

use crate::host::Wording;
use crate::play::Deviation as D;

pub(super) fn extension(extension: ExtensionType, data: &[u8]) -> D {
    D::Say(Wording::Extension(extension.0, data.to_vec()))
}

pub(super) fn suite(suite: CipherSuite) -> D {
    D::Say(Wording::Suite(suite.0))
}

pub(super) fn key_share(group: u16, public: &[u8]) -> D {
    let length = public.len() as u16;
    extension(ExtensionType::KEY_SHARE, &[&group.to_be_bytes()[..], &length.to_be_bytes(), public].concat())
}

pub(super) fn cookie(length: u16) -> Vec<u8> {
    [&length.to_be_bytes()[..], &vec![7; length.into()]].concat()
}

pub(super) fn list(length: u16) -> Vec<u8> {
    [&length.to_be_bytes()[..], &[0, 29].repeat(usize::from(length) / 2)].concat()
}

pub(super) fn response() -> Vec<u8> {
    crate::setting::RESPONSE.to_vec()
}

/// A response of which each part could be the beginning of one, and none is the end.
pub(super) fn endless() -> Vec<u8> {
    let mut part = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n".to_vec();
    part.resize(16_000, b'x');
    part
}

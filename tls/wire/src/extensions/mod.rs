//! Extensions: the list here, one extension per file, each in the form that the client sends and in the form that
//! the server sends where they differ.
//!
//! `parse` takes the extension's data, without type and length, and refuses what is left over; `emit` appends that
//! data, and [`ExtensionsBuilder::push`] puts type and length before it.

mod alpn;
mod builder;
mod certificate_authorities;
mod cookie;
mod duplicates;
mod early_data;
mod ec_point_formats;
mod empty;
mod key_share;
mod number_list;
mod pre_shared_key;
mod psk_key_exchange_modes;
mod record_size_limit;
mod renegotiation_info;
mod selected_version;
mod server_name;
mod session_ticket;
mod status_request;
mod ticket_request;

pub use alpn::{ProtocolName, ProtocolNameList, SelectedProtocol};
pub use builder::ExtensionsBuilder;
pub use certificate_authorities::{CertificateAuthorities, DistinguishedName};
pub use cookie::Cookie;
pub use early_data::EarlyDataLimit;
pub use ec_point_formats::EcPointFormats;
pub use empty::Empty;
pub use key_share::{KeyShareClientHello, KeyShareEntry, KeyShareHelloRetryRequest, KeyShareServerHello};
pub use number_list::{CompressCertificate, NumberList, SignatureAlgorithms, SupportedGroups, SupportedVersions};
pub use pre_shared_key::{OfferedPsks, PskBinder, PskIdentity, SelectedPsk};
pub use psk_key_exchange_modes::PskKeyExchangeModes;
pub use record_size_limit::RecordSizeLimit;
pub use renegotiation_info::RenegotiationInfo;
pub use selected_version::SelectedVersion;
pub use server_name::{ServerNameEntry, ServerNameList};
pub use session_ticket::SessionTicket;
pub use status_request::StatusRequest;
pub use ticket_request::{TicketRequest, TicketRequestHint};

use std::fmt;

use crate::codec::{Reader, vec16};
use crate::{Error, ExtensionType};

/// The extensions of one message, viewed where they stand: framing checked, none twice, unknown ones kept.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Extensions<'a> {
    bytes: &'a [u8],
}

impl<'a> Extensions<'a> {
    /// A view over an encoded list, without the 16-bit length before it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            next(&mut reader)?;
        }
        let extensions = Extensions { bytes };
        match duplicates::first_duplicate(extensions.iter().map(|(extension, _)| extension)) {
            Some(twice) => Err(Error::DuplicateExtension(twice)),
            None => Ok(extensions),
        }
    }

    /// Reads a list behind its 16-bit length.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Extensions::parse(reader.vec16()?)
    }

    /// Reads a list that TLS 1.2 allows to be absent, length and all, at the end of a hello.
    pub fn read_optional(reader: &mut Reader<'a>) -> Result<Option<Self>, Error> {
        if reader.is_empty() { Ok(None) } else { Extensions::read(reader).map(Some) }
    }

    /// Appends the list behind its 16-bit length.
    pub fn emit(&self, out: &mut Vec<u8>) {
        vec16(out, |out| out.extend_from_slice(self.bytes));
    }

    /// Type and data of each extension, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (ExtensionType, &'a [u8])> + Clone + use<'a> {
        let mut reader = Reader::new(self.bytes);
        // An empty reader fails too, and `parse` has let nothing else through that could.
        std::iter::from_fn(move || next(&mut reader).ok())
    }

    /// The data of one extension; `None` if it is absent.
    pub fn find(&self, extension: ExtensionType) -> Option<&'a [u8]> {
        self.iter().find(|&(found, _)| found == extension).map(|(_, data)| data)
    }

    /// Whether an extension is present.
    pub fn contains(&self, extension: ExtensionType) -> bool {
        self.find(extension).is_some()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The encoded list, without the 16-bit length before it.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Debug for Extensions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

fn next<'a>(reader: &mut Reader<'a>) -> Result<(ExtensionType, &'a [u8]), Error> {
    Ok((ExtensionType(reader.u16()?), reader.vec16()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_stands_once() {
        let twice = [0xff, 1, 0, 0, 0, 43, 0, 0, 0xff, 1, 0, 0];
        let refused = Error::DuplicateExtension(ExtensionType::RENEGOTIATION_INFO);
        assert_eq!(Extensions::parse(&twice), Err(refused));
    }

    #[test]
    fn unknown_extensions_are_found_as_they_came() {
        let extensions = Extensions::parse(&[0x0a, 0x0a, 0, 2, 1, 2, 0, 42, 0, 0]).unwrap();
        assert_eq!(extensions.find(ExtensionType(0x0a0a)), Some(&[1, 2][..]));
        assert_eq!(extensions.find(ExtensionType::EARLY_DATA), Some(&[][..]));
        assert_eq!(extensions.find(ExtensionType::COOKIE), None);
    }
}

//! The form in which another client offers: what stands in its ClientHello and in which order, beside what the connection itself fills in.

use aws_lc_rs::digest::{SHA256, digest};
use reprise_wire::{ExtensionType, NamedGroup, ProtocolVersion};

/// The place of a GREASE value in a list (RFC 8701): each connection puts one of the sixteen there.
pub const GREASE: u16 = 0x0a0a;

/// A ClientHello as another client forms it. What a connection says itself (name, lists, shares, session) is filled in from the
/// [`Config`](crate::Config), whose lists may hold [`GREASE`] and numbers that the engine does not speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloForm {
    /// What supported_versions lists on a connection of TLS 1.3.
    pub versions: Vec<ProtocolVersion>,
    /// The extensions in their order, without pre_shared_key, which is always the last.
    pub extensions: Vec<HelloExtension>,
    /// Whether each connection has the extensions in another order; GREASE stays where it is.
    pub permutes: bool,
    /// The version in the header of the first record.
    pub record_version: ProtocolVersion,
    /// Whether TLS 1.3 looks like a resumed TLS 1.2: a session ID that means nothing, and ChangeCipherSpec (RFC 9846 §E.4).
    pub is_compatible: bool,
}

/// One extension of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelloExtension {
    /// Filled in by the connection, and left out where it has nothing to say.
    Filled(ExtensionType),
    /// These bytes, whatever the connection is.
    Fixed(ExtensionType, Vec<u8>),
    /// A number that means nothing, with this body (RFC 8701).
    Grease(Vec<u8>),
    /// An encrypted_client_hello that holds nothing, with a payload of one of these lengths (RFC 9849 §6.2).
    EchGrease(Vec<u16>),
    /// So many bytes of padding that the ClientHello has 512, where it had 256 to 511 (RFC 7685 §4).
    PaddingTo512,
}

impl HelloForm {
    /// The extensions in the order of one connection.
    pub(crate) fn extensions_of(&self, client_random: &[u8; 32]) -> Vec<&HelloExtension> {
        let mut extensions: Vec<&HelloExtension> = self.extensions.iter().collect();
        if self.permutes {
            let stays = |extension: &&HelloExtension| matches!(extension, HelloExtension::Grease(_));
            let begin = extensions.iter().take_while(|extension| stays(extension)).count();
            let end = extensions.len() - extensions.iter().rev().take_while(|extension| stays(extension)).count();
            if let Some(moved) = extensions.get_mut(begin..end) {
                // Fisher and Yates; 16 bits for at most some thirty places are even enough.
                let draws = derive(client_random, Derived::Order, 2 * moved.len());
                for (place, draw) in draws.as_chunks::<2>().0.iter().enumerate().rev() {
                    moved.swap(place, usize::from(u16::from_be_bytes(*draw)) % (place + 1));
                }
            }
        }
        extensions
    }
}

/// Where in a ClientHello a GREASE value stands; all of one connection differ in kind, and a second ClientHello has the same.
#[derive(Clone, Copy)]
pub(crate) enum GreasePlace {
    Suite,
    Group,
    Version,
    Scheme,
    Extension(usize),
}

/// The value where the list has [`GREASE`], any other number as it is.
pub(crate) fn greased(number: u16, place: GreasePlace, client_random: &[u8; 32]) -> u16 {
    if number != GREASE {
        return number;
    }
    let nibble = |byte: usize| client_random.get(byte).copied().unwrap_or_default() >> 4;
    let value = match place {
        GreasePlace::Suite => nibble(0),
        GreasePlace::Group => nibble(1),
        GreasePlace::Version => nibble(2),
        GreasePlace::Scheme => nibble(3),
        // No extension may come twice: the second differs from the first, and so on.
        GreasePlace::Extension(index) => nibble(4).wrapping_add(index as u8) & 0x0f,
    };
    u16::from(value) * 0x1010 + GREASE
}

/// Whether a number is one of the sixteen of RFC 8701.
pub fn is_grease(number: u16) -> bool {
    let [high, low] = number.to_be_bytes();
    high == low && low & 0x0f == 0x0a
}

/// The groups that TLS 1.2 knows: a key encapsulation has no place in its messages.
pub(crate) fn is_of_tls12(group: NamedGroup) -> bool {
    let is_hybrid = |group: u16| (0x0200..0x0a00).contains(&group) || (0x1100..0x1200).contains(&group) || group == 0x6399;
    is_grease(group.0) || !is_hybrid(group.0)
}

/// What bytes are derived for.
#[derive(Clone, Copy)]
pub(crate) enum Derived {
    /// An identity that means nothing, by its place.
    Decoy(u8),
    /// The order of the extensions.
    Order,
    /// An ECH that holds nothing.
    Ech,
}

/// Bytes that differ from connection to connection and mean nothing. The same in both ClientHellos of one, since a second one
/// offers what the first did (RFC 9846 §4.2.2).
pub(crate) fn derive(client_random: &[u8; 32], what: Derived, length: usize) -> Vec<u8> {
    let label: [u8; 2] = match what {
        Derived::Decoy(place) => [0, place],
        Derived::Order => [1, 0],
        Derived::Ech => [2, 0],
    };
    let blocks = (0u16..).flat_map(|block| {
        let seed = [&client_random[..], &label, &block.to_be_bytes()].concat();
        let bytes: [u8; 32] = digest(&SHA256, &seed).as_ref().try_into().unwrap_or_default();
        bytes
    });
    blocks.take(length).collect()
}

/// An encrypted_client_hello of an outer ClientHello that holds nothing: HKDF-SHA256, AES-128-GCM, a random configuration, a public
/// value of X25519 and a payload (RFC 9849 §5, §6.2).
pub(crate) fn ech_grease(client_random: &[u8; 32], lengths: &[u16], out: &mut Vec<u8>) {
    const ENCAPSULATED: usize = 32;
    let choice = derive(client_random, Derived::Ech, 2);
    let [choice, config_id] = choice.first_chunk().copied().unwrap_or_default();
    let length = lengths.get(usize::from(choice) % lengths.len().max(1)).copied().unwrap_or(144);
    let bytes = derive(client_random, Derived::Ech, 2 + ENCAPSULATED + usize::from(length));
    let (encapsulated, payload) = bytes.get(2..).unwrap_or_default().split_at(ENCAPSULATED);
    out.extend_from_slice(&[0, 0, 1, 0, 1, config_id]);
    out.extend_from_slice(&(ENCAPSULATED as u16).to_be_bytes());
    out.extend_from_slice(encapsulated);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use reprise_model::{Nanos, Version};
    use reprise_wire::{CipherSuite, ClientHello, Handshake, first_message};
    use rustls_pki_types::{ServerName, UnixTime};

    use super::*;
    use crate::{CertificatePolicy, Config, Connection, FreshKeyShares, Offer, Start, SystemEntropy};

    /// The ClientHello in a form of a few extensions.
    fn hello(permutes: bool) -> Vec<u8> {
        let filled = [ExtensionType::SERVER_NAME, ExtensionType::SUPPORTED_GROUPS, ExtensionType::KEY_SHARE];
        let mut extensions = vec![HelloExtension::Grease(Vec::new()), HelloExtension::EchGrease(vec![144])];
        extensions.extend(filled.map(HelloExtension::Filled));
        extensions
            .extend([ExtensionType::SUPPORTED_VERSIONS, ExtensionType::SIGNATURE_ALGORITHMS].map(HelloExtension::Filled));
        extensions.push(HelloExtension::Fixed(ExtensionType::POST_HANDSHAKE_AUTH, Vec::new()));
        extensions.extend([HelloExtension::PaddingTo512, HelloExtension::Grease(vec![0])]);
        let form = HelloForm {
            versions: vec![ProtocolVersion(GREASE), ProtocolVersion::TLS_1_3, ProtocolVersion::TLS_1_2],
            extensions,
            permutes,
            record_version: ProtocolVersion::TLS_1_2,
            is_compatible: true,
        };
        let name = ServerName::try_from("localhost").unwrap();
        let policy = CertificatePolicy::AcceptAnyChain;
        let own = Config::new(name, policy, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
        let config = Config {
            versions: vec![Version::Tls13],
            cipher_suites: vec![CipherSuite(GREASE), CipherSuite::TLS_AES_128_GCM_SHA256],
            groups: vec![NamedGroup(GREASE), NamedGroup::X25519],
            key_share_groups: vec![NamedGroup(GREASE), NamedGroup::X25519],
            form: Some(Arc::new(form)),
            ..own
        };
        let start = Start { offer: Offer::Full { session_ticket: true }, date: UnixTime::now() };
        let mut sent = Vec::new();
        Connection::start(Arc::new(config), start, Nanos(0)).unwrap().append_outgoing(&mut sent);
        let (version, message) = first_message(&sent).unwrap().unwrap();
        assert_eq!(version, ProtocolVersion::TLS_1_2);
        message[Handshake::HEADER_LEN..].to_vec()
    }

    fn order(body: &[u8]) -> Vec<u16> {
        ClientHello::parse(body).unwrap().extensions.unwrap().iter().map(|(extension, _)| extension.0).collect()
    }

    #[test]
    fn a_form_is_padded_greased_and_in_its_order() {
        let body = hello(false);
        assert_eq!(body.len() + Handshake::HEADER_LEN, 512);
        let hello = ClientHello::parse(&body).unwrap();
        let suites: Vec<u16> = hello.cipher_suites.iter().map(|suite| suite.0).collect();
        assert!(is_grease(suites[0]) && suites[1] == 0x1301, "{suites:?}");
        let order = order(&body);
        // The padding stands at the end, where no PSK follows.
        let (first, last) = (order[0], order[order.len() - 2]);
        assert!(is_grease(first) && is_grease(last) && first != last, "{order:?}");
        assert_eq!(order[1..8], [65037, 0, 10, 51, 43, 13, 49]);
        let ech = hello.extensions.unwrap().find(ExtensionType::ENCRYPTED_CLIENT_HELLO).unwrap();
        assert_eq!(ech.len(), 6 + 2 + 32 + 2 + 144);
    }

    #[test]
    fn a_permuted_form_has_the_same_extensions_and_grease_at_its_ends() {
        let orders: Vec<Vec<u16>> = (0..20).map(|_| order(&hello(true))).collect();
        for order in &orders {
            assert!(is_grease(order[0]), "{order:?}");
            let mut known: Vec<u16> = order.iter().copied().filter(|it| !is_grease(*it)).collect();
            known.sort_unstable();
            assert_eq!(known, [0, 10, 13, 21, 43, 49, 51, 65037]);
        }
        let without_grease = |order: &Vec<u16>| order.iter().copied().filter(|it| !is_grease(*it)).collect::<Vec<_>>();
        assert!(orders.iter().any(|order| without_grease(order) != without_grease(&orders[0])));
    }
}

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

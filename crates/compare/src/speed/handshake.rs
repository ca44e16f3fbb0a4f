//! Which operations a handshake demands of each side: the protocol's, whatever the library.

use reprise_lab::KeyKind;
use reprise_model::document::CompareSide;
use reprise_model::{Kind, Operation, Version};
use reprise_stack::is_kem;
use reprise_wire::NamedGroup;

use super::catalogue::{Primitive, catalogue};
use crate::case::{Case, Key};

/// An operation, and how often.
pub(super) struct Need {
    pub(super) primitive: Primitive,
    pub(super) times: u64,
}

/// The handshakes whose floor is shown.
pub(super) fn cases() -> Vec<Case> {
    let of = |version, kind, key, group| Case::new(version, kind, key, group, false);
    let (x25519, hybrid) = (NamedGroup::X25519, NamedGroup::X25519MLKEM768);
    let all = [
        of(Version::Tls13, Kind::Full, Key::P256, x25519),
        of(Version::Tls13, Kind::Full, Key::RSA_2048, x25519),
        of(Version::Tls13, Kind::Full, Key::P256, hybrid),
        of(Version::Tls13, Kind::Ticket, Key::P256, x25519),
        of(Version::Tls12, Kind::Full, Key::P256, x25519),
        of(Version::Tls12, Kind::Full, Key::RSA_2048, x25519),
        of(Version::Tls12, Kind::Ticket, Key::P256, x25519),
    ];
    all.into_iter().flatten().collect()
}

/// HKDF-Expand-Label of one side until application data may be sent (RFC 9846 §7.1, §7.3): three secrets that others are derived from, four
/// traffic secrets, a key and a nonce of each, two keys for Finished; less what a library may leave out, the exporter's.
const EXPANSIONS: u64 = 16;
/// With a PSK, those of its binder too (RFC 9846 §4.3.11.2).
const EXPANSIONS_OF_A_PSK: u64 = 18;

/// What the protocol demands of this side. Hashes of messages, and records of the handshake, are left out: a floor lies below.
pub(super) fn needs(case: &Case, side: CompareSide) -> Vec<Need> {
    let is_client = side == CompareSide::Client;
    let mut wanted: Vec<(Operation, Option<Primitive>, u64)> = Vec::new();
    let is_full = case.kind == Kind::Full;
    if case.has_key_exchange() {
        let of = |operation| group(operation, case.group);
        let operations = match (is_kem(case.group), is_client) {
            (true, true) => vec![Operation::KeyPair, Operation::Decapsulate],
            (true, false) => vec![Operation::Encapsulate],
            (false, _) => vec![Operation::KeyPair, Operation::Agree],
        };
        wanted.extend(operations.into_iter().map(|operation| (operation, of(operation), 1)));
    }
    if let (true, Key::Lab(key)) = (is_full, case.key) {
        // The client verifies the leaf's signature too, of the same kind: its issuer is the root.
        let (operation, times) = if is_client { (Operation::Verify, 2) } else { (Operation::Sign, 1) };
        wanted.push((operation, signature(operation, key), times));
    }
    let (operation, times) = match (case.version, is_full) {
        (Version::Tls13, true) => (Operation::Hkdf, EXPANSIONS),
        (Version::Tls13, false) => (Operation::Hkdf, EXPANSIONS_OF_A_PSK),
        // The master secret and the keys. The two Finished are shorter: they are left out.
        (Version::Tls12, true) => (Operation::Prf, 2),
        (Version::Tls12, false) => (Operation::Prf, 1),
    };
    wanted.push((operation, Primitive::of(operation, "sha-256"), times));
    wanted.into_iter().filter_map(|(_, primitive, times)| Some(Need { primitive: primitive?, times })).collect()
}

fn group(operation: Operation, number: u16) -> Option<Primitive> {
    catalogue().into_iter().find(|it| it.operation == operation && it.number == number)
}

fn signature(operation: Operation, key: KeyKind) -> Option<Primitive> {
    catalogue().into_iter().find(|it| it.operation == operation && it.key == Some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, version: Version, group: NamedGroup, side: CompareSide) -> Vec<(Operation, &'static str, u64)> {
        let case = Case::new(version, kind, Key::P256, group, false).unwrap();
        needs(&case, side).into_iter().map(|it| (it.primitive.operation, it.primitive.algorithm, it.times)).collect()
    }

    #[test]
    fn a_full_handshake_signs_at_the_server_and_verifies_at_the_client() {
        let group = NamedGroup::X25519;
        assert_eq!(
            of(Kind::Full, Version::Tls13, group, CompareSide::Server),
            [
                (Operation::KeyPair, "x25519", 1),
                (Operation::Agree, "x25519", 1),
                (Operation::Sign, "p-256", 1),
                (Operation::Hkdf, "sha-256", 16)
            ]
        );
        let client = of(Kind::Full, Version::Tls12, group, CompareSide::Client);
        assert_eq!(client[2..], [(Operation::Verify, "p-256", 2), (Operation::Prf, "sha-256", 2)]);
    }

    #[test]
    fn a_resumption_leaves_out_what_it_saves() {
        let ticket = of(Kind::Ticket, Version::Tls12, NamedGroup::X25519, CompareSide::Server);
        assert_eq!(ticket, [(Operation::Prf, "sha-256", 1)], "TLS 1.2 has no key exchange then");
        let ticket = of(Kind::Ticket, Version::Tls13, NamedGroup::X25519, CompareSide::Client);
        assert!(ticket.iter().all(|(operation, ..)| *operation != Operation::Verify) && ticket.len() == 3);
    }

    #[test]
    fn of_a_kem_the_client_makes_the_pair() {
        let group = NamedGroup::X25519MLKEM768;
        let sides = [CompareSide::Client, CompareSide::Server].map(|side| of(Kind::Full, Version::Tls13, group, side));
        let operations = sides.map(|side| side.iter().map(|it| it.0).take(2).collect::<Vec<_>>());
        assert_eq!(operations[0], [Operation::KeyPair, Operation::Decapsulate]);
        assert_eq!(operations[1], [Operation::Encapsulate, Operation::Sign]);
    }
}

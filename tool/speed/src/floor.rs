//! The floor: what the operations of a handshake cost at the best of all stacks, and how far each stack's handshake stands above it.

use reprise_lab::KeyKind;
use reprise_model::document::{CompareRow, CompareSide, SpeedFloor, SpeedHandshake, SpeedNeed, SpeedRow};
use reprise_model::{Kind, Operation, Version};
use reprise_pairs::{Case, Key};
use reprise_wire::NamedGroup;

use crate::catalogue::{Primitive, catalogue};
use crate::handshake::{Handshake, Step};

/// An operation, and how often.
struct Need {
    primitive: Primitive,
    times: u64,
}

/// The handshakes whose floor is shown.
pub(crate) fn cases() -> Vec<Case> {
    let of = |version, kind, key, group| Case::new(version, kind, key, group, false);
    let (x25519, hybrid) = (NamedGroup::X25519, NamedGroup::X25519MLKEM768);
    let all = [
        of(Version::Tls13, Kind::Full, Key::P256, x25519),
        of(Version::Tls13, Kind::Full, Key::RSA_2048, x25519),
        of(Version::Tls13, Kind::Full, Key::P256, hybrid),
        of(Version::Tls13, Kind::Ticket, Key::P256, x25519),
        of(Version::Tls13, Kind::Ticket, Key::P256, NamedGroup::SECP256R1),
        of(Version::Tls12, Kind::Full, Key::P256, x25519),
        of(Version::Tls12, Kind::Full, Key::RSA_2048, x25519),
        of(Version::Tls12, Kind::Ticket, Key::P256, x25519),
    ];
    all.into_iter().flatten().collect()
}

/// What the protocol demands of this side.
fn needs(case: &Case, side: CompareSide) -> Vec<Need> {
    needs_of(&handshake(case), side)
}

/// With a chain of the leaf alone.
pub(crate) fn handshake(case: &Case) -> Handshake {
    let key = match case.key {
        Key::Lab(key) if case.kind == Kind::Full => Some(KeyKind::label(key).to_owned()),
        _ => None,
    };
    let is_of_group = |it: &Primitive| it.operation == Operation::KeyPair && it.number == case.group;
    let group = catalogue().into_iter().find(is_of_group).filter(|_| case.has_key_exchange());
    Handshake {
        version: case.version,
        kind: case.kind,
        key,
        group: group.map(|it| it.algorithm.to_owned()),
        hash: "sha-256",
        certificates: 1,
        mutual: false,
    }
}

fn needs_of(handshake: &Handshake, side: CompareSide) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for step in handshake.steps() {
        let Step::Operation(work) = step else { continue };
        let Some(primitive) = Primitive::of(work.operation, &work.algorithm).filter(|_| work.side == side) else { continue };
        match needs.iter_mut().find(|need| need.primitive == primitive) {
            Some(need) => need.times += work.times,
            None => needs.push(Need { primitive, times: work.times }),
        }
    }
    needs
}

/// The least that a handshake can cost a server, each operation at the best of these stacks; `None` where one was measured nowhere.
pub fn least_of_server(rows: &[SpeedRow], handshake: &Handshake) -> Option<f64> {
    let needs = needs_of(handshake, CompareSide::Server);
    needs.iter().map(|need| Some(best(rows, need)?.once_ns * need.times as f64)).sum()
}

/// The floors of all handshakes, for both sides. A handshake of which an operation was not measured anywhere has none.
pub(crate) fn floors(rows: &[SpeedRow], handshakes: &[CompareRow]) -> Vec<SpeedFloor> {
    let sides = [CompareSide::Client, CompareSide::Server];
    let of_sides = cases().into_iter().flat_map(|case| sides.map(|side| (case, side)));
    of_sides.filter_map(|(case, side)| floor(rows, handshakes, &case, side)).collect()
}

fn floor(rows: &[SpeedRow], handshakes: &[CompareRow], case: &Case, side: CompareSide) -> Option<SpeedFloor> {
    let needs = needs(case, side);
    let operations: Vec<SpeedNeed> = needs.iter().map(|need| best(rows, need)).collect::<Option<_>>()?;
    let floor_ns: f64 = operations.iter().map(|need| need.once_ns * need.times as f64).sum();
    let document = case.document();
    let of_case = handshakes.iter().filter(|row| row.case == document);
    let mut handshakes: Vec<SpeedHandshake> = of_case
        .filter(|row| row.client == row.server)
        .map(|row| {
            let median_ns = side_of(row, side);
            let ratio = median_ns as f64 / floor_ns.max(1.0);
            let own_operations_ns = own(rows, &needs, &row.client);
            SpeedHandshake { stack: row.client.clone(), n: row.n, median_ns, ratio, own_operations_ns }
        })
        .collect();
    handshakes.sort_by_key(|it| it.median_ns);
    Some(SpeedFloor {
        tls: document.tls,
        kind: document.kind,
        key: document.key,
        group: document.group,
        side,
        floor_ns,
        operations,
        handshakes,
    })
}

fn side_of(row: &CompareRow, side: CompareSide) -> u64 {
    if side == CompareSide::Client { row.client_ns.median_ns } else { row.server_ns.median_ns }
}

/// The stack that is fastest at it: by the least of its samples, which no handshake can undercut.
fn best(rows: &[SpeedRow], need: &Need) -> Option<SpeedNeed> {
    let fastest = of(rows, need).min_by(|one, other| one.once.min_ns.total_cmp(&other.once.min_ns))?;
    Some(SpeedNeed {
        operation: fastest.operation,
        algorithm: fastest.algorithm.clone(),
        times: need.times,
        stack: fastest.stack.clone(),
        once_ns: fastest.once.min_ns,
    })
}

/// What the same operations take this stack.
fn own(rows: &[SpeedRow], needs: &[Need], stack: &str) -> Option<f64> {
    needs.iter().map(|need| Some(of(rows, need).find(|row| row.stack == stack)?.once.median_ns * need.times as f64)).sum()
}

fn of<'a>(rows: &'a [SpeedRow], need: &Need) -> impl Iterator<Item = &'a SpeedRow> {
    let (operation, algorithm) = (need.primitive.operation, need.primitive.algorithm);
    rows.iter().filter(move |row| row.operation == operation && row.algorithm == algorithm && row.instructions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, version: Version, group: NamedGroup, side: CompareSide) -> Vec<(Operation, &'static str, u64)> {
        let case = Case::new(version, kind, Key::P256, group, false).unwrap();
        needs(&case, side).into_iter().map(|it| (it.primitive.operation, it.primitive.algorithm, it.times)).collect()
    }

    #[test]
    fn a_server_signs_and_a_client_verifies() {
        let group = NamedGroup::X25519;
        assert_eq!(
            of(Kind::Full, Version::Tls13, group, CompareSide::Server),
            [
                (Operation::KeyPair, "x25519", 1),
                (Operation::Agree, "x25519", 1),
                (Operation::Hkdf, "sha-256", 16),
                (Operation::Sign, "p-256", 1)
            ]
        );
        let client = of(Kind::Full, Version::Tls12, group, CompareSide::Client);
        assert_eq!(client[0], (Operation::Verify, "p-256", 2));
        assert_eq!(client[3], (Operation::Prf, "sha-256", 2));
    }

    #[test]
    fn a_resumption_leaves_out_what_it_saves() {
        let ticket = of(Kind::Ticket, Version::Tls12, NamedGroup::X25519, CompareSide::Server);
        assert_eq!(ticket, [(Operation::Prf, "sha-256", 1)], "TLS 1.2 has no key exchange then");
        let ticket = of(Kind::Ticket, Version::Tls13, NamedGroup::X25519, CompareSide::Client);
        assert!(ticket.iter().all(|(operation, ..)| *operation != Operation::Verify) && ticket.len() == 3);
        assert_eq!(ticket[1], (Operation::Hkdf, "sha-256", 18), "those of the binder too");
    }

    #[test]
    fn of_a_kem_the_client_makes_the_pair() {
        let group = NamedGroup::X25519MLKEM768;
        let sides = [CompareSide::Client, CompareSide::Server].map(|side| of(Kind::Full, Version::Tls13, group, side));
        let operations = sides.map(|side| side.iter().map(|it| it.0).collect::<Vec<_>>());
        assert_eq!(operations[0], [Operation::KeyPair, Operation::Decapsulate, Operation::Hkdf, Operation::Verify]);
        assert_eq!(operations[1], [Operation::Encapsulate, Operation::Hkdf, Operation::Sign]);
    }
}

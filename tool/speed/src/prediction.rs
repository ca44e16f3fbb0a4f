//! What a handshake should cost by the operations that it needs and by another handshake of the same stack, beside what it costs: over memory
//! the CPU time of both sides, over loopback the time on a clock until the client is ready.

use reprise_model::document::{CompareOver, CompareRow, CompareSide, SpeedCost, SpeedMissing, SpeedPrediction, SpeedRow};
use reprise_model::{Kind, Operation};
use reprise_pairs::Case;
use reprise_stack::EXPANSIONS;

use crate::costs::Costs;
use crate::floor;
use crate::handshake::{Handshake, Step, Work};

/// An error above which a prediction says what is missing.
const FAR_OFF: f64 = 0.1;

/// An operation explains what is missing if it is at least so much of it.
const MOST: f64 = 0.5;

/// Of each stack and handshake, from another of the same version and kind that has another key or group. No figure of the handshake that is
/// predicted is in its prediction.
pub(crate) fn predictions(rows: &[SpeedRow], handshakes: &[CompareRow], over: CompareOver) -> Vec<SpeedPrediction> {
    let cases = floor::cases();
    let measured = handshakes.iter().filter_map(|row| Measured::of(row, &cases)).collect();
    among(rows, measured, over)
}

fn among(rows: &[SpeedRow], measured: Vec<Measured<'_>>, over: CompareOver) -> Vec<SpeedPrediction> {
    let known: Vec<Known<'_>> = measured.into_iter().filter_map(|it| Known::of(rows, it, over)).collect();
    let of = |predicted: &Known<'_>| {
        // The nearest that there is: with the same group or key first.
        let mut others: Vec<&Known<'_>> = known.iter().filter(|other| other.may_predict(predicted)).collect();
        others.sort_by_key(|other| other.distance(predicted));
        Some(predict(rows, predicted, others.first()?, over))
    };
    known.iter().filter_map(of).collect()
}

fn predict(rows: &[SpeedRow], predicted: &Known<'_>, base: &Known<'_>, over: CompareOver) -> SpeedPrediction {
    let (case, from) = (predicted.measured.case.document(), base.measured.case.document());
    let predicted_ns = predicted.own_ns + base.measured_ns - base.own_ns;
    let error = predicted_ns / predicted.measured_ns.max(1.0) - 1.0;
    SpeedPrediction {
        stack: predicted.measured.stack.to_owned(),
        over,
        tls: case.tls,
        kind: case.kind,
        key: case.key,
        group: case.group,
        from_key: from.key,
        from_group: from.group,
        predicted_ns,
        repeated_ns: predicted.repeated_ns + base.measured_ns - base.repeated_ns,
        measured_ns: predicted.measured_ns,
        error,
        missing: (error.abs() > FAR_OFF).then(|| missing(rows, predicted, base)),
    }
}

/// A handshake of a stack with itself: medians.
#[derive(Clone, Copy)]
struct Measured<'a> {
    stack: &'a str,
    case: Case,
    client_ns: u64,
    server_ns: u64,
    ready_ns: Option<u64>,
}

impl<'a> Measured<'a> {
    fn of(row: &'a CompareRow, cases: &[Case]) -> Option<Self> {
        Some(Self {
            stack: &row.client,
            case: *cases.iter().find(|case| row.client == row.server && case.document() == row.case)?,
            client_ns: row.client_ns.median_ns,
            server_ns: row.server_ns.median_ns,
            ready_ns: row.ready_ns.as_ref().map(|it| it.median_ns),
        })
    }
}

/// A handshake whose operations are all known.
struct Known<'a> {
    measured: Measured<'a>,
    handshake: Handshake,
    measured_ns: f64,
    /// Its operations, as far as they are in what was measured.
    own_ns: f64,
    /// The same, each as it is repeated.
    repeated_ns: f64,
    /// What each side takes beside its own operations, of CPU time.
    rests: [f64; 2],
}

impl<'a> Known<'a> {
    fn of(rows: &[SpeedRow], measured: Measured<'a>, over: CompareOver) -> Option<Self> {
        let handshake = floor::handshake(&measured.case);
        let works: Vec<Work> = handshake.steps().into_iter().filter_map(Step::work).collect();
        let costs = Costs::of(rows, measured.stack);
        // On a clock, only what somebody waits for.
        let is_measured = |work: &Work| over == CompareOver::Memory || !work.overlaps;
        let all = |cost: &dyn Fn(&Work) -> Option<SpeedCost>, counts: &dyn Fn(&Work) -> bool| -> Option<f64> {
            works.iter().filter(|work| counts(work)).map(|work| Some(cost(work)?.median_ns)).sum()
        };
        let rest =
            |side, spent_ns: u64| Some(spent_ns as f64 - all(&|work| costs.in_handshake(work), &|work| work.side == side)?);
        let measured_ns = match over {
            CompareOver::Memory => measured.client_ns + measured.server_ns,
            CompareOver::Loopback => measured.ready_ns?,
        };
        Some(Self {
            measured,
            measured_ns: measured_ns as f64,
            own_ns: all(&|work| costs.in_handshake(work), &is_measured)?,
            repeated_ns: all(&|work| costs.repeated(work), &is_measured)?,
            rests: [rest(CompareSide::Client, measured.client_ns)?, rest(CompareSide::Server, measured.server_ns)?],
            handshake,
        })
    }

    /// A resumption has no key: another group makes it another handshake.
    fn may_predict(&self, other: &Self) -> bool {
        let (one, another) = (&self.measured.case, &other.measured.case);
        let is_other = one.group != another.group || (one.kind == Kind::Full && one.key != another.key);
        (self.measured.stack, one.version, one.kind) == (other.measured.stack, another.version, another.kind) && is_other
    }

    fn distance(&self, other: &Self) -> u8 {
        let (one, another) = (&self.measured.case, &other.measured.case);
        let shares = one.key == another.key || one.group == another.group;
        u8::from(one.group != another.group) + 2 * u8::from(!shares)
    }

    /// By how much operations that were measured so take longer than those that are repeated: HKDF directly behind this handshake's exchange and
    /// its signature, the exchange from nothing, the verification that reads the key first.
    fn beside_repeated(&self, rows: &[SpeedRow]) -> Vec<Beside> {
        let costs = Costs::of(rows, self.measured.stack);
        let once = |operation, algorithm: &str| costs.once(operation, algorithm).map(|it| it.median_ns);
        let hkdf_after = |algorithm: &str, before| {
            let hkdf = once(Operation::Hkdf, "sha-256")? * EXPANSIONS as f64;
            Some(once(Operation::HkdfAfter, algorithm)? - once(before, algorithm)? - hkdf)
        };
        let of_group = self.handshake.group.as_deref().into_iter().flat_map(|group| {
            let exchange = costs.exchange_and_parts(group).map(|(whole, parts)| whole - parts);
            [(Operation::HkdfAfter, group, hkdf_after(group, Operation::Exchange)), (Operation::Exchange, group, exchange)]
        });
        let of_key = self.handshake.key.as_deref().into_iter().flat_map(|key| {
            let (anew, repeated) = (once(Operation::VerifyNewKey, key), once(Operation::Verify, key));
            let verify = anew.zip(repeated).map(|(anew, repeated)| anew - repeated);
            [(Operation::HkdfAfter, key, hkdf_after(key, Operation::Sign)), (Operation::VerifyNewKey, key, verify)]
        });
        let known = |(operation, algorithm, ns): (Operation, &str, Option<f64>)| {
            Some(Beside { operation, algorithm: algorithm.to_owned(), ns: ns? })
        };
        of_group.chain(of_key).filter_map(known).collect()
    }
}

/// An operation, and by how much it takes longer than what is repeated.
#[derive(Clone)]
struct Beside {
    operation: Operation,
    algorithm: String,
    ns: f64,
}

impl Beside {
    fn is_in(&self, all: &[Self]) -> bool {
        all.iter().any(|it| (it.operation, &it.algorithm) == (self.operation, &self.algorithm))
    }
}

/// What the rests differ by, and the operation that differs most in the same direction, if it is most of it.
fn missing(rows: &[SpeedRow], predicted: &Known<'_>, base: &Known<'_>) -> SpeedMissing {
    let [client_ns, server_ns] = [0, 1].map(|side: usize| {
        let of = |known: &Known<'_>| known.rests.get(side).copied().unwrap_or_default();
        of(predicted) - of(base)
    });
    let both_ns = client_ns + server_ns;
    let (own, of_base) = (predicted.beside_repeated(rows), base.beside_repeated(rows));
    let added = own.iter().filter(|it| !it.is_in(&of_base)).cloned();
    let left_out = of_base.iter().filter(|it| !it.is_in(&own)).map(|it| Beside { ns: -it.ns, ..it.clone() });
    let explains = |it: &Beside| it.ns * both_ns > 0.0 && it.ns.abs() >= MOST * both_ns.abs();
    let named = added.chain(left_out).filter(explains).max_by(|one, other| one.ns.abs().total_cmp(&other.ns.abs()));
    SpeedMissing {
        client_ns,
        server_ns,
        operation: named.as_ref().map(|it| it.operation),
        algorithm: named.as_ref().map(|it| it.algorithm.clone()),
        alone_ns: named.map(|it| it.ns),
    }
}

#[cfg(test)]
mod tests {
    use reprise_model::Version;
    use reprise_pairs::Key;
    use reprise_wire::NamedGroup;

    use super::*;
    use crate::costs::tests::row;

    const X25519: NamedGroup = NamedGroup::X25519;
    const SECP256R1: NamedGroup = NamedGroup::SECP256R1;

    fn measured(kind: Kind, key: Key, group: NamedGroup, [client_ns, server_ns]: [u64; 2]) -> Measured<'static> {
        let case = Case::new(Version::Tls13, kind, key, group, false).unwrap();
        Measured { stack: "it", case, client_ns, server_ns, ready_ns: Some(client_ns + server_ns) }
    }

    fn operations() -> Vec<SpeedRow> {
        let of_group = |group, pair, agree| [row(Operation::KeyPair, group, pair), row(Operation::Agree, group, agree)];
        let of_key = |key, sign, verify| [row(Operation::Sign, key, sign), row(Operation::Verify, key, verify)];
        let mut rows = vec![row(Operation::Hkdf, "sha-256", 1.0)];
        rows.extend(of_group("x25519", 10.0, 30.0).into_iter().chain(of_group("secp256r1", 10.0, 50.0)));
        rows.extend(of_key("rsa-2048", 300.0, 15.0).into_iter().chain(of_key("p-256", 20.0, 50.0)));
        rows
    }

    #[test]
    fn a_prediction_takes_the_rest_from_another_handshake() {
        let rsa = measured(Kind::Full, Key::RSA_2048, X25519, [100, 400]);
        let p256 = measured(Kind::Full, Key::P256, X25519, [160, 110]);
        let found = among(&operations(), vec![p256, rsa], CompareOver::Memory);
        let shown: Vec<_> = found.iter().map(|it| (it.key.as_str(), it.from_key.as_str(), it.predicted_ns)).collect();
        // RSA's operations take 330, those of P-256 120, and all others are the same.
        assert_eq!(shown, [("p-256", "rsa-2048", 500.0 - 210.0), ("rsa-2048", "p-256", 270.0 + 210.0)]);
        assert!((found[1].error - (480.0 / 500.0 - 1.0)).abs() < 1e-9 && found[1].missing.is_none());
        assert!(among(&operations(), vec![rsa], CompareOver::Memory).is_empty(), "there is no other handshake");
    }

    #[test]
    fn on_a_clock_what_overlaps_does_not_count() {
        let known = |over| {
            let p256 = measured(Kind::Full, Key::P256, X25519, [160, 110]);
            Known::of(&operations(), p256, over).unwrap()
        };
        let (memory, loopback) = (known(CompareOver::Memory), known(CompareOver::Loopback));
        assert_eq!(memory.own_ns - loopback.own_ns, 7.0, "the server's secrets of application data");
        assert_eq!(memory.rests, loopback.rests);
    }

    #[test]
    fn what_is_measured_as_tls_does_it_makes_a_prediction_hold() {
        let mut rows = operations();
        let handshakes = [(X25519, [100, 100]), (SECP256R1, [200, 200])];
        let handshakes = || handshakes.map(|(group, each)| measured(Kind::Ticket, Key::P256, group, each)).to_vec();
        let off = among(&rows, handshakes(), CompareOver::Memory);
        let missing = off[0].missing.as_ref().unwrap();
        // 400 for secp256r1 less 40 that its repeated operations take more.
        assert_eq!((off[0].predicted_ns, missing.client_ns, missing.server_ns), (360.0, -80.0, -80.0));
        assert_eq!((missing.operation, missing.alone_ns), (None, None), "nothing that was measured explains it");
        rows.extend([row(Operation::Exchange, "x25519", 80.0), row(Operation::Exchange, "secp256r1", 280.0)]);
        let holds = among(&rows, handshakes(), CompareOver::Memory);
        assert_eq!((holds[0].predicted_ns, holds[0].repeated_ns, holds[0].error), (200.0, 360.0, 0.0));
        assert!(holds.iter().all(|it| it.missing.is_none()));
    }

    #[test]
    fn a_slow_hash_behind_an_exchange_is_named() {
        let mut rows = operations();
        rows.extend([row(Operation::Exchange, "x25519", 80.0), row(Operation::Exchange, "secp256r1", 120.0)]);
        rows.extend([row(Operation::HkdfAfter, "x25519", 112.0), row(Operation::HkdfAfter, "secp256r1", 452.0)]);
        let plain = measured(Kind::Ticket, Key::P256, X25519, [100, 100]);
        let slow = measured(Kind::Ticket, Key::P256, SECP256R1, [250, 250]);
        let off = among(&rows, vec![plain, slow], CompareOver::Memory);
        let named: Vec<_> = off.iter().map(|it| it.missing.clone().unwrap()).collect();
        assert!(named.iter().all(|it| it.algorithm.as_deref() == Some("secp256r1")), "{named:?}");
        assert_eq!((named[0].alone_ns, named[1].alone_ns), (Some(-300.0), Some(300.0)));
        assert_eq!(named[1].operation, Some(Operation::HkdfAfter));
        // A miss that it is not half of has another cause.
        rows.iter_mut().filter(|it| it.operation == Operation::HkdfAfter).for_each(|it| it.once.median_ns = 200.0);
        assert_eq!(among(&rows, vec![plain, slow], CompareOver::Memory)[1].missing.as_ref().unwrap().operation, None);
    }

    #[test]
    fn an_exchange_that_takes_still_more_in_a_handshake_is_named() {
        let mut rows = operations();
        rows.extend([row(Operation::Exchange, "x25519", 80.0), row(Operation::Exchange, "secp256r1", 400.0)]);
        let plain = measured(Kind::Ticket, Key::P256, X25519, [100, 100]);
        let slow = measured(Kind::Ticket, Key::P256, SECP256R1, [400, 400]);
        let missing = among(&rows, vec![plain, slow], CompareOver::Memory).remove(1).missing.unwrap();
        assert_eq!([missing.client_ns, missing.server_ns].map(f64::round), [140.0, 140.0]);
        assert_eq!((missing.operation, missing.alone_ns), (Some(Operation::Exchange), Some(280.0)));
    }
}

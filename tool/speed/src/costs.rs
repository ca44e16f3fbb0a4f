//! What the operations of a handshake take a stack there: a key exchange from nothing and a verification by a key that is read anew, where the
//! stack shows them, and else what each takes that is repeated.

use reprise_model::Operation;
use reprise_model::document::{SpeedCost, SpeedRow};

use crate::handshake::Work;

/// The operations of one stack.
#[derive(Clone, Copy)]
pub struct Costs<'a> {
    rows: &'a [SpeedRow],
    stack: &'a str,
}

/// The parts of an exchange, and how often each is in it.
const OF_TWO_PAIRS: [(Operation, f64); 2] = [(Operation::KeyPair, 2.0), (Operation::Agree, 2.0)];
/// Of a KEM.
const OF_A_KEM: [(Operation, f64); 3] =
    [(Operation::KeyPair, 1.0), (Operation::Encapsulate, 1.0), (Operation::Decapsulate, 1.0)];

impl<'a> Costs<'a> {
    /// Of this stack.
    pub fn of(rows: &'a [SpeedRow], stack: &'a str) -> Self {
        Self { rows, stack }
    }

    /// All the times of it, in a handshake. `None` where the stack has no figure of it.
    pub fn in_handshake(self, work: &Work) -> Option<SpeedCost> {
        let (once, times) = (self.once(work.operation, &work.algorithm)?, work.times as f64);
        Some(match work.operation {
            // The certificates' keys are read anew, and what the client trusts is there.
            Operation::Verify => {
                let anew = self.once(Operation::VerifyNewKey, &work.algorithm).unwrap_or(once);
                let of_certificates = (times - 1.0).max(1.0);
                sum(scaled(anew, of_certificates), scaled(once, times - of_certificates))
            }
            Operation::KeyPair | Operation::Agree | Operation::Encapsulate | Operation::Decapsulate => {
                scaled(once, times * self.of_whole_exchange(&work.algorithm))
            }
            _ => scaled(once, times),
        })
    }

    /// All the times of it, each as it is repeated.
    pub(crate) fn repeated(self, work: &Work) -> Option<SpeedCost> {
        self.once(work.operation, &work.algorithm).map(|once| scaled(once, work.times as f64))
    }

    /// One.
    pub(crate) fn once(self, operation: Operation, algorithm: &str) -> Option<SpeedCost> {
        let is_it = |row: &&SpeedRow| {
            (row.stack.as_str(), row.operation, row.algorithm.as_str(), row.instructions)
                == (self.stack, operation, algorithm, true)
        };
        self.rows.iter().find(is_it).map(|row| row.once)
    }

    /// How many times its parts a whole exchange takes: what reading, checking and making a key first adds is spread over them.
    fn of_whole_exchange(self, group: &str) -> f64 {
        self.exchange_and_parts(group).map_or(1.0, |(whole, parts)| whole / parts)
    }

    /// What a whole exchange takes, and its parts as they are repeated.
    pub(crate) fn exchange_and_parts(self, group: &str) -> Option<(f64, f64)> {
        let sum_of = |parts: &[(Operation, f64)]| -> Option<f64> {
            parts.iter().map(|(part, times)| Some(self.once(*part, group)?.median_ns * times)).sum()
        };
        let parts = sum_of(&OF_TWO_PAIRS).or_else(|| sum_of(&OF_A_KEM)).filter(|parts| *parts > 0.0)?;
        Some((self.once(Operation::Exchange, group)?.median_ns, parts))
    }
}

/// The operations that [`Costs::in_handshake`] looks at.
pub fn measured_as(operation: Operation) -> &'static [Operation] {
    use Operation::{Agree, Decapsulate, Encapsulate, Exchange, Hkdf, KeyPair, Prf, Sign, Verify, VerifyNewKey};
    match operation {
        Verify => &[Verify, VerifyNewKey],
        KeyPair | Agree | Encapsulate | Decapsulate => &[KeyPair, Agree, Encapsulate, Decapsulate, Exchange],
        Sign => &[Sign],
        Hkdf => &[Hkdf],
        Prf => &[Prf],
        _ => &[],
    }
}

fn scaled(cost: SpeedCost, times: f64) -> SpeedCost {
    let of = |ns: f64| ns * times;
    SpeedCost { median_ns: of(cost.median_ns), ci95_ns: cost.ci95_ns.map(|it| it.map(of)), min_ns: of(cost.min_ns) }
}

fn sum(one: SpeedCost, other: SpeedCost) -> SpeedCost {
    let ci95_ns = one.ci95_ns.zip(other.ci95_ns).map(|(one, other)| [one[0] + other[0], one[1] + other[1]]);
    SpeedCost { median_ns: one.median_ns + other.median_ns, ci95_ns, min_ns: one.min_ns + other.min_ns }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use reprise_model::document::CompareSide;

    /// A row of the stack 'it'.
    pub(crate) fn row(operation: Operation, algorithm: &str, median_ns: f64) -> SpeedRow {
        SpeedRow {
            stack: "it".to_owned(),
            operation,
            algorithm: algorithm.to_owned(),
            bytes: None,
            instructions: true,
            n: 20,
            batch: 1,
            once: SpeedCost { median_ns, ci95_ns: None, min_ns: median_ns },
        }
    }

    fn took(rows: &[SpeedRow], operation: Operation, algorithm: &str, times: u64) -> Option<f64> {
        let (side, algorithm) = (CompareSide::Client, algorithm.to_owned());
        let work = Work { side, operation, algorithm, times, after: "", overlaps: false };
        Costs::of(rows, "it").in_handshake(&work).map(|cost| cost.median_ns)
    }

    #[test]
    fn an_exchange_from_nothing_is_shared_by_its_parts() {
        let mut rows = vec![row(Operation::KeyPair, "secp256r1", 10.0), row(Operation::Agree, "secp256r1", 40.0)];
        assert_eq!(took(&rows, Operation::Agree, "secp256r1", 1), Some(40.0), "there is no figure of a whole one");
        rows.push(row(Operation::Exchange, "secp256r1", 200.0));
        assert_eq!(took(&rows, Operation::KeyPair, "secp256r1", 1), Some(20.0));
        assert_eq!(took(&rows, Operation::Agree, "secp256r1", 1), Some(80.0));
        let of_kem = [Operation::KeyPair, Operation::Encapsulate, Operation::Decapsulate, Operation::Exchange];
        let rows: Vec<SpeedRow> = of_kem.iter().zip([1.0, 2.0, 3.0, 9.0]).map(|(it, ns)| row(*it, "mlkem768", ns)).collect();
        assert_eq!(took(&rows, Operation::Decapsulate, "mlkem768", 1), Some(4.5));
        assert_eq!(took(&rows, Operation::Agree, "mlkem768", 1), None);
    }

    #[test]
    fn keys_of_certificates_are_read_anew_but_the_roots_is_not() {
        let mut rows = vec![row(Operation::Verify, "p-256", 50.0)];
        assert_eq!(took(&rows, Operation::Verify, "p-256", 2), Some(100.0));
        rows.push(row(Operation::VerifyNewKey, "p-256", 150.0));
        assert_eq!(took(&rows, Operation::Verify, "p-256", 2), Some(200.0));
        assert_eq!(took(&rows, Operation::Verify, "p-256", 3), Some(350.0), "an intermediate's too");
        assert_eq!(took(&rows, Operation::Verify, "p-256", 1), Some(150.0), "the chain is not verified");
    }
}

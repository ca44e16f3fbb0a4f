//! The rules by which wolfSSL's series of 2018 explains its tables: which operations TLS 1.3 saves or adds on the critical path against
//! TLS 1.2, and so who is faster. Each is decided by this machine's operations, stack by stack.
//!
//! The series takes a server that writes each message when it has it, so that the client's work overlaps with the server's.

use reprise_model::Operation;
use reprise_model::document::{SpeedRow, SpeedRule, SpeedRuleVerdict};

/// wolfSSL, TLS 1.3 Performance, 2018.
const SOURCE: &str = "wolfSSL, TLS 1.3 Performance, part";

/// A rule: it holds where the operations of `dearer` together cost more than those of `cheaper`.
struct Rule {
    part: u8,
    rule: &'static str,
    dearer: &'static [Term],
    cheaper: &'static [Term],
}

/// An operation, its algorithm, and how often.
type Term = (Operation, &'static str, u64);

const fn rule(part: u8, rule: &'static str, dearer: &'static [Term], cheaper: &'static [Term]) -> Rule {
    Rule { part, rule, dearer, cheaper }
}

use Operation::{Agree, KeyPair, Prf, Sign, Verify};

const RULES: [Rule; 9] = [
    rule(
        1,
        "resuming with DH-2048 under TLS 1.3 takes at least 13 times as long as under 1.2, whose keys are derived alone",
        &[(KeyPair, "ffdhe2048", 2), (Agree, "ffdhe2048", 1)],
        &[(Prf, "sha-256", 26)],
    ),
    rule(
        1,
        "resuming with ECDH under TLS 1.3 takes at least twice as long as under 1.2, whose keys are derived alone",
        &[(KeyPair, "secp256r1", 2), (Agree, "secp256r1", 1)],
        &[(Prf, "sha-256", 4)],
    ),
    rule(
        2,
        "with RSA, the client verifies the chain while the server signs, so that TLS 1.3 saves a verification",
        &[(Sign, "rsa-2048", 1)],
        &[(Verify, "rsa-2048", 1)],
    ),
    rule(
        2,
        "with ECDSA, TLS 1.3 has a key pair on the path in place of a shared secret, and a key pair is the cheaper one",
        &[(Agree, "secp256r1", 1)],
        &[(KeyPair, "secp256r1", 1)],
    ),
    rule(
        2,
        "with ECDSA, a verification takes longer than a signature, so that verifications are on the path and signatures are not",
        &[(Verify, "p-256", 1)],
        &[(Sign, "p-256", 1)],
    ),
    rule(
        3,
        "with a PSK and DH-2048, TLS 1.3 computes both shared secrets at once: that saves at least a fifth of the path",
        &[(Agree, "ffdhe2048", 4)],
        &[(KeyPair, "ffdhe2048", 2), (Agree, "ffdhe2048", 1)],
    ),
    rule(
        4,
        "a server's DH-2048 key pair that is made ahead saves at least a fifth of a resumption under TLS 1.3",
        &[(KeyPair, "ffdhe2048", 4)],
        &[(KeyPair, "ffdhe2048", 1), (Agree, "ffdhe2048", 1)],
    ),
    rule(
        5,
        "with RSA and client certificates, TLS 1.3 has a signature on the path in place of a shared secret and two verifications, and is slower",
        &[(Sign, "rsa-2048", 1)],
        &[(Agree, "secp256r1", 1), (Verify, "rsa-2048", 2)],
    ),
    rule(
        5,
        "with ECDSA and client certificates, TLS 1.3 has two verifications on the path in place of a shared secret and a signature, and is slower",
        &[(Verify, "p-256", 2)],
        &[(Agree, "secp256r1", 1), (Sign, "p-256", 1)],
    ),
];

/// Each rule for each stack that has its operations.
pub(crate) fn rules(rows: &[SpeedRow], stacks: &[&str]) -> Vec<SpeedRule> {
    let of_rule = |rule: &Rule| {
        let verdicts: Vec<SpeedRuleVerdict> = stacks.iter().filter_map(|stack| verdict(rows, rule, stack)).collect();
        (!verdicts.is_empty()).then(|| SpeedRule {
            source: format!("{SOURCE} {}", rule.part),
            rule: rule.rule.to_owned(),
            more: named(rule.dearer),
            less: named(rule.cheaper),
            stacks: verdicts,
        })
    };
    RULES.iter().filter_map(of_rule).collect()
}

fn verdict(rows: &[SpeedRow], rule: &Rule, stack: &str) -> Option<SpeedRuleVerdict> {
    let sum = |terms: &[Term]| -> Option<(f64, String)> {
        let each = terms.iter().map(|&(operation, algorithm, times)| {
            let is_it = |row: &&SpeedRow| {
                (row.stack.as_str(), row.operation, row.algorithm.as_str(), row.instructions)
                    == (stack, operation, algorithm, true)
            };
            rows.iter().find(is_it).map(|row| (row.once.median_ns * times as f64, named(&[(operation, algorithm, times)])))
        });
        let each: Vec<(f64, String)> = each.collect::<Option<_>>()?;
        let total = each.iter().map(|(cost, _)| cost).sum();
        let largest = each.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some((total, largest.1))
    };
    let ((more_ns, of_more), (less_ns, of_less)) = (sum(rule.dearer)?, sum(rule.cheaper)?);
    let holds = more_ns > less_ns;
    let decided_by = if holds { of_more } else { of_less };
    Some(SpeedRuleVerdict { stack: stack.to_owned(), holds, more_ns, less_ns, decided_by })
}

/// `agree secp256r1 + 2 × verify rsa-2048`.
fn named(terms: &[Term]) -> String {
    let term = |&(operation, algorithm, times): &Term| match times {
        1 => format!("{operation} {algorithm}"),
        _ => format!("{times} × {operation} {algorithm}"),
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Primitive;
    use crate::costs::tests::row;

    #[test]
    fn every_term_is_an_operation_of_the_catalogue() {
        for rule in &RULES {
            for (operation, algorithm, times) in rule.dearer.iter().chain(rule.cheaper) {
                assert!(Primitive::of(*operation, algorithm).is_some() && *times > 0, "{operation} {algorithm}");
            }
        }
    }

    #[test]
    fn a_rule_is_decided_by_the_dearest_operation() {
        let rows = [
            row(Sign, "rsa-2048", 300.0),
            row(Verify, "rsa-2048", 15.0),
            row(Agree, "secp256r1", 40.0),
            row(Sign, "p-256", 20.0),
            row(Verify, "p-256", 10.0),
        ];
        let found = rules(&rows, &["it", "another"]);
        let shown: Vec<_> = found.iter().map(|it| (it.less.as_str(), it.stacks[0].holds)).collect();
        assert_eq!(
            shown,
            [
                ("verify rsa-2048", true),
                ("sign p-256", false),
                ("agree secp256r1 + 2 × verify rsa-2048", true),
                ("agree secp256r1 + sign p-256", false)
            ]
        );
        assert_eq!(found[2].stacks[0].decided_by, "sign rsa-2048");
        assert_eq!(found[3].stacks[0].decided_by, "agree secp256r1");
        assert!(found.iter().all(|rule| rule.stacks.len() == 1), "the other stack has no operations");
    }
}

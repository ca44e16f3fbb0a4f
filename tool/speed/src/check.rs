//! Whether an operation has come to what it should: a library that does something else is not compared.

use reprise_model::Operation;
use reprise_pairs::{Failed, FailureKind};
use reprise_stack::{PrimitiveOptions, built_in};

use crate::job::PrimitiveJob;

/// The stack that says what is right.
const REFERENCE: &str = "rustls-aws-lc";

/// Ed25519, whose signatures are the same each time.
const ED25519: u16 = 0x0807;

/// Bytes of the shortest shared secret: of X25519.
const SHORTEST_SECRET: usize = 32;

/// What an operation has come to, against the reference; signatures and random bytes, which differ each time, by their length.
pub(crate) fn output(job: &PrimitiveJob, output: &[u8]) -> Result<(), Failed> {
    let PrimitiveJob { operation, algorithm, length, .. } = *job;
    let is_right = match operation {
        Operation::Sign if algorithm != ED25519 => length_of_signature(algorithm).contains(&output.len()),
        Operation::Sign | Operation::Seal | Operation::Hash | Operation::Hkdf | Operation::Prf => reference(job)? == output,
        Operation::Random => output.len() == length && output.iter().any(|byte| *byte != 0),
        Operation::Exchange => is_one_secret(output),
        // These say so themselves where they fail.
        _ => true,
    };
    let wrong =
        || Failed::new(FailureKind::Contradicted, format!("{operation} comes to something else than in {REFERENCE}"));
    is_right.then_some(()).ok_or_else(wrong)
}

/// Whether both sides of an exchange have the same secret, and one at all.
fn is_one_secret(output: &[u8]) -> bool {
    let (one, other) = output.split_at(output.len() / 2);
    one.len() >= SHORTEST_SECRET && one == other && one.iter().any(|byte| *byte != 0)
}

fn reference(job: &PrimitiveJob) -> Result<Vec<u8>, Failed> {
    let PrimitiveJob { operation, algorithm, length, .. } = *job;
    let stack = built_in().into_iter().find(|(name, _)| *name == REFERENCE).map(|(_, stack)| stack);
    let stack = stack.ok_or_else(|| Failed::broken("there is no reference"))?;
    let options = PrimitiveOptions { operation, algorithm, length, key: job.key.as_deref() };
    let mut primitive = stack.primitive(&options)?;
    primitive.prepare(1)?;
    primitive.run(1)?;
    Ok(primitive.output()?)
}

/// RSA's is as long as the modulus; ECDSA's is two numbers in DER (RFC 3279 §2.2.3), ML-DSA's is fixed (FIPS 204, table 2).
fn length_of_signature(scheme: u16) -> std::ops::RangeInclusive<usize> {
    match scheme {
        0x0403 => 64..=72,
        0x0503 => 96..=104,
        0x0904 => 2420..=2420,
        0x0905 => 3309..=3309,
        _ => 256..=512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_pairs::StackRef;

    #[test]
    fn what_is_sealed_otherwise_is_no_figure() {
        let stack = StackRef::BuiltIn(REFERENCE.to_owned());
        let job = PrimitiveJob { stack, operation: Operation::Seal, algorithm: 0x1301, length: 64, key: None };
        let mut right = reference(&job).unwrap();
        assert_eq!(right.len(), 64 + 16);
        output(&job, &right).unwrap();
        right[3] ^= 1;
        assert_eq!(output(&job, &right).unwrap_err().outcome, FailureKind::Contradicted);
        let random = PrimitiveJob { operation: Operation::Random, algorithm: 0, ..job };
        assert!(output(&random, &[0; 64]).is_err() && output(&random, &[1; 64]).is_ok());
    }

    #[test]
    fn an_exchange_that_comes_to_two_secrets_is_no_figure() {
        let stack = StackRef::BuiltIn(REFERENCE.to_owned());
        let job = PrimitiveJob { stack, operation: Operation::Exchange, algorithm: 29, length: 0, key: None };
        let mut secrets = reference(&job).unwrap();
        output(&job, &secrets).unwrap();
        assert_ne!(secrets, reference(&job).unwrap(), "both sides make new key pairs each time");
        secrets[0] ^= 1;
        assert_eq!(output(&job, &secrets).unwrap_err().outcome, FailureKind::Contradicted);
        assert!(output(&job, &[]).is_err() && output(&job, &[0; 64]).is_err());
    }

    #[test]
    fn hashes_are_those_of_the_standard() {
        let stack = StackRef::BuiltIn(REFERENCE.to_owned());
        let job = PrimitiveJob { stack, operation: Operation::Hash, algorithm: 4, length: 0, key: None };
        // SHA-256 of nothing (FIPS 180-4).
        assert_eq!(reference(&job).unwrap()[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    }
}

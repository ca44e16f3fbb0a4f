//! Which operations are measured.

use reprise_lab::KeyKind;
use reprise_model::Operation;
use reprise_stack::is_kem;
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};

/// An operation with an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// What is done.
    pub operation: Operation,
    /// The algorithm, as it is called in tables.
    pub algorithm: &'static str,
    /// IANA's number of it; 0 of random bytes.
    pub number: u16,
    /// Bytes of data.
    pub length: usize,
    /// The key of who signs.
    pub key: Option<KeyKind>,
}

/// Bytes of a long record's data, and of what is hashed.
const LONG: usize = 1 << 14;
/// Bytes of random data: a hello's random, a key.
const RANDOM: usize = 32;

const SIGNATURES: [(KeyKind, SignatureScheme, usize); 8] = [
    (KeyKind::Rsa2048, SignatureScheme::RSA_PSS_RSAE_SHA256, 32),
    (KeyKind::Rsa3072, SignatureScheme::RSA_PSS_RSAE_SHA256, 32),
    (KeyKind::Rsa4096, SignatureScheme::RSA_PSS_RSAE_SHA256, 32),
    (KeyKind::P256, SignatureScheme::ECDSA_SECP256R1_SHA256, 32),
    (KeyKind::P384, SignatureScheme::ECDSA_SECP384R1_SHA384, 48),
    (KeyKind::Ed25519, SignatureScheme::ED25519, 32),
    (KeyKind::MlDsa44, SignatureScheme::MLDSA44, 32),
    (KeyKind::MlDsa65, SignatureScheme::MLDSA65, 32),
];

const GROUPS: [(&str, NamedGroup); 8] = [
    ("x25519", NamedGroup::X25519),
    ("secp256r1", NamedGroup::SECP256R1),
    ("secp384r1", NamedGroup::SECP384R1),
    ("ffdhe2048", NamedGroup::FFDHE2048),
    ("ffdhe3072", NamedGroup::FFDHE3072),
    ("mlkem768", NamedGroup::MLKEM768),
    ("mlkem1024", NamedGroup::MLKEM1024),
    ("x25519mlkem768", NamedGroup::X25519MLKEM768),
];

const CIPHERS: [(&str, CipherSuite); 3] = [
    ("aes-128-gcm", CipherSuite::TLS_AES_128_GCM_SHA256),
    ("aes-256-gcm", CipherSuite::TLS_AES_256_GCM_SHA384),
    ("chacha20-poly1305", CipherSuite::TLS_CHACHA20_POLY1305_SHA256),
];

/// TLS's numbers of hashes (RFC 5246 §7.4.1.4.1).
const HASHES: [(&str, u16); 2] = [("sha-256", 4), ("sha-384", 5)];

/// Every operation with every algorithm, in the order of the tables.
pub fn catalogue() -> Vec<Primitive> {
    let plain = |operation, algorithm, number, length| Primitive { operation, algorithm, number, length, key: None };
    let mut all = Vec::new();
    let signatures = |operation| {
        SIGNATURES
            .map(|(key, scheme, length)| Primitive { key: Some(key), ..plain(operation, key.label(), scheme.0, length) })
    };
    for operation in [Operation::Sign, Operation::Verify] {
        all.extend(signatures(operation));
    }
    for operation in [Operation::KeyPair, Operation::Agree, Operation::Encapsulate, Operation::Decapsulate] {
        let fits = |group: &(&str, NamedGroup)| {
            operation == Operation::KeyPair || is_kem(group.1.0) != (operation == Operation::Agree)
        };
        all.extend(GROUPS.iter().filter(|it| fits(it)).map(|(name, group)| plain(operation, name, group.0, 0)));
    }
    for operation in [Operation::Seal, Operation::Open] {
        all.extend(CIPHERS.map(|(name, suite)| plain(operation, name, suite.0, LONG)));
    }
    all.extend(HASHES.map(|(name, hash)| plain(Operation::Hash, name, hash, LONG)));
    for operation in [Operation::Hkdf, Operation::Prf] {
        all.extend(HASHES.map(|(name, hash)| plain(operation, name, hash, 0)));
    }
    all.push(plain(Operation::Random, "random", 0, RANDOM));
    all.extend(GROUPS.map(|(name, group)| plain(Operation::Exchange, name, group.0, 0)));
    all.extend(signatures(Operation::VerifyNewKey));
    let classical = GROUPS.iter().filter(|(_, group)| !is_kem(group.0));
    all.extend(classical.map(|(name, group)| plain(Operation::HkdfAfter, name, group.0, 0)));
    all.extend(signatures(Operation::HkdfAfter));
    all
}

impl Primitive {
    /// The operation of this algorithm.
    pub(crate) fn of(operation: Operation, algorithm: &str) -> Option<Self> {
        catalogue().into_iter().find(|it| it.operation == operation && it.algorithm == algorithm)
    }

    /// Whether a CPU may have instructions for it: AES, carry-less multiplication, SHA.
    pub(crate) fn has_instructions(&self) -> bool {
        match self.operation {
            Operation::Seal | Operation::Open => self.algorithm.starts_with("aes"),
            Operation::Hash | Operation::Hkdf | Operation::Prf => true,
            _ => false,
        }
    }

    /// Bytes that it works through, where it is measured by them.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let is_bulk = matches!(self.operation, Operation::Seal | Operation::Open | Operation::Hash | Operation::Random);
        is_bulk.then_some(self.length as u64)
    }

    /// The most times that are made ready at once: so little data that the caches of a core hold it.
    pub(crate) fn most_at_once(&self) -> u64 {
        if self.length >= 1024 { 32 } else { 256 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_algorithms_that_fit_it_and_none_twice() {
        let all = catalogue();
        for operation in Operation::ALL {
            assert!(all.iter().any(|it| it.operation == operation), "{operation}");
        }
        let is_there = |operation, algorithm| Primitive::of(operation, algorithm).is_some();
        assert!(is_there(Operation::Agree, "x25519") && !is_there(Operation::Agree, "mlkem768"));
        assert!(is_there(Operation::Encapsulate, "x25519mlkem768") && !is_there(Operation::Decapsulate, "x25519"));
        let mut names: Vec<_> = all.iter().map(|it| (it.operation, it.algorithm)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}

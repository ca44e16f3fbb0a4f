//! Wycheproof's vectors through the engine's own ways in: signatures through [`verify_signature`], key exchange through
//! [`EcdhKeyShare`]. What they call acceptable may go either way; a valid one must pass, an invalid one must not.

use reprise_model::Version;
use reprise_wire::{NamedGroup, SignatureScheme as Scheme};
use wycheproof::{TestResult, ecdh, ecdsa, eddsa, rsa_pkcs1_verify as pkcs1, rsa_pss_verify as pss, xdh};
use x509_cert::der::Decode;
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use super::{LeafKey, verify_signature};
use crate::key_share::{EcdhKeyShare, KeyShare};

/// Vectors that were held, and those of them that must pass.
#[derive(Default)]
struct Held {
    vectors: usize,
    valid: usize,
}

impl Held {
    fn hold(&mut self, name: &str, id: usize, expected: TestResult, passed: bool) {
        self.vectors += 1;
        self.valid += usize::from(expected == TestResult::Valid);
        match expected {
            TestResult::Valid => assert!(passed, "{name} {id}: a valid one was refused"),
            TestResult::Invalid => assert!(!passed, "{name} {id}: an invalid one was taken"),
            TestResult::Acceptable => {}
        }
    }

    /// A test that holds nothing shows nothing.
    fn at_least(&self, vectors: usize) {
        assert!(self.vectors >= vectors && self.valid > 0, "{} vectors, {} of them valid", self.vectors, self.valid);
    }
}

/// The vectors of one file, each verified by the key of its group. TLS 1.2 is where every scheme is allowed.
macro_rules! hold_signatures {
    ($held:ident, $module:ident, $name:ident, $scheme:expr) => {
        let set = $module::TestSet::load($module::TestName::$name).unwrap();
        for group in &set.test_groups {
            let spki = SubjectPublicKeyInfoOwned::from_der(&group.der).unwrap();
            let key = LeafKey::from_spki(&spki).unwrap();
            for test in &group.tests {
                let verdict = verify_signature(Version::Tls12, &key, $scheme, &test.msg, &test.sig);
                $held.hold(stringify!($name), test.tc_id, test.result, verdict.is_ok());
            }
        }
    };
}

#[test]
fn ecdsa_signatures() {
    let mut held = Held::default();
    hold_signatures!(held, ecdsa, EcdsaSecp256r1Sha256, Scheme::ECDSA_SECP256R1_SHA256);
    hold_signatures!(held, ecdsa, EcdsaSecp384r1Sha384, Scheme::ECDSA_SECP384R1_SHA384);
    // Under TLS 1.2 a scheme is a hash and ECDSA, whatever the curve.
    hold_signatures!(held, ecdsa, EcdsaSecp384r1Sha256, Scheme::ECDSA_SECP256R1_SHA256);
    held.at_least(900);
}

#[test]
fn ed25519_signatures() {
    let mut held = Held::default();
    hold_signatures!(held, eddsa, Ed25519, Scheme::ED25519);
    held.at_least(100);
}

#[test]
fn rsa_signatures() {
    let mut held = Held::default();
    hold_signatures!(held, pkcs1, Rsa2048Sha256, Scheme::RSA_PKCS1_SHA256);
    hold_signatures!(held, pkcs1, Rsa3072Sha384, Scheme::RSA_PKCS1_SHA384);
    hold_signatures!(held, pkcs1, Rsa4096Sha512, Scheme::RSA_PKCS1_SHA512);
    // The salt is as long as the hash (RFC 9846 §4.3.3).
    hold_signatures!(held, pss, RsaPss2048Sha256Mgf1SaltLen32, Scheme::RSA_PSS_RSAE_SHA256);
    hold_signatures!(held, pss, RsaPss2048Sha384Mgf1SaltLen48, Scheme::RSA_PSS_RSAE_SHA384);
    hold_signatures!(held, pss, RsaPss4096Sha512Mgf1SaltLen64, Scheme::RSA_PSS_RSAE_SHA512);
    held.at_least(1000);
}

#[test]
fn x25519_key_exchange() {
    let mut held = Held::default();
    let set = xdh::TestSet::load(xdh::TestName::X25519).unwrap();
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let passed = agrees(NamedGroup::X25519, &test.private_key, &test.public_key, &test.shared_secret);
        held.hold("X25519", test.tc_id, test.result, passed);
        // RFC 9846 §7.4.2: an all-zero secret ends the handshake.
        assert!(!passed || test.shared_secret.iter().any(|&byte| byte != 0), "X25519 {}: a secret of zeros", test.tc_id);
    }
    held.at_least(400);
}

#[test]
fn ecdh_key_exchange() {
    let mut held = Held::default();
    for (name, group, length) in [
        (ecdh::TestName::EcdhSecp256r1Ecpoint, NamedGroup::SECP256R1, 32),
        (ecdh::TestName::EcdhSecp384r1Ecpoint, NamedGroup::SECP384R1, 48),
        (ecdh::TestName::EcdhSecp521r1Ecpoint, NamedGroup::SECP521R1, 66),
    ] {
        let set = ecdh::TestSet::load(name).unwrap();
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            // As an integer it is written without leading zeros, or with one more.
            let significant = test.private_key.iter().skip_while(|&&byte| byte == 0).copied();
            let significant: Vec<u8> = significant.collect();
            let private = [vec![0; length - significant.len()], significant].concat();
            let passed = agrees(group, &private, &test.public_key, &test.shared_secret);
            // TLS has no compressed points (RFC 8422 §5.4.1), so none of them may pass, whatever else they are.
            let is_compressed = matches!(test.public_key.first(), Some(2 | 3));
            let expected = if is_compressed { TestResult::Invalid } else { test.result };
            held.hold(&format!("{group}"), test.tc_id, expected, passed);
        }
    }
    held.at_least(900);
}

/// Whether the exchange succeeds with this secret.
fn agrees(group: NamedGroup, private: &[u8], public: &[u8], secret: &[u8]) -> bool {
    let share = EcdhKeyShare::from_private_key(group, private);
    share.and_then(|share| share.agree(public)).is_ok_and(|agreed| agreed[..] == *secret)
}

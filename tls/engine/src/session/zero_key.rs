//! Whether a ticket is sealed with a key of zero bytes, which everyone has (CVE-2020-13777; a balancer whose keys were never set).
//! The tag of a ticket tells: no ticket is decrypted.

use aws_lc_rs::digest::{SHA512, digest};
use aws_lc_rs::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, HMAC_SHA256, Key, verify};

/// HMAC-SHA-256 and HMAC-SHA-1.
const SHA256_TAG: usize = 32;
const SHA1_TAG: usize = 20;

/// Whether the ticket's tag verifies under a key of zero bytes, in the layout of one of these:
///
/// ```text
/// OpenSSL, BoringSSL, nginx, HAProxy, Apache   name [16] iv [16] ciphertext [n] HMAC-SHA-256 [32] of all before
/// GnuTLS                                       name [16] iv [16] n [2] ciphertext [n] HMAC-SHA-1 [20] of all before
/// Go                                           iv [16] ciphertext [n] HMAC-SHA-256 [32], under a part of SHA-512(key)
/// ```
///
/// HMAC fills a key with zeros (RFC 2104 §2), so that a key of 16 zeros is one of 32.
pub fn is_sealed_with_zero_key(ticket: &[u8]) -> bool {
    let zeros = [0; 32];
    // Of Go's 64 bytes the third quarter is the cipher's key, and the last the tag's.
    let of_go = digest(&SHA512, &zeros);
    let go_key = of_go.as_ref().get(32..48).unwrap_or_default();
    let verifies = |key: Key, length: usize| {
        let parts = ticket.len().checked_sub(length).and_then(|at| ticket.split_at_checked(at));
        parts.is_some_and(|(sealed, tag)| sealed.len() > 32 && verify(&key, sealed, tag).is_ok())
    };
    verifies(Key::new(HMAC_SHA256, &zeros), SHA256_TAG)
        || verifies(Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &zeros), SHA1_TAG)
        || verifies(Key::new(HMAC_SHA256, go_key), SHA256_TAG)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::hmac::{Algorithm, sign};

    use super::*;

    /// A ticket of this body, sealed with this key.
    fn sealed(algorithm: Algorithm, key: &[u8], body: &[u8]) -> Vec<u8> {
        [body, sign(&Key::new(algorithm, key), body).as_ref()].concat()
    }

    #[test]
    fn a_key_of_zeros_is_known_in_each_layout() {
        let body: Vec<u8> = (0..160_u8).map(|byte| byte.wrapping_mul(7)).collect();
        let zeros = [0; 32];
        assert!(is_sealed_with_zero_key(&sealed(HMAC_SHA256, &zeros, &body)));
        assert!(is_sealed_with_zero_key(&sealed(HMAC_SHA256, &zeros[..16], &body)));
        assert!(is_sealed_with_zero_key(&sealed(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &zeros[..16], &body)));
    }

    #[test]
    fn any_other_key_is_not_taken_for_zeros() {
        let body: Vec<u8> = (0..160_u8).map(|byte| byte.wrapping_mul(7)).collect();
        let mut key = [0; 32];
        key[31] = 1;
        assert!(!is_sealed_with_zero_key(&sealed(HMAC_SHA256, &key, &body)));
        let mut changed = sealed(HMAC_SHA256, &[0; 32], &body);
        changed[0] ^= 1;
        assert!(!is_sealed_with_zero_key(&changed));
        for short in [&[][..], &[0; 20], &[0; 32], &[0; 64]] {
            assert!(!is_sealed_with_zero_key(short));
        }
    }
}

//! What a plugin has code for beside portable C: assembler, CPU instructions, arithmetic for one curve. Told by the functions in its file, so
//! that it is what was linked, and not what a build was asked for.

/// Algorithms, and functions that only such code has: one of each library, on x86-64 and AArch64.
const FUNCTIONS: [(&str, &[&str]); 8] = [
    (
        "AES",
        &[
            "aesni_encrypt",
            "aes_v8_encrypt",
            "aes_hw_encrypt",
            "mbedtls_aesni_crypt_ecb",
            "mbedtls_aesce_crypt_ecb",
            "br_aes_x86ni_ctr_run",
            "AES_ECB_encrypt_AESNI",
        ],
    ),
    (
        "SHA-256",
        &["sha256_block_data_order_shaext", "sha256_block_data_order_hw", "sha256_block_armv8", "Transform_Sha256_AVX2"],
    ),
    ("P-256", &["ecp_nistz256_mul_mont", "ecp_nistz256_mul_mont_nohw", "p256_montjscalarmul", "sp_256_mont_mul_avx2_4"]),
    ("P-384", &["ossl_ec_GFp_nistp384_method", "bignum_montmul_p384", "sp_384_mont_reduce_order_avx2_6"]),
    ("X25519", &["x25519_fe51_mul", "curve25519_x25519_byte", "fiat_curve25519_adx_mul", "curve25519_avx2"]),
    ("RSA", &["bn_mul_mont", "bn_mul_mont_nohw", "sp_2048_mont_reduce_avx2_32"]),
    ("ML-KEM", &["mlkem_encapsulate_avx2"]),
    ("ML-DSA", &["wc_mldsa_ntt_full_avx2"]),
];

/// Most of a file is not words.
const SHORTEST: usize = "bn_mul_mont".len();

/// The algorithms, of the bytes of a plugin's file; none where it has no names of functions, or the library is another file.
pub(crate) fn optimised(file: &[u8]) -> Vec<String> {
    let mut found = [false; FUNCTIONS.len()];
    for word in file.split(|byte| *byte == 0).filter(|word| word.len() >= SHORTEST) {
        for (is_found, (_, functions)) in found.iter_mut().zip(FUNCTIONS) {
            // The linker has one text for two names of which one ends with the other.
            *is_found = *is_found || functions.iter().any(|function| word.ends_with(function.as_bytes()));
        }
    }
    FUNCTIONS.iter().zip(found).filter(|(_, found)| *found).map(|((algorithm, _), _)| (*algorithm).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_told_by_whole_names() {
        assert_eq!(optimised(b"\0x25519_fe51_mul\0aesni_encrypt_more\0"), ["X25519"]);
        assert_eq!(optimised(b"\x7fELF\0bn_mul_mont\0\0ecp_nistz256_mul_mont\0"), ["P-256", "RSA"]);
        assert_eq!(optimised(b"\0an_x86ni\0"), Vec::<String>::new());
    }
}

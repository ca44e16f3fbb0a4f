use super::registry;

registry! {
    /// A signature algorithm: in TLS 1.2 a hash and an algorithm, in TLS 1.3 also the curve.
    ///
    /// Source: IANA, TLS SignatureScheme. The values that only TLS 1.2 has are named in its manner, hash last.
    pub struct SignatureScheme(pub u16) {
        RSA_PKCS1_MD5 = 0x0101, "rsa_pkcs1_md5";
        DSA_MD5 = 0x0102, "dsa_md5";
        ECDSA_MD5 = 0x0103, "ecdsa_md5";
        RSA_PKCS1_SHA1 = 0x0201, "rsa_pkcs1_sha1";
        DSA_SHA1 = 0x0202, "dsa_sha1";
        ECDSA_SHA1 = 0x0203, "ecdsa_sha1";
        RSA_PKCS1_SHA224 = 0x0301, "rsa_pkcs1_sha224";
        DSA_SHA224 = 0x0302, "dsa_sha224";
        ECDSA_SHA224 = 0x0303, "ecdsa_sha224";
        RSA_PKCS1_SHA256 = 0x0401, "rsa_pkcs1_sha256";
        DSA_SHA256 = 0x0402, "dsa_sha256";
        ECDSA_SECP256R1_SHA256 = 0x0403, "ecdsa_secp256r1_sha256";
        RSA_PKCS1_SHA256_LEGACY = 0x0420, "rsa_pkcs1_sha256_legacy";
        RSA_PKCS1_SHA384 = 0x0501, "rsa_pkcs1_sha384";
        DSA_SHA384 = 0x0502, "dsa_sha384";
        ECDSA_SECP384R1_SHA384 = 0x0503, "ecdsa_secp384r1_sha384";
        RSA_PKCS1_SHA384_LEGACY = 0x0520, "rsa_pkcs1_sha384_legacy";
        RSA_PKCS1_SHA512 = 0x0601, "rsa_pkcs1_sha512";
        DSA_SHA512 = 0x0602, "dsa_sha512";
        ECDSA_SECP521R1_SHA512 = 0x0603, "ecdsa_secp521r1_sha512";
        RSA_PKCS1_SHA512_LEGACY = 0x0620, "rsa_pkcs1_sha512_legacy";
        ECCSI_SHA256 = 0x0704, "eccsi_sha256";
        SM2SIG_SM3 = 0x0708, "sm2sig_sm3";
        RSA_PSS_RSAE_SHA256 = 0x0804, "rsa_pss_rsae_sha256";
        RSA_PSS_RSAE_SHA384 = 0x0805, "rsa_pss_rsae_sha384";
        RSA_PSS_RSAE_SHA512 = 0x0806, "rsa_pss_rsae_sha512";
        ED25519 = 0x0807, "ed25519";
        ED448 = 0x0808, "ed448";
        RSA_PSS_PSS_SHA256 = 0x0809, "rsa_pss_pss_sha256";
        RSA_PSS_PSS_SHA384 = 0x080a, "rsa_pss_pss_sha384";
        RSA_PSS_PSS_SHA512 = 0x080b, "rsa_pss_pss_sha512";
        ECDSA_BRAINPOOLP256R1TLS13_SHA256 = 0x081a, "ecdsa_brainpoolP256r1tls13_sha256";
        ECDSA_BRAINPOOLP384R1TLS13_SHA384 = 0x081b, "ecdsa_brainpoolP384r1tls13_sha384";
        ECDSA_BRAINPOOLP512R1TLS13_SHA512 = 0x081c, "ecdsa_brainpoolP512r1tls13_sha512";
        MLDSA44 = 0x0904, "mldsa44";
        MLDSA65 = 0x0905, "mldsa65";
        MLDSA87 = 0x0906, "mldsa87";
    }
}

use super::registry;

registry! {
    /// A group for key exchange. Source: IANA, TLS Supported Groups; the aliases are NIST's and OpenSSL's names.
    pub struct NamedGroup(pub u16) {
        SECT163K1 = 1, "sect163k1" | "K-163";
        SECT163R1 = 2, "sect163r1";
        SECT163R2 = 3, "sect163r2" | "B-163";
        SECT193R1 = 4, "sect193r1";
        SECT193R2 = 5, "sect193r2";
        SECT233K1 = 6, "sect233k1" | "K-233";
        SECT233R1 = 7, "sect233r1" | "B-233";
        SECT239K1 = 8, "sect239k1";
        SECT283K1 = 9, "sect283k1" | "K-283";
        SECT283R1 = 10, "sect283r1" | "B-283";
        SECT409K1 = 11, "sect409k1" | "K-409";
        SECT409R1 = 12, "sect409r1" | "B-409";
        SECT571K1 = 13, "sect571k1" | "K-571";
        SECT571R1 = 14, "sect571r1" | "B-571";
        SECP160K1 = 15, "secp160k1";
        SECP160R1 = 16, "secp160r1";
        SECP160R2 = 17, "secp160r2";
        SECP192K1 = 18, "secp192k1";
        SECP192R1 = 19, "secp192r1" | "P-192" | "prime192v1";
        SECP224K1 = 20, "secp224k1";
        SECP224R1 = 21, "secp224r1" | "P-224";
        SECP256K1 = 22, "secp256k1";
        SECP256R1 = 23, "secp256r1" | "P-256" | "prime256v1";
        SECP384R1 = 24, "secp384r1" | "P-384";
        SECP521R1 = 25, "secp521r1" | "P-521";
        BRAINPOOLP256R1 = 26, "brainpoolP256r1";
        BRAINPOOLP384R1 = 27, "brainpoolP384r1";
        BRAINPOOLP512R1 = 28, "brainpoolP512r1";
        X25519 = 29, "x25519";
        X448 = 30, "x448";
        BRAINPOOLP256R1TLS13 = 31, "brainpoolP256r1tls13";
        BRAINPOOLP384R1TLS13 = 32, "brainpoolP384r1tls13";
        BRAINPOOLP512R1TLS13 = 33, "brainpoolP512r1tls13";
        GC256A = 34, "GC256A";
        GC256B = 35, "GC256B";
        GC256C = 36, "GC256C";
        GC256D = 37, "GC256D";
        GC512A = 38, "GC512A";
        GC512B = 39, "GC512B";
        GC512C = 40, "GC512C";
        CURVESM2 = 41, "curveSM2" | "SM2";
        FFDHE2048 = 256, "ffdhe2048";
        FFDHE3072 = 257, "ffdhe3072";
        FFDHE4096 = 258, "ffdhe4096";
        FFDHE6144 = 259, "ffdhe6144";
        FFDHE8192 = 260, "ffdhe8192";
        MLKEM512 = 512, "MLKEM512";
        MLKEM768 = 513, "MLKEM768";
        MLKEM1024 = 514, "MLKEM1024";
        SECP256R1MLKEM768 = 4587, "SecP256r1MLKEM768";
        X25519MLKEM768 = 4588, "X25519MLKEM768";
        SECP384R1MLKEM1024 = 4589, "SecP384r1MLKEM1024";
        CURVESM2MLKEM768 = 4590, "curveSM2MLKEM768";
        X25519KYBER768DRAFT00 = 25497, "X25519Kyber768Draft00";
    }
}

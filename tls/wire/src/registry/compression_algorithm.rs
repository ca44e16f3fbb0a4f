use super::registry;

registry! {
    /// How a certificate message is compressed. Source: IANA, TLS Certificate Compression Algorithm IDs (RFC 8879).
    pub struct CertificateCompressionAlgorithm(pub u16) {
        ZLIB = 1, "zlib";
        BROTLI = 2, "brotli";
        ZSTD = 3, "zstd";
    }
}

use super::registry;

registry! {
    /// A version of the protocol; the aliases are OpenSSL's names. Source: the RFC of each version.
    pub struct ProtocolVersion(pub u16) {
        SSL_2_0 = 0x0002, "SSL 2.0" | "SSLv2";
        SSL_3_0 = 0x0300, "SSL 3.0" | "SSLv3";
        TLS_1_0 = 0x0301, "TLS 1.0" | "TLSv1" | "TLSv1.0";
        TLS_1_1 = 0x0302, "TLS 1.1" | "TLSv1.1";
        TLS_1_2 = 0x0303, "TLS 1.2" | "TLSv1.2";
        TLS_1_3 = 0x0304, "TLS 1.3" | "TLSv1.3";
        DTLS_1_0 = 0xfeff, "DTLS 1.0" | "DTLSv1";
        DTLS_1_2 = 0xfefd, "DTLS 1.2" | "DTLSv1.2";
        DTLS_1_3 = 0xfefc, "DTLS 1.3" | "DTLSv1.3";
    }
}

use super::registry;

registry! {
    /// What a record carries. Source: IANA, TLS ContentType.
    pub struct ContentType(pub u8) {
        CHANGE_CIPHER_SPEC = 20, "change_cipher_spec";
        ALERT = 21, "alert";
        HANDSHAKE = 22, "handshake";
        APPLICATION_DATA = 23, "application_data";
        HEARTBEAT = 24, "heartbeat";
        TLS12_CID = 25, "tls12_cid";
        ACK = 26, "ACK";
        RETURN_ROUTABILITY_CHECK = 27, "return_routability_check";
    }
}

use super::registry;

registry! {
    /// Whether a PSK stands alone or beside a fresh key exchange. Source: IANA, TLS PskKeyExchangeMode.
    pub struct PskKeyExchangeMode(pub u8) {
        PSK_KE = 0, "psk_ke";
        PSK_DHE_KE = 1, "psk_dhe_ke";
    }
}

use super::registry;

registry! {
    /// How bad an alert is. Source: RFC 5246, section 7.2; TLS 1.3 ignores it.
    pub struct AlertLevel(pub u8) {
        WARNING = 1, "warning";
        FATAL = 2, "fatal";
    }
}

registry! {
    /// What an alert says. Source: IANA, TLS Alerts, and the reserved values of older versions.
    pub struct AlertDescription(pub u8) {
        CLOSE_NOTIFY = 0, "close_notify";
        UNEXPECTED_MESSAGE = 10, "unexpected_message";
        BAD_RECORD_MAC = 20, "bad_record_mac";
        DECRYPTION_FAILED = 21, "decryption_failed";
        RECORD_OVERFLOW = 22, "record_overflow";
        DECOMPRESSION_FAILURE = 30, "decompression_failure";
        HANDSHAKE_FAILURE = 40, "handshake_failure";
        NO_CERTIFICATE = 41, "no_certificate";
        BAD_CERTIFICATE = 42, "bad_certificate";
        UNSUPPORTED_CERTIFICATE = 43, "unsupported_certificate";
        CERTIFICATE_REVOKED = 44, "certificate_revoked";
        CERTIFICATE_EXPIRED = 45, "certificate_expired";
        CERTIFICATE_UNKNOWN = 46, "certificate_unknown";
        ILLEGAL_PARAMETER = 47, "illegal_parameter";
        UNKNOWN_CA = 48, "unknown_ca";
        ACCESS_DENIED = 49, "access_denied";
        DECODE_ERROR = 50, "decode_error";
        DECRYPT_ERROR = 51, "decrypt_error";
        TOO_MANY_CIDS_REQUESTED = 52, "too_many_cids_requested";
        EXPORT_RESTRICTION = 60, "export_restriction";
        PROTOCOL_VERSION = 70, "protocol_version";
        INSUFFICIENT_SECURITY = 71, "insufficient_security";
        INTERNAL_ERROR = 80, "internal_error";
        INAPPROPRIATE_FALLBACK = 86, "inappropriate_fallback";
        USER_CANCELED = 90, "user_canceled";
        NO_RENEGOTIATION = 100, "no_renegotiation";
        MISSING_EXTENSION = 109, "missing_extension";
        UNSUPPORTED_EXTENSION = 110, "unsupported_extension";
        CERTIFICATE_UNOBTAINABLE = 111, "certificate_unobtainable";
        UNRECOGNIZED_NAME = 112, "unrecognized_name";
        BAD_CERTIFICATE_STATUS_RESPONSE = 113, "bad_certificate_status_response";
        BAD_CERTIFICATE_HASH_VALUE = 114, "bad_certificate_hash_value";
        UNKNOWN_PSK_IDENTITY = 115, "unknown_psk_identity";
        CERTIFICATE_REQUIRED = 116, "certificate_required";
        GENERAL_ERROR = 117, "general_error";
        NO_APPLICATION_PROTOCOL = 120, "no_application_protocol";
        ECH_REQUIRED = 121, "ech_required";
    }
}

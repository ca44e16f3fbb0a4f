use super::registry;

registry! {
    /// The type of an extension. Source: IANA, TLS ExtensionType Values, and what was used without being assigned.
    pub struct ExtensionType(pub u16) {
        SERVER_NAME = 0, "server_name";
        MAX_FRAGMENT_LENGTH = 1, "max_fragment_length";
        CLIENT_CERTIFICATE_URL = 2, "client_certificate_url";
        TRUSTED_CA_KEYS = 3, "trusted_ca_keys";
        TRUNCATED_HMAC = 4, "truncated_hmac";
        STATUS_REQUEST = 5, "status_request";
        USER_MAPPING = 6, "user_mapping";
        CLIENT_AUTHZ = 7, "client_authz";
        SERVER_AUTHZ = 8, "server_authz";
        CERT_TYPE = 9, "cert_type";
        SUPPORTED_GROUPS = 10, "supported_groups" | "elliptic_curves";
        EC_POINT_FORMATS = 11, "ec_point_formats";
        SRP = 12, "srp";
        SIGNATURE_ALGORITHMS = 13, "signature_algorithms";
        USE_SRTP = 14, "use_srtp";
        HEARTBEAT = 15, "heartbeat";
        APPLICATION_LAYER_PROTOCOL_NEGOTIATION = 16, "application_layer_protocol_negotiation" | "alpn";
        STATUS_REQUEST_V2 = 17, "status_request_v2";
        SIGNED_CERTIFICATE_TIMESTAMP = 18, "signed_certificate_timestamp";
        CLIENT_CERTIFICATE_TYPE = 19, "client_certificate_type";
        SERVER_CERTIFICATE_TYPE = 20, "server_certificate_type";
        PADDING = 21, "padding";
        ENCRYPT_THEN_MAC = 22, "encrypt_then_mac";
        EXTENDED_MASTER_SECRET = 23, "extended_master_secret" | "extended_main_secret";
        TOKEN_BINDING = 24, "token_binding";
        CACHED_INFO = 25, "cached_info";
        TLS_LTS = 26, "tls_lts";
        COMPRESS_CERTIFICATE = 27, "compress_certificate";
        RECORD_SIZE_LIMIT = 28, "record_size_limit";
        PWD_PROTECT = 29, "pwd_protect";
        PWD_CLEAR = 30, "pwd_clear";
        PASSWORD_SALT = 31, "password_salt";
        TICKET_PINNING = 32, "ticket_pinning";
        TLS_CERT_WITH_EXTERN_PSK = 33, "tls_cert_with_extern_psk";
        DELEGATED_CREDENTIAL = 34, "delegated_credential";
        SESSION_TICKET = 35, "session_ticket";
        TLMSP = 36, "TLMSP";
        TLMSP_PROXYING = 37, "TLMSP_proxying";
        TLMSP_DELEGATE = 38, "TLMSP_delegate";
        SUPPORTED_EKT_CIPHERS = 39, "supported_ekt_ciphers";
        PRE_SHARED_KEY = 41, "pre_shared_key";
        EARLY_DATA = 42, "early_data";
        SUPPORTED_VERSIONS = 43, "supported_versions";
        COOKIE = 44, "cookie";
        PSK_KEY_EXCHANGE_MODES = 45, "psk_key_exchange_modes";
        CERTIFICATE_AUTHORITIES = 47, "certificate_authorities";
        OID_FILTERS = 48, "oid_filters";
        POST_HANDSHAKE_AUTH = 49, "post_handshake_auth";
        SIGNATURE_ALGORITHMS_CERT = 50, "signature_algorithms_cert";
        KEY_SHARE = 51, "key_share";
        TRANSPARENCY_INFO = 52, "transparency_info";
        CONNECTION_ID_DEPRECATED = 53, "connection_id_deprecated";
        CONNECTION_ID = 54, "connection_id";
        EXTERNAL_ID_HASH = 55, "external_id_hash";
        EXTERNAL_SESSION_ID = 56, "external_session_id";
        QUIC_TRANSPORT_PARAMETERS = 57, "quic_transport_parameters";
        TICKET_REQUEST = 58, "ticket_request";
        DNSSEC_CHAIN = 59, "dnssec_chain";
        SEQUENCE_NUMBER_ENCRYPTION_ALGORITHMS = 60, "sequence_number_encryption_algorithms";
        RRC = 61, "rrc";
        TLS_FLAGS = 62, "tls_flags";
        NEXT_PROTOCOL_NEGOTIATION = 13172, "next_protocol_negotiation";
        APPLICATION_SETTINGS_DRAFT = 17513, "application_settings_draft";
        APPLICATION_SETTINGS = 17613, "application_settings";
        ECH_OUTER_EXTENSIONS = 64768, "ech_outer_extensions";
        ENCRYPTED_CLIENT_HELLO = 65037, "encrypted_client_hello";
        RENEGOTIATION_INFO = 65281, "renegotiation_info";
    }
}

impl ExtensionType {
    /// [`ExtensionType::APPLICATION_LAYER_PROTOCOL_NEGOTIATION`], as everybody calls it (RFC 7301).
    pub const ALPN: Self = Self::APPLICATION_LAYER_PROTOCOL_NEGOTIATION;
}

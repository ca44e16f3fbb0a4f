//! Everything that can be parsed, as tables: parse the bytes, and emit what was understood.

use reprise_wire::extensions::*;
use reprise_wire::*;

/// Parses a whole body, or an extension's data, and emits it again.
pub type Reemit = fn(&[u8]) -> Result<Vec<u8>, Error>;

/// Whatever a parser accepts, it gives back byte for byte; what it refuses, it refuses without a panic.
pub fn holds_for(table: &[(&str, Reemit)], bytes: &[u8]) {
    for (name, reemit) in table {
        if let Ok(emitted) = reemit(bytes) {
            assert_eq!(emitted, bytes, "{name}");
        }
    }
}

/// The parsers of messages by name; where the two versions differ, that of TLS 1.3 stands first.
pub const MESSAGES: &[(&str, Reemit)] = &[
    ("ClientHello", |bytes| emitted(bytes, ClientHello::parse, ClientHello::emit)),
    ("ServerHello", |bytes| emitted(bytes, ServerHello::parse, ServerHello::emit)),
    ("HelloRetryRequest", |bytes| emitted(bytes, ServerHello::parse, ServerHello::emit)),
    ("EncryptedExtensions", |bytes| emitted(bytes, EncryptedExtensions::parse, EncryptedExtensions::emit)),
    ("Certificate", |bytes| emitted(bytes, CertificateTls13::parse, CertificateTls13::emit)),
    ("Certificate", |bytes| emitted(bytes, CertificateTls12::parse, CertificateTls12::emit)),
    ("CompressedCertificate", |bytes| emitted(bytes, CompressedCertificate::parse, CompressedCertificate::emit)),
    ("CertificateRequest", |bytes| emitted(bytes, CertificateRequestTls13::parse, CertificateRequestTls13::emit)),
    ("CertificateRequest", |bytes| emitted(bytes, CertificateRequestTls12::parse, CertificateRequestTls12::emit)),
    ("CertificateVerify", |bytes| emitted(bytes, CertificateVerify::parse, CertificateVerify::emit)),
    ("ServerKeyExchange", |bytes| emitted(bytes, ServerKeyExchangeEcdhe::parse, ServerKeyExchangeEcdhe::emit)),
    ("ServerKeyExchange", |bytes| emitted(bytes, ServerKeyExchangeDhe::parse, ServerKeyExchangeDhe::emit)),
    ("ClientKeyExchange", |bytes| emitted(bytes, ClientKeyExchange::parse_ecdhe, ClientKeyExchange::emit)),
    ("ClientKeyExchange", |bytes| emitted(bytes, ClientKeyExchange::parse_rsa, ClientKeyExchange::emit)),
    ("NewSessionTicket", |bytes| emitted(bytes, NewSessionTicketTls13::parse, NewSessionTicketTls13::emit)),
    ("NewSessionTicket", |bytes| emitted(bytes, NewSessionTicketTls12::parse, NewSessionTicketTls12::emit)),
    ("Finished", |bytes| emitted(bytes, Finished::parse, Finished::emit)),
    ("KeyUpdate", |bytes| emitted(bytes, KeyUpdate::parse, KeyUpdate::emit)),
    ("EndOfEarlyData", |bytes| emitted(bytes, EndOfEarlyData::parse, EndOfEarlyData::emit)),
    ("HelloRequest", |bytes| emitted(bytes, HelloRequest::parse, HelloRequest::emit)),
    ("ServerHelloDone", |bytes| emitted(bytes, ServerHelloDone::parse, ServerHelloDone::emit)),
    ("MessageHash", |bytes| emitted(bytes, MessageHash::parse, MessageHash::emit)),
    ("Alert", |bytes| emitted(bytes, Alert::parse, Alert::emit)),
    ("ChangeCipherSpec", |bytes| emitted(bytes, ChangeCipherSpec::parse, ChangeCipherSpec::emit)),
];

/// The parsers of extensions by name; where client and server differ, the client's stands first.
pub const EXTENSIONS: &[(&str, Reemit)] = &[
    ("server_name", |bytes| emitted(bytes, ServerNameList::parse, ServerNameList::emit)),
    ("status_request", |bytes| emitted(bytes, StatusRequest::parse, StatusRequest::emit)),
    ("supported_groups", |bytes| emitted(bytes, SupportedGroups::parse, SupportedGroups::emit)),
    ("ec_point_formats", |bytes| emitted(bytes, EcPointFormats::parse, EcPointFormats::emit)),
    ("signature_algorithms", |bytes| emitted(bytes, SignatureAlgorithms::parse, SignatureAlgorithms::emit)),
    ("application_layer_protocol_negotiation", |bytes| emitted(bytes, ProtocolNameList::parse, ProtocolNameList::emit)),
    ("application_layer_protocol_negotiation", |bytes| emitted(bytes, SelectedProtocol::parse, SelectedProtocol::emit)),
    ("session_ticket", |bytes| emitted(bytes, SessionTicket::parse, SessionTicket::emit)),
    ("compress_certificate", |bytes| emitted(bytes, CompressCertificate::parse, CompressCertificate::emit)),
    ("record_size_limit", |bytes| emitted(bytes, RecordSizeLimit::parse, RecordSizeLimit::emit)),
    ("pre_shared_key", |bytes| emitted(bytes, OfferedPsks::parse, OfferedPsks::emit)),
    ("pre_shared_key", |bytes| emitted(bytes, SelectedPsk::parse, SelectedPsk::emit)),
    ("early_data", |bytes| emitted(bytes, EarlyDataLimit::parse, EarlyDataLimit::emit)),
    ("supported_versions", |bytes| emitted(bytes, SupportedVersions::parse, SupportedVersions::emit)),
    ("supported_versions", |bytes| emitted(bytes, SelectedVersion::parse, SelectedVersion::emit)),
    ("cookie", |bytes| emitted(bytes, Cookie::parse, Cookie::emit)),
    ("psk_key_exchange_modes", |bytes| emitted(bytes, PskKeyExchangeModes::parse, PskKeyExchangeModes::emit)),
    ("certificate_authorities", |bytes| emitted(bytes, CertificateAuthorities::parse, CertificateAuthorities::emit)),
    ("key_share", |bytes| emitted(bytes, KeyShareClientHello::parse, KeyShareClientHello::emit)),
    ("key_share", |bytes| emitted(bytes, KeyShareServerHello::parse, KeyShareServerHello::emit)),
    ("key_share", |bytes| emitted(bytes, KeyShareHelloRetryRequest::parse, KeyShareHelloRetryRequest::emit)),
    ("renegotiation_info", |bytes| emitted(bytes, RenegotiationInfo::parse, RenegotiationInfo::emit)),
    ("ticket_request", |bytes| emitted(bytes, TicketRequest::parse, TicketRequest::emit)),
    ("ticket_request", |bytes| emitted(bytes, TicketRequestHint::parse, TicketRequestHint::emit)),
    ("(empty)", |bytes| emitted(bytes, Empty::parse, Empty::emit)),
];

fn emitted<'a, T: std::fmt::Debug>(
    bytes: &'a [u8],
    parse: fn(&'a [u8]) -> Result<T, Error>,
    emit: fn(&T, &mut Vec<u8>),
) -> Result<Vec<u8>, Error> {
    let parsed = parse(bytes)?;
    // Showing it walks over every list inside.
    assert!(!format!("{parsed:?}").is_empty());
    let mut out = Vec::new();
    emit(&parsed, &mut out);
    Ok(out)
}

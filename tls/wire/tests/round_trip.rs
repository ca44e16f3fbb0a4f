//! What is emitted is parsed to the same value.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test stops where it fails")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use reprise_wire::extensions::*;
use reprise_wire::*;

/// Emits a value and parses it again.
macro_rules! returns {
    ($parse:path, $value:expr) => {{
        let value = $value;
        let mut out = Vec::new();
        value.emit(&mut out);
        prop_assert_eq!($parse(&out), Ok(value));
    }};
}

fn config() -> Config {
    Config { cases: 256, rng_seed: RngSeed::Fixed(5246), failure_persistence: None, ..Config::default() }
}

mod messages {
    use super::*;

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn client_hello(
            version: u16,
            random: [u8; 32],
            session_id in bytes(0..=32),
            suites in values(1..=100),
            compression_methods in bytes(1..=255),
            extensions in option::of(extensions()),
        ) {
            returns!(ClientHello::parse, ClientHello {
                legacy_version: ProtocolVersion(version),
                random: &random,
                session_id: &session_id,
                cipher_suites: List16::from_bytes(&suites).unwrap(),
                compression_methods: &compression_methods,
                extensions: extensions.as_ref().map(ExtensionsBuilder::view),
            });
        }

        #[test]
        fn server_hello(
            version: u16,
            random: [u8; 32],
            session_id in bytes(0..=32),
            suite: u16,
            compression_method: u8,
            extensions in option::of(extensions()),
        ) {
            returns!(ServerHello::parse, ServerHello {
                legacy_version: ProtocolVersion(version),
                random: &random,
                session_id: &session_id,
                cipher_suite: CipherSuite(suite),
                compression_method,
                extensions: extensions.as_ref().map(ExtensionsBuilder::view),
            });
        }

        #[test]
        fn extensions_and_requests(extensions in extensions(), context in bytes(0..=255)) {
            let extensions = extensions.view();
            returns!(EncryptedExtensions::parse, EncryptedExtensions { extensions });
            returns!(CertificateRequestTls13::parse, CertificateRequestTls13 { context: &context, extensions });
        }

        #[test]
        fn certificate_tls13(context in bytes(0..=255), chain in vec((bytes(1..=3000), extensions()), 0..4)) {
            let entries: Vec<_> = chain
                .iter()
                .map(|(cert_data, extensions)| CertificateEntry { cert_data, extensions: extensions.view() })
                .collect();
            let encoded = encoded(entries.iter().copied());
            let list = List::from_bytes(&encoded).unwrap();
            prop_assert!(list.iter().eq(entries));
            returns!(CertificateTls13::parse, CertificateTls13 { context: &context, entries: list });
        }

        #[test]
        fn certificate_tls12(chain in vec(bytes(1..=3000), 0..4)) {
            let encoded = encoded(chain.iter().map(|der| CertificateDer(der)));
            let message = CertificateTls12 { certificates: List::from_bytes(&encoded).unwrap() };
            prop_assert!(message.iter().eq(chain.iter().map(Vec::as_slice)));
            returns!(CertificateTls12::parse, message);
        }

        #[test]
        fn certificate_request_tls12(
            certificate_types in bytes(1..=255),
            schemes in values(1..=40),
            authorities in vec(bytes(1..=200), 0..5),
        ) {
            let authorities = encoded(authorities.iter().map(|name| DistinguishedName(name)));
            returns!(CertificateRequestTls12::parse, CertificateRequestTls12 {
                certificate_types: &certificate_types,
                signature_schemes: List16::from_bytes(&schemes).unwrap(),
                authorities: List::from_bytes(&authorities).unwrap(),
            });
        }

        #[test]
        fn signatures(scheme: u16, long in bytes(1..=600)) {
            let scheme = SignatureScheme(scheme);
            returns!(CertificateVerify::parse, CertificateVerify { scheme, signature: &long });
        }

        #[test]
        fn server_key_exchange_ecdhe(
            group: u16,
            public in bytes(1..=255),
            scheme: u16,
            signature in bytes(0..=512),
        ) {
            let mut params = Vec::new();
            ServerKeyExchangeEcdhe::emit_params(NamedGroup(group), &public, &mut params);
            returns!(ServerKeyExchangeEcdhe::parse, ServerKeyExchangeEcdhe {
                group: NamedGroup(group),
                public: &public,
                params_raw: &params,
                scheme: SignatureScheme(scheme),
                signature: &signature,
            });
        }

        #[test]
        fn server_key_exchange_dhe(
            p in bytes(1..=512),
            g in bytes(1..=4),
            public in bytes(1..=512),
            scheme: u16,
            signature in bytes(0..=512),
        ) {
            let params = encoded([&p, &g, &public].map(|number| DistinguishedName(number)));
            returns!(ServerKeyExchangeDhe::parse, ServerKeyExchangeDhe {
                p: &p,
                g: &g,
                public: &public,
                params_raw: &params,
                scheme: SignatureScheme(scheme),
                signature: &signature,
            });
        }

        #[test]
        fn client_key_exchange(public in bytes(1..=255), encrypted in bytes(0..=600)) {
            returns!(ClientKeyExchange::parse_ecdhe, ClientKeyExchange::Ecdhe { public: &public });
            returns!(ClientKeyExchange::parse_rsa, ClientKeyExchange::Rsa { encrypted: &encrypted });
        }

        #[test]
        fn tickets(lifetime: u32, age_add: u32, nonce in bytes(0..=255), ticket in bytes(1..=2000), limit: Option<u32>) {
            returns!(NewSessionTicketTls12::parse, NewSessionTicketTls12 {
                lifetime_hint: lifetime,
                ticket: &ticket,
            });
            let mut extensions = ExtensionsBuilder::new();
            if let Some(max_early_data_size) = limit {
                extensions.push(ExtensionType::EARLY_DATA, |out| EarlyDataLimit { max_early_data_size }.emit(out));
            }
            let ticket = NewSessionTicketTls13 {
                lifetime,
                age_add,
                nonce: &nonce,
                ticket: &ticket,
                extensions: extensions.view(),
            };
            prop_assert_eq!(ticket.max_early_data_size(), limit);
            returns!(NewSessionTicketTls13::parse, ticket);
        }

        #[test]
        fn small_ones(verify_data in bytes(0..=64), request_update: bool, level: u8, description: u8) {
            returns!(Finished::parse, Finished { verify_data: &verify_data });
            returns!(MessageHash::parse, MessageHash { hash: &verify_data });
            returns!(KeyUpdate::parse, KeyUpdate { request_update });
            returns!(EndOfEarlyData::parse, EndOfEarlyData);
            returns!(HelloRequest::parse, HelloRequest);
            returns!(ServerHelloDone::parse, ServerHelloDone);
            returns!(ChangeCipherSpec::parse, ChangeCipherSpec);
            returns!(Alert::parse, Alert {
                level: AlertLevel(level),
                description: AlertDescription(description),
            });
        }

        #[test]
        fn records(content_type in 20_u8..24, minor: u8, fragment in bytes(0..=MAX_CIPHERTEXT_TLS12)) {
            let record = Record {
                content_type: ContentType(content_type),
                version: ProtocolVersion(0x0300 + u16::from(minor)),
                fragment: &fragment,
            };
            let mut out = Vec::new();
            record.emit(&mut out);
            prop_assert_eq!(out.len(), HEADER_LEN + fragment.len());
            prop_assert_eq!(Record::parse(&out), Ok(Some((record, out.len()))));
        }
    }
}

mod extension_data {
    use super::*;

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn lists_of_numbers(numbers in values(1..=100), few in values(1..=100), small in bytes(1..=255)) {
            returns!(SupportedGroups::parse, SupportedGroups { values: List16::from_bytes(&numbers).unwrap() });
            returns!(SignatureAlgorithms::parse, SignatureAlgorithms { values: List16::from_bytes(&numbers).unwrap() });
            returns!(SupportedVersions::parse, SupportedVersions { values: List16::from_bytes(&few).unwrap() });
            returns!(CompressCertificate::parse, CompressCertificate { values: List16::from_bytes(&few).unwrap() });
            returns!(PskKeyExchangeModes::parse, PskKeyExchangeModes { modes: &small });
            returns!(EcPointFormats::parse, EcPointFormats { formats: &small });
        }

        #[test]
        fn lists_of_strings(strings in vec(bytes(1..=255), 1..6)) {
            let names = encoded(strings.iter().map(|name| ServerNameEntry::host_name(name)));
            let names = ServerNameList { names: List::from_bytes(&names).unwrap() };
            prop_assert_eq!(names.host_name(), strings.first().map(Vec::as_slice));
            returns!(ServerNameList::parse, names);

            let protocols = encoded(strings.iter().map(|name| ProtocolName(name)));
            let protocols = ProtocolNameList { protocols: List::from_bytes(&protocols).unwrap() };
            prop_assert!(protocols.iter().eq(strings.iter().map(Vec::as_slice)));
            returns!(ProtocolNameList::parse, protocols);
            returns!(SelectedProtocol::parse, SelectedProtocol { protocol: ProtocolName(&strings[0]) });

            let authorities = encoded(strings.iter().map(|name| DistinguishedName(name)));
            returns!(CertificateAuthorities::parse, CertificateAuthorities {
                authorities: List::from_bytes(&authorities).unwrap(),
            });
        }

        #[test]
        fn key_share(shares in vec((any::<u16>(), bytes(1..=1300)), 0..5), selected: u16) {
            let entries: Vec<_> = shares
                .iter()
                .map(|(group, key_exchange)| KeyShareEntry { group: NamedGroup(*group), key_exchange })
                .collect();
            let encoded = encoded(entries.iter().copied());
            let client_shares = List::from_bytes(&encoded).unwrap();
            returns!(KeyShareClientHello::parse, KeyShareClientHello { client_shares });
            if let Some(&server_share) = entries.first() {
                returns!(KeyShareServerHello::parse, KeyShareServerHello { server_share });
            }
            returns!(KeyShareHelloRetryRequest::parse, KeyShareHelloRetryRequest { selected_group: NamedGroup(selected) });
        }

        #[test]
        fn pre_shared_key(psks in vec((bytes(1..=300), any::<u32>(), bytes(32..=255)), 1..5), selected_identity: u16) {
            let identities = encoded(psks.iter().map(|(identity, age, _)| PskIdentity {
                identity,
                obfuscated_ticket_age: *age,
            }));
            let binders = encoded(psks.iter().map(|(_, _, binder)| PskBinder(binder)));
            returns!(OfferedPsks::parse, OfferedPsks {
                identities: List::from_bytes(&identities).unwrap(),
                binders: List::from_bytes(&binders).unwrap(),
            });
            returns!(SelectedPsk::parse, SelectedPsk { selected_identity });
        }

        #[test]
        fn status_request(responder_ids in bytes(0..=100), request_extensions in bytes(0..=100), other in 2_u8..) {
            returns!(StatusRequest::parse, StatusRequest::Ocsp {
                responder_ids: &responder_ids,
                request_extensions: &request_extensions,
            });
            returns!(StatusRequest::parse, StatusRequest::Other { status_type: other, request: &responder_ids });
        }

        #[test]
        fn small_ones(data in bytes(1..=255), a: u8, b: u8, limit in 64_u16.., max_early_data_size: u32) {
            returns!(SessionTicket::parse, SessionTicket { ticket: &data });
            returns!(RecordSizeLimit::parse, RecordSizeLimit { record_size_limit: limit });
            returns!(EarlyDataLimit::parse, EarlyDataLimit { max_early_data_size });
            returns!(SelectedVersion::parse, SelectedVersion { selected_version: ProtocolVersion(limit) });
            returns!(Cookie::parse, Cookie { cookie: &data });
            returns!(RenegotiationInfo::parse, RenegotiationInfo { renegotiated_connection: &data });
            returns!(TicketRequest::parse, TicketRequest { new_session_count: a, resumption_count: b });
            returns!(TicketRequestHint::parse, TicketRequestHint { expected_count: a });
            returns!(Empty::parse, Empty);
        }
    }
}

fn bytes(len: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), len)
}

/// The encoding of a number of 16-bit values.
fn values(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<[u8; 2]>(), count).prop_map(|pairs| pairs.concat())
}

/// Any extensions in any order, none twice; `pre_shared_key` and `early_data` only where a message allows them.
fn extensions() -> impl Strategy<Value = ExtensionsBuilder> {
    proptest::collection::btree_map(any::<u16>(), bytes(0..=20), 0..25).prop_map(|entries| {
        let mut list = ExtensionsBuilder::new();
        for (extension, data) in entries {
            let extension = ExtensionType(extension);
            if extension != ExtensionType::PRE_SHARED_KEY && extension != ExtensionType::EARLY_DATA {
                list.push(extension, |out| out.extend_from_slice(&data));
            }
        }
        list
    })
}

fn encoded<'a, T: Element<'a>>(elements: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = Vec::new();
    List::encode(elements, &mut out);
    out
}

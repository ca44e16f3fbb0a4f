//! Offering what is not spoken, to learn what a server would choose.

use reprise_engine::{Config, Connection, EcdhKeyShare, Error, Unspoken};
use reprise_lab::KeyKind;
use reprise_model::Version;
use reprise_wire::extensions::{SupportedGroups, SupportedVersions};
use reprise_wire::{CipherSuite, ClientHello, ContentType, ExtensionType, NamedGroup, ProtocolVersion, SignatureScheme};

use crate::client::trusting_client;
use crate::script::tls12::{greeted_with, handshake};
use crate::script::{NOW, clear, tls13};
use crate::{FULL, begun_with};

fn surveying(version: Version) -> Connection {
    begun_with(Config { versions: vec![version], survey: true, ..trusting_client() }, FULL)
}

#[test]
fn a_suite_that_is_not_spoken_is_named() {
    let suites = [
        CipherSuite::TLS_RSA_WITH_AES_128_CBC_SHA,
        CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256,
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384,
        CipherSuite::TLS_PSK_WITH_AES_128_GCM_SHA256,
    ];
    for suite in suites {
        let mut client = surveying(Version::Tls12);
        let mut server = crate::script::tls12::Server::answering(&mut client);
        let hello = crate::script::Hello { suite, ..server.hello() };
        let error = client.receive(NOW, &server.say(&hello)).unwrap_err();
        assert_eq!(error, Error::Unspoken(Unspoken::Suite(suite)));
        assert!(error.to_string().contains(suite.name().unwrap()), "{error}");
    }
}

#[test]
fn a_group_that_is_not_spoken_is_named() {
    let mut client = surveying(Version::Tls12);
    let mut server = greeted_with(&mut client, |_| {});
    let certificate = server.certificate(KeyKind::P256);
    server.group = NamedGroup::X448;
    let exchange = server.server_key_exchange_as(&[4; 56], SignatureScheme::ECDSA_SECP256R1_SHA256, |_| {});
    let error = client.receive(NOW, &handshake(&[certificate, exchange])).unwrap_err();
    assert_eq!(error, Error::Unspoken(Unspoken::Group(NamedGroup::X448)));

    let mut client = surveying(Version::Tls13);
    let mut server = tls13::Server::answering(&mut client);
    let retry = server.retry(NamedGroup::X448);
    let error = client.receive(NOW, &server.say(&retry)).unwrap_err();
    assert_eq!(error, Error::Unspoken(Unspoken::Group(NamedGroup::X448)));
}

#[test]
fn an_old_version_is_named() {
    let mut client = surveying(Version::Tls13);
    let server = crate::script::tls12::Server::answering(&mut client);
    let hello = crate::script::Hello { legacy_version: ProtocolVersion::TLS_1_0, ..server.hello() };
    let error = client.receive(NOW, &clear(ContentType::HANDSHAKE, &hello.message())).unwrap_err();
    assert_eq!(error, Error::Unspoken(Unspoken::Version(ProtocolVersion::TLS_1_0)));
}

#[test]
fn all_versions_are_offered_first_without_a_scsv() {
    let config = Config { survey: true, ..trusting_client() };
    let (suites, groups) = (config.cipher_suites.clone(), config.groups.clone());
    let mut client = begun_with(config, FULL);
    let heard = crate::script::HeardHello::from(&mut client);
    let hello: ClientHello<'_> = heard.hello();
    assert!(hello.cipher_suites.iter().zip(&suites).all(|(offered, spoken)| offered == *spoken));
    assert!(hello.cipher_suites.len() > suites.len() + 100);
    for signal in [CipherSuite::TLS_FALLBACK_SCSV, CipherSuite::TLS_EMPTY_RENEGOTIATION_INFO_SCSV] {
        assert!(!hello.cipher_suites.contains(signal));
    }
    let offered = SupportedGroups::parse(heard.extension(ExtensionType::SUPPORTED_GROUPS).unwrap()).unwrap().values;
    assert_eq!(groups, EcdhKeyShare::GROUPS);
    assert!(offered.iter().zip(&groups).all(|(offered, spoken)| offered == *spoken));
    assert!(offered.contains(NamedGroup::SECP521R1));
    let offered = SupportedVersions::parse(heard.extension(ExtensionType::SUPPORTED_VERSIONS).unwrap()).unwrap().values;
    let versions = [ProtocolVersion::TLS_1_3, ProtocolVersion::TLS_1_2, ProtocolVersion::TLS_1_1, ProtocolVersion::TLS_1_0];
    assert!(offered.iter().eq(versions));
}

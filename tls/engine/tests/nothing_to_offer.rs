//! Configurations that could negotiate nothing.

use reprise_engine::{Config, Error, KeyShare, KeyShares};
use reprise_model::Version;
use reprise_wire::{CipherSuite, ExtensionType, NamedGroup};

use crate::FULL;
use crate::client::{start, trusting_client};
use crate::script::NOW;

#[test]
fn they_are_refused_before_anything_is_sent() {
    let cases: [(&str, Config); 6] = [
        ("no version", Config { versions: Vec::new(), ..trusting_client() }),
        ("no group", Config { groups: Vec::new(), ..trusting_client() }),
        ("no cipher suite of an offered version", Config { cipher_suites: Vec::new(), ..trusting_client() }),
        (
            "no cipher suite of an offered version",
            Config {
                versions: vec![Version::Tls12],
                cipher_suites: vec![CipherSuite::TLS_AES_128_GCM_SHA256],
                ..trusting_client()
            },
        ),
        ("a protocol of ALPN has 1 to 255 bytes", Config { alpn: vec![Vec::new()], ..trusting_client() }),
        ("a protocol of ALPN has 1 to 255 bytes", Config { alpn: vec![vec![b'x'; 256]], ..trusting_client() }),
    ];
    for (reason, config) in cases {
        let error = start(&config.into(), FULL, NOW).err();
        assert_eq!(error, Some(Error::NothingToOffer(reason)));
    }
}

#[test]
fn a_suite_that_is_not_spoken_is_not_offered() {
    let config = Config {
        cipher_suites: vec![CipherSuite::TLS_RSA_WITH_AES_128_CBC_SHA, CipherSuite::TLS_AES_256_GCM_SHA384],
        ..trusting_client()
    };
    let mut client = crate::begun_with(config, FULL);
    let heard = crate::script::HeardHello::from(&mut client);
    assert!(heard.hello().cipher_suites.iter().eq([CipherSuite::TLS_AES_256_GCM_SHA384]));
}

#[test]
fn the_longest_protocol_of_alpn_is_offered() {
    let longest = vec![b'x'; 255];
    let mut client = crate::begun_with(Config { alpn: vec![longest.clone()], ..trusting_client() }, FULL);
    let heard = crate::script::HeardHello::from(&mut client);
    let offered = heard.extension(ExtensionType::ALPN);
    assert_eq!(offered, Some(&crate::script::tls13::protocols(&[&longest])[..]));
}

#[test]
fn tls12_alone_has_no_use_for_what_is_of_tls13() {
    let config = Config {
        versions: vec![Version::Tls12],
        cipher_suites: vec![CipherSuite::TLS_RSA_WITH_AES_128_GCM_SHA256],
        groups: Vec::new(),
        ..trusting_client()
    };
    let mut client = crate::begun_with(config, FULL);
    let heard = crate::script::HeardHello::from(&mut client);
    assert!(heard.session_id.is_empty());
    let absent = [
        ExtensionType::SUPPORTED_VERSIONS,
        ExtensionType::KEY_SHARE,
        ExtensionType::PSK_KEY_EXCHANGE_MODES,
        // Nor may it be an empty list (RFC 8422 §5.1.1).
        ExtensionType::SUPPORTED_GROUPS,
    ];
    assert!(absent.iter().all(|extension| heard.extension(*extension).is_none()));
}

#[test]
fn tls12_alone_sends_no_key_share_first() {
    struct Nothing;
    impl KeyShares for Nothing {
        fn share(&self, _: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
            panic!("a key share of no use")
        }
    }
    let config = Config { versions: vec![Version::Tls12], key_shares: std::sync::Arc::new(Nothing), ..trusting_client() };
    let _ = crate::begun_with(config, FULL);
}

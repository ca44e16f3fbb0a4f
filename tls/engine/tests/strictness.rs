//! Rules that a server may break without harm to the connection: a lenient client records it, a strict one refuses.

use std::sync::Arc;

use reprise_engine::{CertificatePolicy, Config, Connection, Error, Misbehaviour, Strictness};
use reprise_lab::KeyKind;
use reprise_model::{Version, What};
use reprise_wire::NamedGroup;
use rustls_pki_types::PrivateKeyDer;

use crate::client::{client, trusting_client};
use crate::pair::{Ended, Pair};
use crate::script::NOW;
use crate::script::tls12::{greeted_with, handshake};
use crate::server::{Server, authority};
use crate::{FULL, begun_with};

fn violations(client: &Connection) -> Vec<String> {
    let rules = client.events().iter().filter_map(|event| match &event.what {
        What::Violation { rule } => Some(rule.clone().into_owned()),
        _ => None,
    });
    rules.collect()
}

/// BoGo: `ECDSAKeyUsage-Client-TLS13` and its like.
#[test]
fn a_certificate_whose_key_may_not_sign() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyEncipherment];
    let certificate = params.self_signed(&key).unwrap();

    for version in [Version::Tls12, Version::Tls13] {
        let connect = |strictness| {
            let certificates = CertificatePolicy::AcceptAnyChain;
            let config = Config { versions: vec![version], certificates, strictness, ..client(authority()) };
            let mut server = Server::with(KeyKind::P256).start();
            let der = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
            let signer = rustls::crypto::aws_lc_rs::sign::any_supported_type(&der).unwrap();
            let certified = rustls::sign::CertifiedKey::new(vec![certificate.der().clone()], signer);
            server.cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(certified));
            let mut pair = Pair::new(config, server);
            let result = pair.try_drive();
            (result, violations(&pair.client))
        };
        let rule = Misbehaviour::KeyUsage("sign");
        let (lenient, recorded) = connect(Strictness::Lenient);
        assert!(lenient.is_ok());
        assert_eq!(recorded, [rule.to_string()]);
        let (strict, recorded) = connect(Strictness::Strict);
        assert!(matches!(strict, Err(Ended::ByClient(error)) if error == Error::from(rule)));
        assert_eq!(recorded, Vec::<String>::new());
    }
}

/// BoGo: `CheckLeafCurve`.
#[test]
fn a_certificate_on_a_curve_that_was_not_offered() {
    let connect = |strictness| {
        let groups = vec![NamedGroup::X25519];
        let config = Config { versions: vec![Version::Tls12], groups, strictness, ..trusting_client() };
        let mut client = begun_with(config, FULL);
        let mut server = greeted_with(&mut client, |_| {});
        let certificate = server.certificate(KeyKind::P256);
        (client.receive(NOW, &handshake(&[certificate])), violations(&client))
    };
    let rule = Misbehaviour::UnofferedGroup(NamedGroup::SECP256R1);
    assert_eq!(connect(Strictness::Lenient), (Ok(()), vec![rule.to_string()]));
    assert_eq!(connect(Strictness::Strict), (Err(rule.into()), Vec::new()));
}

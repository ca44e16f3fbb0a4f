//! A session of a client that was not revoked when it came is no session once a CRL has changed.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, IsCa, KeyIdMethod, KeyPair,
    KeyUsagePurpose, RevokedCertParams, SerialNumber,
};
use reprise_session::rustls::{ClientAuth, ResumingServer};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::{Duration, OffsetDateTime};

use super::pair::{Client, Fleet, MEANS, VERSIONS, plain_server, provider};

#[test]
fn a_revoked_client_does_not_resume() {
    let clients = Clients::new();
    for version in VERSIONS {
        for means in MEANS {
            let fleet = Fleet::new();
            let identity = fleet.identity(&["localhost"]);
            let resumption = fleet.resumption(means);
            let bind = |crl: &CertificateRevocationListDer<'static>| {
                let auth = ClientAuth::required(&[clients.ca.der().clone()], std::slice::from_ref(crl), provider()).unwrap();
                ResumingServer::new(plain_server(&identity, &auth, |_| ()), &auth, &resumption).unwrap()
            };
            let (before, again) = (bind(&clients.crl(&[])), bind(&clients.crl(&[])));
            let after = bind(&clients.crl(&[7]));
            let client = Client::new(&fleet.authority, version, Some(clients.client(7)));
            client.connect(&before);
            // CRLs are signed with fresh randomness, so even the next one of the same content is another.
            assert!(!client.connect(&again).resumed);
            assert!(client.connect(&again).resumed);
            // A full handshake, in which the client is found to be revoked.
            assert!(client.try_connect(&after).is_err());
        }
    }
}

struct Clients {
    ca: CertifiedIssuer<'static, KeyPair>,
}

impl Clients {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Self { ca: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    fn client(&self, serial: u64) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["client.test".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(serial));
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.ca).unwrap();
        (vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
    }

    fn crl(&self, revoked: &[u64]) -> CertificateRevocationListDer<'static> {
        let now = OffsetDateTime::now_utc();
        let revoke = |&serial: &u64| RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: now,
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: now - Duration::days(1),
            next_update: now + Duration::days(1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.iter().map(revoke).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.ca).unwrap().der().clone()
    }
}

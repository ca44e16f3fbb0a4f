use std::fmt;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls_pki_types::CertificateDer;
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use crate::{Identity, KeyKind, Result};

/// A certificate authority that lives as long as the lab does.
///
/// Two authorities do not trust each other: a server certificate of the one is untrusted by the other's clients.
pub struct Authority {
    certificate: Certificate,
    params: CertificateParams,
    key: Zeroizing<KeyPair>,
}

/// What a server certificate should say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// The kind of the leaf's key.
    pub key: KeyKind,
    /// The subject alternative names, DNS names and IP addresses alike.
    pub names: Vec<String>,
    /// When the leaf is valid.
    pub validity: Validity,
    /// How many intermediate authorities stand between the root and the leaf, each with a P-256 key.
    pub intermediates: usize,
}

/// When a certificate is valid, seen from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Since yesterday, for 90 days.
    Current,
    /// Until yesterday.
    Expired,
    /// From tomorrow on.
    NotYet,
}

impl ServerSpec {
    /// A certificate that is valid now for `localhost`, `127.0.0.1` and `::1`, signed by the root itself.
    #[must_use]
    pub fn new(key: KeyKind) -> Self {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self { key, names, validity: Validity::Current, intermediates: 0 }
    }
}

impl Authority {
    /// An authority with a P-256 key.
    ///
    /// # Errors
    /// As [`Authority::with_key`].
    pub fn new() -> Result<Self> {
        Self::with_key(KeyKind::P256)
    }

    /// An authority with a key of the given kind, so that a chain of RSA alone can be had.
    ///
    /// # Errors
    /// [`LabError::Key`](crate::LabError::Key) or [`LabError::Certificate`](crate::LabError::Certificate) if the
    /// crypto library refuses.
    pub fn with_key(kind: KeyKind) -> Result<Self> {
        let key = Zeroizing::new(kind.generate()?);
        let params = authority_params("Reprise lab root");
        let certificate = params.self_signed(&*key)?;
        Ok(Self { certificate, params, key })
    }

    /// The root's certificate in PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// The root's certificate in DER.
    #[must_use]
    pub fn certificate(&self) -> &CertificateDer<'static> {
        self.certificate.der()
    }

    /// Issues a server certificate with a fresh key.
    ///
    /// # Errors
    /// [`LabError::Certificate`](crate::LabError::Certificate) if a name cannot stand in a certificate or the crypto
    /// library refuses.
    pub fn server(&self, spec: &ServerSpec) -> Result<Identity> {
        let mut params = CertificateParams::new(spec.names.clone())?;
        let first_name = spec.names.first().map_or("Reprise lab server", String::as_str);
        name(&mut params, first_name);
        (params.not_before, params.not_after) = spec.validity.bounds();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.leaf(params, spec.key, spec.intermediates)
    }

    /// Issues a client certificate for `subject` with a fresh P-256 key.
    ///
    /// # Errors
    /// As [`Authority::client_with_key`].
    pub fn client(&self, subject: &str) -> Result<Identity> {
        self.client_with_key(subject, KeyKind::P256)
    }

    /// Issues a client certificate for `subject`, its common name and only DNS name.
    ///
    /// # Errors
    /// [`LabError::Certificate`](crate::LabError::Certificate) if `subject` is no DNS name or the crypto library
    /// refuses.
    pub fn client_with_key(&self, subject: &str, key: KeyKind) -> Result<Identity> {
        let mut params = CertificateParams::new(vec![subject.to_owned()])?;
        name(&mut params, subject);
        (params.not_before, params.not_after) = Validity::Current.bounds();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.leaf(params, key, 0)
    }

    fn leaf(&self, mut params: CertificateParams, kind: KeyKind, intermediates: usize) -> Result<Identity> {
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if kind.is_rsa() {
            // Without it a server must not be used with RSA key exchange (RFC 5246, section 7.4.2).
            params.key_usages.push(KeyUsagePurpose::KeyEncipherment);
        }
        let key = Zeroizing::new(kind.generate()?);
        let mut chain = self.intermediates(intermediates)?;
        let leaf = match chain.last() {
            Some(issuer) => params.signed_by(&*key, &issuer.issuer())?,
            None => params.signed_by(&*key, &self.issuer())?,
        };
        chain.reverse();
        let certificates: Vec<_> =
            std::iter::once(leaf).chain(chain.iter().map(|authority| authority.certificate.clone())).collect();
        Ok(Identity::new(kind.label(), &certificates, &key))
    }

    /// A line of authorities, the first signed by this one and each by the one before it.
    fn intermediates(&self, count: usize) -> Result<Vec<Self>> {
        let mut line: Vec<Self> = Vec::with_capacity(count);
        for number in 1..=count {
            let name = format!("Reprise lab intermediate {number}");
            let next = line.last().unwrap_or(self).intermediate(&name, KeyKind::P256)?;
            line.push(next);
        }
        Ok(line)
    }

    /// An authority that this one signs, with a key of the given kind.
    ///
    /// # Errors
    /// As [`Authority::with_key`].
    pub fn intermediate(&self, name: &str, kind: KeyKind) -> Result<Self> {
        let key = Zeroizing::new(kind.generate()?);
        let mut params = authority_params(name);
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&*key, &self.issuer())?;
        Ok(Self { certificate, params, key })
    }

    fn issuer(&self) -> Issuer<'_, &KeyPair> {
        Issuer::from_params(&self.params, &self.key)
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Validity {
    fn bounds(self) -> (OffsetDateTime, OffsetDateTime) {
        let now = OffsetDateTime::now_utc();
        let (from, to) = match self {
            Self::Current => (-1, 90),
            Self::Expired => (-90, -1),
            Self::NotYet => (1, 90),
        };
        (now + Duration::days(from), now + Duration::days(to))
    }
}

fn authority_params(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    name(&mut params, common_name);
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - Duration::days(2), now + Duration::days(3650));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params
}

fn name(params: &mut CertificateParams, common_name: &str) {
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
}

use std::sync::{Arc, PoisonError, RwLock, Weak};

use rustls::sign::CertifiedKey;
use x509_cert::Certificate;
use x509_cert::der::oid::AssociatedOid;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, SubjectAltName};

use crate::policy::{Policy, PolicyBuilder};

/// What of the server's certificate a session is bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateBinding {
    /// Its names and its issuer, by name and key: a renewal for the same names by the same issuer keeps sessions. An issuer
    /// that signs with changing intermediates or keys counts as another one.
    #[default]
    NamesAndIssuer,
    /// The leaf itself: a renewal ends all sessions.
    Leaf,
}

/// What each certificate in use comes to, so that it is parsed once.
#[derive(Debug)]
pub(super) struct Certificates {
    binding: CertificateBinding,
    known: RwLock<Vec<(Weak<CertifiedKey>, Policy)>>,
}

/// Servers with more certificates than this parse some of them again.
const MOST_KNOWN: usize = 64;

impl Certificates {
    pub(super) fn new(binding: CertificateBinding) -> Self {
        Self { binding, known: RwLock::new(Vec::new()) }
    }

    pub(super) fn identity(&self, certificate: &Arc<CertifiedKey>) -> Policy {
        let pointer = Arc::as_ptr(certificate);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // A weak pointer keeps its address from being used again, so the same address is the same certificate.
        if let Some((_, identity)) = known.iter().find(|(known, _)| Weak::as_ptr(known) == pointer) {
            return *identity;
        }
        drop(known);
        let identity = self.binding.identity(certificate);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(known, _)| known.strong_count() > 0);
        if known.len() >= MOST_KNOWN {
            known.remove(0);
        }
        known.push((Arc::downgrade(certificate), identity));
        identity
    }
}

impl CertificateBinding {
    fn identity(self, certificate: &CertifiedKey) -> Policy {
        let leaf = certificate.cert.first().map(|leaf| leaf.as_ref()).unwrap_or_default();
        match self {
            Self::NamesAndIssuer => names_and_issuer(leaf),
            Self::Leaf => None,
        }
        // A raw public key, or what this parser does not take, has no names.
        .unwrap_or_else(|| PolicyBuilder::new().field("leaf", leaf).build())
    }
}

fn names_and_issuer(leaf: &[u8]) -> Option<Policy> {
    let certificate = Certificate::from_der(leaf).ok()?.tbs_certificate;
    let extensions = certificate.extensions.as_deref().unwrap_or_default();
    let names = match extensions.iter().find(|extension| extension.extn_id == SubjectAltName::OID) {
        Some(extension) => {
            let names = SubjectAltName::from_der(extension.extn_value.as_bytes()).ok()?;
            names.0.iter().map(Encode::to_der).collect::<Result<Vec<_>, _>>().ok()?
        }
        None => Vec::new(),
    };
    // An issuer may list the names in another order the next time.
    let mut names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    names.sort_unstable();
    let subject = if names.is_empty() { certificate.subject.to_der().ok()? } else { Vec::new() };
    let policy = PolicyBuilder::new().list("names", names).field("subject", &subject);
    // Anyone may found an authority of the same name.
    let issuer_key = extensions.iter().find(|extension| extension.extn_id == AuthorityKeyIdentifier::OID);
    let issuer_key = issuer_key.map(|extension| extension.extn_value.as_bytes()).unwrap_or_default();
    let policy = policy.field("issuer", &certificate.issuer.to_der().ok()?);
    Some(policy.field("issuer key", issuer_key).build())
}

#[cfg(test)]
mod tests {
    use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};
    use rustls::crypto::aws_lc_rs::sign::any_supported_type;

    use super::*;

    fn certified(identity: &Identity) -> Arc<CertifiedKey> {
        Arc::new(CertifiedKey::new(identity.chain().to_vec(), any_supported_type(&identity.key_der()).unwrap()))
    }

    fn server(authority: &Authority, names: &[&str]) -> Arc<CertifiedKey> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        certified(&authority.server(&ServerSpec { names, ..ServerSpec::new(KeyKind::P256) }).unwrap())
    }

    #[test]
    fn a_renewal_keeps_its_identity_and_other_names_do_not() {
        let authority = Authority::new().unwrap();
        let identity = |certificate: &Arc<CertifiedKey>| CertificateBinding::NamesAndIssuer.identity(certificate);
        let first = server(&authority, &["a.test", "b.test"]);
        let renewed = server(&authority, &["b.test", "a.test"]);
        assert_eq!(identity(&first), identity(&renewed));
        assert_ne!(identity(&first), identity(&server(&authority, &["a.test"])));
        // An authority of the same name.
        assert_ne!(identity(&first), identity(&server(&Authority::new().unwrap(), &["a.test", "b.test"])));
        assert_ne!(CertificateBinding::Leaf.identity(&first), CertificateBinding::Leaf.identity(&renewed));
    }

    #[test]
    fn the_cache_of_identities_follows_the_certificates() {
        let authority = Authority::new().unwrap();
        let certificates = Certificates::new(CertificateBinding::Leaf);
        let all = [(); 3].map(|()| server(&authority, &["a.test"]));
        for certificate in all.iter().chain(&all) {
            let expected = CertificateBinding::Leaf.identity(certificate);
            assert_eq!(certificates.identity(certificate), expected);
        }
        assert_eq!(certificates.known.read().unwrap().len(), 3);
        drop(all);
        certificates.identity(&server(&authority, &["a.test"]));
        assert_eq!(certificates.known.read().unwrap().len(), 1);
    }
}

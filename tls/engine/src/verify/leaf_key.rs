//! The public key of a certificate.

use reprise_model::PeerKey;
use reprise_wire::NamedGroup;
use rustls_pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use x509_cert::der::{Decode, Encode, Reader, SliceReader, Tagged};
use x509_cert::ext::pkix::KeyUsage;
use x509_cert::spki::SubjectPublicKeyInfoOwned;

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSASSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const SECP256R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const SECP384R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const SECP521R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const ED448: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.113");

/// The public key of the server's certificate.
#[derive(Clone, Debug)]
pub(crate) struct LeafKey {
    pub(crate) kind: PeerKey,
    /// The subjectPublicKey bits: an RSAPublicKey, a point, or the raw key.
    pub(crate) bits: Vec<u8>,
    /// The whole SubjectPublicKeyInfo, DER.
    pub(crate) spki: Vec<u8>,
    /// When its certificate ends, in seconds since 1970; `None` for a bare key.
    pub(crate) not_after: Option<u64>,
    /// Whether its certificate lets it sign (RFC 5280 §4.2.1.3: digitalSignature).
    pub(crate) may_sign: bool,
    /// Whether its certificate lets keys be encrypted to it (keyEncipherment).
    pub(crate) may_encipher: bool,
}

/// The curve of an ECDSA key.
pub(crate) fn curve(key: PeerKey) -> Option<NamedGroup> {
    match key {
        PeerKey::P256 => Some(NamedGroup::SECP256R1),
        PeerKey::P384 => Some(NamedGroup::SECP384R1),
        PeerKey::P521 => Some(NamedGroup::SECP521R1),
        _ => None,
    }
}

impl LeafKey {
    /// Reads it from a certificate; `None` if that is no certificate at all.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = Certificate::from_der(certificate).ok()?;
        let key = Self::from_spki(&certificate.tbs_certificate.subject_public_key_info)?;
        // A certificate without the extension allows everything.
        let usage = certificate.tbs_certificate.get::<KeyUsage>().ok()?.map(|(_, usage)| usage);
        Some(Self {
            not_after: Some(certificate.tbs_certificate.validity.not_after.to_unix_duration().as_secs()),
            may_sign: usage.is_none_or(|usage| usage.digital_signature()),
            may_encipher: usage.is_none_or(|usage| usage.key_encipherment()),
            ..key
        })
    }

    /// A key that nothing restricts; `None` if its bits are not whole bytes.
    pub(super) fn from_spki(spki: &SubjectPublicKeyInfoOwned) -> Option<Self> {
        let bits = spki.subject_public_key.as_bytes()?.to_vec();
        let kind = match spki.algorithm.oid {
            RSASSA_PSS => PeerKey::RsaPss,
            RSA_ENCRYPTION => rsa_bits(&bits)
                .map_or(PeerKey::Unknown, |bits| PeerKey::Rsa { bits: u16::try_from(bits).unwrap_or(u16::MAX) }),
            EC_PUBLIC_KEY => match spki.algorithm.parameters.as_ref().and_then(|any| any.decode_as().ok()) {
                Some(SECP256R1) => PeerKey::P256,
                Some(SECP384R1) => PeerKey::P384,
                Some(SECP521R1) => PeerKey::P521,
                _ => PeerKey::Unknown,
            },
            ED25519 => PeerKey::Ed25519,
            ED448 => PeerKey::Ed448,
            _ => PeerKey::Unknown,
        };
        Some(Self { kind, bits, spki: spki.to_der().ok()?, not_after: None, may_sign: true, may_encipher: true })
    }
}

/// The subjectPublicKey bits of a certificate (RFC 5280 §4.1.2.7): an RSAPublicKey, a point, or the raw key; `None` if it
/// is no certificate. It tells whether a private key belongs to it.
pub fn public_key_of(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    LeafKey::of(certificate).map(|key| key.bits)
}

/// The SubjectPublicKeyInfo of a certificate in DER (RFC 5280 §4.1.2.7), as [`encrypt_premaster`](crate::encrypt_premaster) takes
/// it; `None` if it is no certificate.
pub fn subject_public_key_info(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    LeafKey::of(certificate).map(|key| key.spki)
}

/// Whether a certificate is its subject's own (RFC 5280 §3.2), as a root is. Only as much of it is read as that takes.
pub(super) fn is_self_issued(certificate: &[u8]) -> bool {
    fn names(certificate: &[u8]) -> Option<bool> {
        let certificate = AnyRef::from_der(certificate).ok()?;
        let to_be_signed = AnyRef::decode(&mut SliceReader::new(certificate.value()).ok()?).ok()?;
        let mut fields = SliceReader::new(to_be_signed.value()).ok()?;
        // [0] version stands before the serial number, unless it is the first one.
        let first = AnyRef::decode(&mut fields).ok()?;
        if first.tag().is_context_specific() {
            AnyRef::decode(&mut fields).ok()?;
        }
        let _signature = AnyRef::decode(&mut fields).ok()?;
        let issuer = AnyRef::decode(&mut fields).ok()?;
        let _validity = AnyRef::decode(&mut fields).ok()?;
        let subject = AnyRef::decode(&mut fields).ok()?;
        Some(issuer.value() == subject.value())
    }
    names(certificate).unwrap_or_default()
}

/// The length of the modulus of an RSAPublicKey (RFC 8017 §A.1.1).
fn rsa_bits(public_key: &[u8]) -> Option<usize> {
    let sequence = AnyRef::from_der(public_key).ok()?;
    let mut fields = SliceReader::new(sequence.value()).ok()?;
    let modulus = UintRef::decode(&mut fields).ok()?;
    let _exponent = UintRef::decode(&mut fields).ok()?;
    if !fields.is_finished() {
        return None;
    }
    let modulus = modulus.as_bytes();
    let leading = modulus.first()?.leading_zeros() as usize;
    Some(modulus.len() * 8 - leading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_an_rsa_key_is_that_of_its_modulus() {
        // SEQUENCE { INTEGER modulus, INTEGER 3 }
        assert_eq!(rsa_bits(&[0x30, 7, 2, 2, 1, 0xff, 2, 1, 3]), Some(9));
        assert_eq!(rsa_bits(&[0x30, 8, 2, 3, 0, 0xff, 0xff, 2, 1, 3]), Some(16));
        for no_key in [&[][..], &[0x30, 0], &[0x30, 3, 2, 1, 9], &[0x30, 9, 2, 1, 9, 2, 1, 3, 2, 1, 1], &[4, 1, 9]] {
            assert_eq!(rsa_bits(no_key), None, "{no_key:02x?}");
        }
    }

    #[test]
    fn a_root_is_its_own_issuer() {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let root = rcgen::CertificateParams::default().self_signed(&key).unwrap();
        assert!(is_self_issued(root.der()));
        let mut named = rcgen::CertificateParams::default();
        named.distinguished_name.push(rcgen::DnType::CommonName, "leaf");
        let issuer = rcgen::Issuer::new(rcgen::CertificateParams::default(), key);
        let leaf = named.signed_by(&rcgen::KeyPair::generate().unwrap(), &issuer).unwrap();
        assert!(!is_self_issued(leaf.der()));
        assert!(!is_self_issued(&root.der()[..40]), "cut off");
    }

    /// BoGo: `RejectPSSKeyType-Client-TLS13`, `CertificateCipherMismatch-PSS`.
    #[test]
    fn a_key_for_rsassa_pss_alone_was_taken_for_any_rsa_key() {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
        let issuer = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let issuer = rcgen::Issuer::new(rcgen::CertificateParams::default(), issuer);
        let mut der = rcgen::CertificateParams::default().signed_by(&key, &issuer).unwrap().der().to_vec();
        // The last such OID is that of the key; the issuer signs with ECDSA.
        let oid = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
        let place = der.windows(oid.len()).position(|window| window == oid).unwrap();
        der[place + oid.len() - 1] = 10;
        assert_eq!(LeafKey::of(&CertificateDer::from(der)).unwrap().kind, PeerKey::RsaPss);
    }

    #[test]
    fn a_key_that_is_not_spoken_is_named() {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).unwrap();
        let certificate = rcgen::CertificateParams::default().self_signed(&key).unwrap();
        assert_eq!(LeafKey::of(certificate.der()).unwrap().kind, PeerKey::P521);
        assert!(LeafKey::of(&CertificateDer::from(Vec::new())).is_none());
    }
}

//! The client's own certificate and key and the roots that it trusts, from PEM files and from the system.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkcs8::der::SecretDocument;
use pkcs8::pkcs5::Error as Pkcs5Error;
use pkcs8::{EncryptedPrivateKeyInfo, Error as Pkcs8Error};
use reprise_engine::{ClientIdentity, Error, Signer};
use reprise_wire::SignatureScheme;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::sign::SigningKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use thiserror::Error as ThisError;
use zeroize::Zeroizing;

/// Asks for the passphrase of an encrypted key; the path is for the prompt.
pub type Passphrase<'a> = dyn Fn(&Path) -> Result<Zeroizing<String>, String> + 'a;

/// Why a certificate, a key or trusted roots are of no use.
#[derive(Debug, ThisError)]
pub enum CredentialError {
    /// A file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, String),
    /// There is no certificate in the file.
    #[error("{0} contains no PEM certificate (-----BEGIN CERTIFICATE-----)")]
    NoCertificate(PathBuf),
    /// There is no private key in the file.
    #[error("{0} contains no PEM private key (-----BEGIN PRIVATE KEY-----)")]
    NoKey(PathBuf),
    /// The key's encryption is not read: PBES2 is (RFC 8018, section 6.2), and nothing older.
    #[error("{0} uses an unsupported encryption: convert it with 'openssl pkcs8 -topk8 -in OLD -out NEW'")]
    UnreadEncryption(PathBuf),
    /// No passphrase can be had.
    #[error("{0} is encrypted and needs a passphrase: {1}")]
    NoPassphrase(PathBuf, String),
    /// The passphrase is wrong.
    #[error("the passphrase of {0} is wrong")]
    WrongPassphrase(PathBuf),
    /// The key is of a kind that does not sign here.
    #[error("the key type of {0} is not supported: use RSA (2048 to 8192 bits), ECDSA P-256 or P-384, or Ed25519")]
    UnsupportedKey(PathBuf),
    /// The system trusts nobody.
    #[error(
        "this system has no trusted root certificates{0}: set them with --ca FILE, or skip verification with --insecure"
    )]
    NoPlatformRoots(String),
    /// The key belongs to another certificate.
    #[error("the key in {key} does not match the certificate in {certificate}")]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
}

/// Reads a certificate chain, leaf first, and the key of its leaf.
pub fn load_identity(
    certificate: &Path,
    key: &Path,
    passphrase: &Passphrase<'_>,
) -> Result<ClientIdentity, CredentialError> {
    let (chain, der) = load_certified_key(certificate, key, passphrase)?;
    let signer = PrivateKey::new(&der).ok_or_else(|| CredentialError::UnsupportedKey(key.to_owned()))?;
    let belongs =
        chain.first().and_then(reprise_engine::public_key_of).is_some_and(|public| signer.is_private_half_of(&public));
    if !belongs {
        return Err(CredentialError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() });
    }
    Ok(ClientIdentity { chain, signer: Box::new(signer) })
}

/// Reads a certificate chain, leaf first, and a key, whether or not they fit.
///
/// # Errors
/// [`CredentialError`] if a file cannot be read or holds no such thing.
pub fn load_certified_key(
    certificate: &Path,
    key: &Path,
    passphrase: &Passphrase<'_>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), CredentialError> {
    Ok((read_certificates(certificate)?, read_key(key, passphrase)?))
}

/// The root certificates that this system trusts.
///
/// # Errors
/// If there are none.
pub fn platform_roots() -> Result<Vec<CertificateDer<'static>>, CredentialError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(CredentialError::NoPlatformRoots(why));
    }
    Ok(found.certs)
}

/// The certificates of a PEM file.
///
/// # Errors
/// If it cannot be read, or holds none.
pub fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, CredentialError> {
    let chain = CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| CredentialError::Unreadable(path.to_owned(), error.to_string()))?;
    if chain.is_empty() { Err(CredentialError::NoCertificate(path.to_owned())) } else { Ok(chain) }
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, CredentialError> {
    fs::read(path).map(Zeroizing::new).map_err(|error| CredentialError::Unreadable(path.to_owned(), error.to_string()))
}

fn read_key(path: &Path, passphrase: &Passphrase<'_>) -> Result<PrivateKeyDer<'static>, CredentialError> {
    let pem = read(path)?;
    let text = String::from_utf8_lossy(&pem);
    if text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(CredentialError::UnreadEncryption(path.to_owned()));
    }
    if let Some(encrypted) = encrypted_section(&text) {
        let secret = passphrase(path).map_err(|error| CredentialError::NoPassphrase(path.to_owned(), error))?;
        let key = decrypt(encrypted, &secret, path)?;
        return Ok(PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec())));
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| CredentialError::NoKey(path.to_owned()))
}

fn decrypt(pem: &str, passphrase: &str, path: &Path) -> Result<SecretDocument, CredentialError> {
    let unreadable = |error: pkcs8::der::Error| CredentialError::Unreadable(path.to_owned(), error.to_string());
    let unread_encryption = || CredentialError::UnreadEncryption(path.to_owned());
    let (_, document) = SecretDocument::from_pem(pem).map_err(unreadable)?;
    let key = EncryptedPrivateKeyInfo::try_from(document.as_bytes()).map_err(|_| unread_encryption())?;
    key.decrypt(passphrase).map_err(|error| match error {
        // With a wrong key the padding is wrong, and once in 256 times what stands before it.
        Pkcs8Error::EncryptedPrivateKey(Pkcs5Error::DecryptFailed | Pkcs5Error::EncryptFailed) => {
            CredentialError::WrongPassphrase(path.to_owned())
        }
        Pkcs8Error::EncryptedPrivateKey(_) => unread_encryption(),
        _ => CredentialError::WrongPassphrase(path.to_owned()),
    })
}

/// The first encrypted PKCS #8 section (RFC 7468 §11).
fn encrypted_section(pem: &str) -> Option<&str> {
    const BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
    const END: &str = "-----END ENCRYPTED PRIVATE KEY-----";
    let start = pem.find(BEGIN)?;
    let end = pem.get(start..)?.find(END)? + start + END.len();
    pem.get(start..end)
}

/// The schemes that a key may sign in, the preferred first.
const SCHEMES: [SignatureScheme; 9] = [
    SignatureScheme::RSA_PSS_RSAE_SHA256,
    SignatureScheme::RSA_PSS_RSAE_SHA384,
    SignatureScheme::RSA_PSS_RSAE_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::ECDSA_SECP256R1_SHA256,
    SignatureScheme::ECDSA_SECP384R1_SHA384,
    SignatureScheme::ED25519,
];

/// The client's private key.
struct PrivateKey {
    key: Arc<dyn SigningKey>,
    schemes: Vec<SignatureScheme>,
}

impl PrivateKey {
    /// `None` for a key that signs in none of the schemes.
    fn new(der: &PrivateKeyDer<'_>) -> Option<Self> {
        let key = any_supported_type(der).ok()?;
        let signs_in = |scheme: &SignatureScheme| key.choose_scheme(&[scheme.0.into()]).is_some();
        let schemes: Vec<SignatureScheme> = SCHEMES.into_iter().filter(signs_in).collect();
        (!schemes.is_empty()).then_some(Self { key, schemes })
    }

    /// Whether its public half is this one, the bits of a SubjectPublicKeyInfo, which ends with them.
    fn is_private_half_of(&self, public: &[u8]) -> bool {
        self.key.public_key().is_some_and(|info| info.ends_with(public))
    }
}

impl Signer for PrivateKey {
    fn schemes(&self) -> &[SignatureScheme] {
        &self.schemes
    }

    fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Result<Vec<u8>, Error> {
        const FAILED: Error = Error::Crypto("signing");
        let signer = self.key.choose_scheme(&[scheme.0.into()]).ok_or(FAILED)?;
        signer.sign(message).map_err(|_| FAILED)
    }
}

//! The client's own certificate and key, from PEM files.

use std::fs;
use std::path::{Path, PathBuf};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use pkcs8::der::SecretDocument;
use pkcs8::pkcs5::Error as Pkcs5Error;
use pkcs8::{EncryptedPrivateKeyInfo, Error as Pkcs8Error};
use reprise_engine::{ClientIdentity, Error, Signer};
use reprise_wire::SignatureScheme as Scheme;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use thiserror::Error as ThisError;
use zeroize::Zeroizing;

/// Asks for the passphrase of an encrypted key; the path is for the prompt.
pub type Passphrase<'a> = dyn Fn(&Path) -> Result<Zeroizing<String>, String> + 'a;

/// Why a certificate and key are of no use.
#[derive(Debug, ThisError)]
pub enum IdentityError {
    /// A file cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: String,
    },
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
    #[error("{path} is encrypted and needs a passphrase: {error}")]
    NoPassphrase {
        /// The file.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// The passphrase is wrong.
    #[error("the passphrase of {0} is wrong")]
    WrongPassphrase(PathBuf),
    /// The key is of a kind that does not sign here.
    #[error("the key type of {0} is not supported: use RSA (2048 to 8192 bits), ECDSA P-256 or P-384, or Ed25519")]
    UnsupportedKey(PathBuf),
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
pub fn load_identity(certificate: &Path, key: &Path, passphrase: &Passphrase<'_>) -> Result<ClientIdentity, IdentityError> {
    let (chain, der) = load_certified_key(certificate, key, passphrase)?;
    let key_pair = PrivateKey::from_der(&der).ok_or_else(|| IdentityError::UnsupportedKey(key.to_owned()))?;
    let belongs =
        chain.first().and_then(reprise_engine::public_key_of).is_some_and(|public| key_pair.is_private_half_of(&public));
    if !belongs {
        return Err(IdentityError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() });
    }
    Ok(ClientIdentity { chain, signer: Box::new(key_pair) })
}

/// Reads a certificate chain, leaf first, and a key, whether or not they fit.
///
/// # Errors
/// [`IdentityError`] if a file cannot be read or holds no such thing.
pub fn load_certified_key(
    certificate: &Path,
    key: &Path,
    passphrase: &Passphrase<'_>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), IdentityError> {
    Ok((read_chain(certificate)?, read_key(key, passphrase)?))
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, IdentityError> {
    fs::read(path)
        .map(Zeroizing::new)
        .map_err(|error| IdentityError::Unreadable { path: path.to_owned(), error: error.to_string() })
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let chain = CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| IdentityError::Unreadable { path: path.to_owned(), error: error.to_string() })?;
    if chain.is_empty() { Err(IdentityError::NoCertificate(path.to_owned())) } else { Ok(chain) }
}

fn read_key(path: &Path, passphrase: &Passphrase<'_>) -> Result<PrivateKeyDer<'static>, IdentityError> {
    let pem = read(path)?;
    let text = String::from_utf8_lossy(&pem);
    if text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(IdentityError::UnreadEncryption(path.to_owned()));
    }
    if let Some(encrypted) = encrypted_section(&text) {
        let secret = passphrase(path).map_err(|error| IdentityError::NoPassphrase { path: path.to_owned(), error })?;
        let key = decrypt(encrypted, &secret).map_err(|error| error.at(path))?;
        return Ok(PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec())));
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| IdentityError::NoKey(path.to_owned()))
}

fn decrypt(pem: &str, passphrase: &str) -> Result<SecretDocument, Undecrypted> {
    let (_, document) = SecretDocument::from_pem(pem).map_err(Undecrypted::Damaged)?;
    let key = EncryptedPrivateKeyInfo::try_from(document.as_bytes()).map_err(|_| Undecrypted::Unread)?;
    key.decrypt(passphrase).map_err(|error| match error {
        // With a wrong key the padding is wrong, and once in 256 times what stands before it.
        Pkcs8Error::EncryptedPrivateKey(Pkcs5Error::DecryptFailed | Pkcs5Error::EncryptFailed) => Undecrypted::WrongKey,
        Pkcs8Error::EncryptedPrivateKey(_) => Undecrypted::Unread,
        _ => Undecrypted::WrongKey,
    })
}

/// Why an encrypted key stays so.
enum Undecrypted {
    Damaged(pkcs8::der::Error),
    Unread,
    WrongKey,
}

impl Undecrypted {
    fn at(self, path: &Path) -> IdentityError {
        let path = path.to_owned();
        match self {
            Self::Damaged(error) => IdentityError::Unreadable { path, error: error.to_string() },
            Self::Unread => IdentityError::UnreadEncryption(path),
            Self::WrongKey => IdentityError::WrongPassphrase(path),
        }
    }
}

/// The first encrypted PKCS #8 section (RFC 7468 §11).
fn encrypted_section(pem: &str) -> Option<&str> {
    const BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
    const END: &str = "-----END ENCRYPTED PRIVATE KEY-----";
    let start = pem.find(BEGIN)?;
    let end = pem.get(start..)?.find(END)? + start + END.len();
    pem.get(start..end)
}

/// The client's private key.
enum PrivateKey {
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair, &'static [Scheme]),
    Ed25519(Ed25519KeyPair),
}

impl PrivateKey {
    fn from_der(der: &PrivateKeyDer<'_>) -> Option<Self> {
        let bytes = der.secret_der();
        let rsa = || match der {
            PrivateKeyDer::Pkcs1(_) => RsaKeyPair::from_der(bytes).ok().map(Self::Rsa),
            _ => RsaKeyPair::from_pkcs8(bytes).ok().map(Self::Rsa),
        };
        let ecdsa = |algorithm, schemes| {
            EcdsaKeyPair::from_private_key_der(algorithm, bytes).ok().map(|key| Self::Ecdsa(key, schemes))
        };
        let ed25519 = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes).ok().map(Self::Ed25519);
        rsa()
            .or_else(|| ecdsa(&ECDSA_P256_SHA256_ASN1_SIGNING, &[Scheme::ECDSA_SECP256R1_SHA256]))
            .or_else(|| ecdsa(&ECDSA_P384_SHA384_ASN1_SIGNING, &[Scheme::ECDSA_SECP384R1_SHA384]))
            .or_else(ed25519)
    }

    /// Whether its public half is this one, the bits of a SubjectPublicKeyInfo.
    fn is_private_half_of(&self, public: &[u8]) -> bool {
        match self {
            Self::Rsa(key) => key.public_key().as_ref() == public,
            Self::Ecdsa(key, _) => key.public_key().as_ref() == public,
            Self::Ed25519(key) => key.public_key().as_ref() == public,
        }
    }
}

impl Signer for PrivateKey {
    fn schemes(&self) -> &[Scheme] {
        match self {
            Self::Rsa(_) => &[
                Scheme::RSA_PSS_RSAE_SHA256,
                Scheme::RSA_PSS_RSAE_SHA384,
                Scheme::RSA_PSS_RSAE_SHA512,
                Scheme::RSA_PKCS1_SHA256,
                Scheme::RSA_PKCS1_SHA384,
                Scheme::RSA_PKCS1_SHA512,
            ],
            Self::Ecdsa(_, schemes) => schemes,
            Self::Ed25519(_) => &[Scheme::ED25519],
        }
    }

    fn sign(&self, scheme: Scheme, message: &[u8]) -> Result<Vec<u8>, Error> {
        const FAILED: Error = Error::Crypto("signing");
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                let encoding = rsa_encoding(scheme).ok_or(FAILED)?;
                key.sign(encoding, &random, message, &mut signature).map_err(|_| FAILED)?;
                Ok(signature)
            }
            Self::Ecdsa(key, _) => {
                key.sign(&random, message).map(|signature| signature.as_ref().to_vec()).map_err(|_| FAILED)
            }
            Self::Ed25519(key) => Ok(key.sign(message).as_ref().to_vec()),
        }
    }
}

fn rsa_encoding(scheme: Scheme) -> Option<&'static dyn RsaEncoding> {
    Some(match scheme {
        Scheme::RSA_PSS_RSAE_SHA256 => &RSA_PSS_SHA256,
        Scheme::RSA_PSS_RSAE_SHA384 => &RSA_PSS_SHA384,
        Scheme::RSA_PSS_RSAE_SHA512 => &RSA_PSS_SHA512,
        Scheme::RSA_PKCS1_SHA256 => &RSA_PKCS1_SHA256,
        Scheme::RSA_PKCS1_SHA384 => &RSA_PKCS1_SHA384,
        Scheme::RSA_PKCS1_SHA512 => &RSA_PKCS1_SHA512,
        _ => return None,
    })
}

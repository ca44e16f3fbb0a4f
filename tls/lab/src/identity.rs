use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use pkcs8::pkcs5::pbes2;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use zeroize::Zeroizing;

use crate::{LabError, Result};

/// A certificate chain with the private key of its leaf.
///
/// The key is zeroed when dropped and never shown by `Debug`.
#[derive(Clone)]
pub struct Identity {
    label: String,
    chain: Vec<CertificateDer<'static>>,
    chain_pem: String,
    key_pkcs8: Zeroizing<Vec<u8>>,
    key_pem: Zeroizing<String>,
}

/// Where [`Identity::write_pem`] put an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PemFiles {
    /// The chain, leaf first, without the root.
    pub certificate: PathBuf,
    /// The private key, PKCS #8, readable by its owner alone.
    pub key: PathBuf,
}

impl Identity {
    pub(crate) fn new(label: &str, chain: &[rcgen::Certificate], key: &rcgen::KeyPair) -> Self {
        Self {
            label: label.to_owned(),
            chain: chain.iter().map(|certificate| certificate.der().clone()).collect(),
            chain_pem: chain.iter().map(rcgen::Certificate::pem).collect(),
            key_pkcs8: Zeroizing::new(key.serialize_der()),
            key_pem: Zeroizing::new(key.serialize_pem()),
        }
    }

    /// An identity that was made elsewhere: a chain in PEM, leaf first, and a key in PEM (PKCS #8).
    ///
    /// # Errors
    /// [`LabError::Pem`] if either cannot be read.
    pub fn from_pem(label: &str, chain_pem: &str, key_pem: &str) -> Result<Self> {
        let chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes()).collect::<std::result::Result<_, _>>()?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(key_pem.as_bytes())?;
        Ok(Self {
            label: label.to_owned(),
            chain,
            chain_pem: chain_pem.to_owned(),
            key_pkcs8: Zeroizing::new(key.secret_pkcs8_der().to_vec()),
            key_pem: Zeroizing::new(key_pem.to_owned()),
        })
    }

    /// The label of the leaf's kind of key, as of [`KeyKind::label`](crate::KeyKind::label).
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The chain in DER, leaf first, without the root.
    #[must_use]
    pub fn chain(&self) -> &[CertificateDer<'static>] {
        &self.chain
    }

    /// The chain in PEM, leaf first, without the root.
    #[must_use]
    pub fn chain_pem(&self) -> &str {
        &self.chain_pem
    }

    /// The private key in DER (PKCS #8), as rustls takes it.
    #[must_use]
    pub fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key_pkcs8.to_vec()))
    }

    /// The private key in PEM (PKCS #8, not encrypted).
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// The private key in PEM as an `ENCRYPTED PRIVATE KEY` (PBES2, RFC 8018), for tests of passphrases.
    ///
    /// # Errors
    /// [`LabError::Encrypt`] if the crypto library refuses.
    pub fn encrypted_key_pem(&self, passphrase: &str) -> Result<Zeroizing<String>> {
        encrypt(&self.key_pkcs8, passphrase).ok_or(LabError::Encrypt)
    }

    /// Writes `STEM-cert.pem` and `STEM-key.pem` into `directory`.
    ///
    /// # Errors
    /// [`LabError::File`] if either cannot be written.
    pub fn write_pem(&self, directory: &Path, stem: &str) -> Result<PemFiles> {
        let files = PemFiles {
            certificate: directory.join(format!("{stem}-cert.pem")),
            key: directory.join(format!("{stem}-key.pem")),
        };
        write(&files.certificate, self.chain_pem.as_bytes(), 0o644)?;
        write(&files.key, self.key_pem.as_bytes(), 0o600)?;
        Ok(files)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("label", &self.label).field("chain", &self.chain.len()).finish_non_exhaustive()
    }
}

/// Few iterations on purpose: the passphrases of tests are no secrets, and debug builds are slow.
const PBKDF2_ITERATIONS: u32 = 2048;

fn encrypt(key: &[u8], passphrase: &str) -> Option<Zeroizing<String>> {
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    let random = SystemRandom::new();
    random.fill(&mut salt).ok()?;
    random.fill(&mut iv).ok()?;
    let scheme = pbes2::Parameters::pbkdf2_sha256_aes256cbc(PBKDF2_ITERATIONS, &salt, &iv).ok()?;
    let plain = pkcs8::PrivateKeyInfo::try_from(key).ok()?;
    let encrypted = plain.encrypt_with_params(scheme, passphrase).ok()?;
    encrypted.to_pem("ENCRYPTED PRIVATE KEY", pkcs8::LineEnding::LF).ok()
}

fn write(path: &Path, contents: &[u8], mode: u32) -> Result<()> {
    let failed = |source| LabError::File { path: path.to_owned(), source };
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path).and_then(|mut file| file.write_all(contents)).map_err(failed)
}

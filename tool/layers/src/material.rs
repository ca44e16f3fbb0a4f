//! What contexts are made of: PEM files, read each time that one is made, as a program reads them that starts again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkcs8::der::SecretDocument;
use pkcs8::der::pem::PemLabel;
use pkcs8::{EncryptedPrivateKeyInfo, LineEnding, PrivateKeyInfo};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The files of a client's context.
#[derive(Clone, Serialize, Deserialize)]
pub struct Material {
    trust: Vec<PathBuf>,
    identity: Option<IdentityFiles>,
    certificates: usize,
}

/// A client's certificate chain and key.
#[derive(Clone, Serialize, Deserialize)]
pub struct IdentityFiles {
    /// PEM, leaf first.
    pub chain: PathBuf,
    /// PEM; PKCS #8, encrypted or not.
    pub key: PathBuf,
    /// What an encrypted key is decrypted by, for each context.
    pub passphrase: Option<String>,
}

/// Why files are no context.
#[derive(Debug, Error)]
pub enum MaterialError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No certificate is in it.
    #[error("{} contains no PEM certificate (-----BEGIN CERTIFICATE-----)", .0.display())]
    NoCertificate(PathBuf),
    /// No key is in it that can be used.
    #[error("{} contains no PKCS #8 private key (-----BEGIN PRIVATE KEY-----): convert it with 'openssl pkcs8 -topk8'",
        .0.display())]
    NoKey(PathBuf),
    /// It is encrypted, and no passphrase is given.
    #[error("{} is encrypted: give its passphrase", .0.display())]
    NoPassphrase(PathBuf),
    /// The passphrase is wrong, or the encryption is none that is read.
    #[error("the passphrase of {} is wrong, or the key is encrypted otherwise than by PBES2 (RFC 8018, section 6.2)", .0.display())]
    WrongPassphrase(PathBuf),
}

/// Certificates in DER, as PEM.
pub fn pem_of_certificates<'a>(certificates: impl IntoIterator<Item = &'a [u8]>) -> String {
    let encode = |der| pkcs8::der::pem::encode_string("CERTIFICATE", LineEnding::LF, der).unwrap_or_default();
    certificates.into_iter().map(encode).collect()
}

/// The texts of a context.
pub(crate) struct Texts {
    pub(crate) trust: String,
    /// Chain and key.
    pub(crate) identity: Option<(String, String)>,
}

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";
const ENCRYPTED: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
const PLAIN: &str = "-----BEGIN PRIVATE KEY-----";

impl Material {
    /// Roots from a file, or from all files of a directory that hold certificates, and a client's certificate. Everything is
    /// read once, so that what is wrong is known before anything is measured.
    ///
    /// # Errors
    /// Why it is no context.
    pub fn new(trust: &Path, identity: Option<IdentityFiles>) -> Result<Self, MaterialError> {
        let files = if trust.is_dir() { files_of(trust)? } else { vec![trust.to_owned()] };
        let (mut with_certificates, mut certificates) = (Vec::new(), 0);
        for file in files {
            // A directory may hold other things, which are no text.
            let bytes = std::fs::read(&file).map_err(|error| MaterialError::Unreadable { path: file.clone(), error })?;
            let count = String::from_utf8_lossy(&bytes).matches(CERTIFICATE).count();
            if count > 0 {
                with_certificates.push(file);
                certificates += count;
            }
        }
        if certificates == 0 {
            return Err(MaterialError::NoCertificate(trust.to_owned()));
        }
        let material = Self { trust: with_certificates, identity, certificates };
        material.read()?;
        Ok(material)
    }

    /// How many roots there are.
    pub fn certificates(&self) -> usize {
        self.certificates
    }

    /// In how many files.
    pub fn files(&self) -> usize {
        self.trust.len()
    }

    /// Whether the client has a certificate.
    pub fn has_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// Whether its key is decrypted for each context.
    pub fn is_encrypted(&self) -> bool {
        self.identity.as_ref().is_some_and(|identity| identity.passphrase.is_some())
    }

    /// The files as they are now, the key decrypted.
    pub(crate) fn read(&self) -> Result<Texts, MaterialError> {
        let mut trust = String::new();
        for file in &self.trust {
            trust.push_str(&read(file)?);
            trust.push('\n');
        }
        let identity = match &self.identity {
            None => None,
            Some(identity) => Some((chain(&identity.chain)?, identity.key()?)),
        };
        Ok(Texts { trust, identity })
    }

    /// The files of roots.
    pub(crate) fn trust_files(&self) -> &[PathBuf] {
        &self.trust
    }

    /// The files of the client's certificate.
    pub(crate) fn identity_files(&self) -> Option<&IdentityFiles> {
        self.identity.as_ref()
    }
}

impl IdentityFiles {
    fn key(&self) -> Result<String, MaterialError> {
        let text = read(&self.key)?;
        let Some(begin) = text.find(ENCRYPTED) else {
            return if text.contains(PLAIN) { Ok(text) } else { Err(MaterialError::NoKey(self.key.clone())) };
        };
        let passphrase = self.passphrase.as_ref().ok_or_else(|| MaterialError::NoPassphrase(self.key.clone()))?;
        let wrong = || MaterialError::WrongPassphrase(self.key.clone());
        let (_, sealed) = SecretDocument::from_pem(text.get(begin..).unwrap_or_default().trim_end()).map_err(|_| wrong())?;
        let sealed = EncryptedPrivateKeyInfo::try_from(sealed.as_bytes()).map_err(|_| wrong())?;
        let key = sealed.decrypt(passphrase).map_err(|_| wrong())?;
        let pem = key.to_pem(PrivateKeyInfo::PEM_LABEL, LineEnding::LF).map_err(|_| wrong())?;
        Ok(pem.as_str().to_owned())
    }
}

fn chain(path: &Path) -> Result<String, MaterialError> {
    let text = read(path)?;
    if text.contains(CERTIFICATE) { Ok(text) } else { Err(MaterialError::NoCertificate(path.to_owned())) }
}

fn read(path: &Path) -> Result<String, MaterialError> {
    std::fs::read_to_string(path).map_err(|error| MaterialError::Unreadable { path: path.to_owned(), error })
}

/// The files of a directory, each once: a directory for OpenSSL has a link to each file, by the hash of its subject.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>, MaterialError> {
    let unreadable = |error| MaterialError::Unreadable { path: directory.to_owned(), error };
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if let Ok(file) = path.canonicalize()
            && file.is_file()
        {
            files.insert(file);
        }
    }
    Ok(files.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use reprise_lab::Authority;

    use super::*;

    #[test]
    fn a_directory_counts_each_certificate_once() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.pem", "b.crt"] {
            std::fs::write(folder.path().join(name), Authority::new().unwrap().pem()).unwrap();
        }
        std::os::unix::fs::symlink("a.pem", folder.path().join("0a1b2c3d.0")).unwrap();
        std::fs::write(folder.path().join("README"), [0xff, 0xfe]).unwrap();
        let material = Material::new(folder.path(), None).unwrap();
        assert_eq!((material.certificates(), material.files()), (2, 2));
        assert_eq!(material.read().unwrap().trust.matches(CERTIFICATE).count(), 2);
    }

    #[test]
    fn a_directory_without_certificates_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("README"), "nothing here").unwrap();
        let refusal = Material::new(folder.path(), None).err().unwrap().to_string();
        assert!(refusal.contains("contains no PEM certificate"), "{refusal}");
    }
}

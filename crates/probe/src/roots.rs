//! The certificates that are trusted.

use std::fs;
use std::path::{Path, PathBuf};

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use thiserror::Error;

/// Why there is nobody to trust.
#[derive(Debug, Error)]
pub enum RootsError {
    /// The file cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// There is no certificate in it.
    #[error("{0} contains no PEM certificate (-----BEGIN CERTIFICATE-----)")]
    Empty(PathBuf),
    /// The system has none.
    #[error(
        "this system has no trusted root certificates{0}: set them with --ca FILE, or skip verification with --insecure"
    )]
    NoPlatformRoots(String),
}

/// The root certificates of a PEM file.
pub fn read_roots(path: &Path) -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let unreadable = |error: String| RootsError::Unreadable { path: path.to_owned(), error };
    let pem = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let roots = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unreadable(error.to_string()))?;
    if roots.is_empty() { Err(RootsError::Empty(path.to_owned())) } else { Ok(roots) }
}

/// The root certificates that this system trusts.
pub fn platform_roots() -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(RootsError::NoPlatformRoots(why));
    }
    Ok(found.certs)
}

//! Session files on disk: read only where nobody else can, replaced in one step.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::rand;
use thiserror::Error;
use zeroize::Zeroizing;

use super::format::{FormatError, MAX_FILE, Parsed, SessionFile, emit, parse};
use super::seal::{LOG_N, NONCE, SALT, SealingKey};
use crate::credentials::Passphrase;
use crate::replacement::{Readers, Replacement, Unwritable};

/// Why a session file is of no use.
#[derive(Debug, Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read the sessions in {0}: {1}")]
    Unreadable(PathBuf, io::Error),
    /// Others than its owner may read it, and it is not sealed.
    #[error(
        "other users can read the sessions in {path} (mode {mode:03o}) and resume them: chmod 600 {path}, or encrypt it \
            with --session-passphrase-file"
    )]
    OthersCanRead {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Its content is of no use.
    #[error("cannot use the sessions in {0}: {1}")]
    Format(PathBuf, FormatError),
    /// It is sealed, and there is no passphrase.
    #[error("the sessions in {0} are encrypted and need a passphrase: {1}")]
    NoPassphrase(PathBuf, String),
    /// It cannot be written.
    #[error("cannot write sessions to {0}: {1}")]
    Unwritable(PathBuf, Unwritable),
    /// The crypto library refuses, or there are more sessions than a file holds.
    #[error("cannot write sessions to {0}: they cannot be encoded")]
    Unsealable(PathBuf),
}

/// A session file that was read.
pub struct Loaded {
    /// What it holds.
    pub file: SessionFile,
    /// The key that it was sealed under.
    pub key: Option<SealingKey>,
}

/// Reads a session file. One that is not sealed must be readable by its owner alone; on Windows, whose permissions are
/// not looked at, a passphrase is the only protection.
pub fn load(path: &Path, passphrase: &Passphrase<'_>) -> Result<Loaded, FileError> {
    let unreadable = |error| FileError::Unreadable(path.to_owned(), error);
    let opened = File::open(path).map_err(unreadable)?;
    let mode = mode(&opened).map_err(unreadable)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE + 1));
    // One byte more than a file may have shows that it has too many.
    opened.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let unusable = |error| FileError::Format(path.to_owned(), error);
    match parse(&bytes).map_err(unusable)? {
        Parsed::Open(_) if mode & 0o077 != 0 => Err(FileError::OthersCanRead { path: path.to_owned(), mode }),
        Parsed::Open(file) => Ok(Loaded { file, key: None }),
        Parsed::Sealed(sealed) => {
            let secret = passphrase(path).map_err(|error| FileError::NoPassphrase(path.to_owned(), error))?;
            let (file, key) = sealed.open(secret.as_bytes()).map_err(unusable)?;
            Ok(Loaded { file, key: Some(key) })
        }
    }
}

/// Where a session file goes. The old one, if there is one, stays until the new one is whole.
pub struct Destination {
    path: PathBuf,
    place: Replacement,
    key: Option<Arc<SealingKey>>,
}

impl Destination {
    /// Makes sure that the file can be written, before anything is measured. It is sealed if there is a key.
    pub fn open(path: &Path, key: Option<Arc<SealingKey>>) -> Result<Self, FileError> {
        let place = Replacement::prepare(path, Readers::OwnerAlone);
        let place = place.map_err(|error| FileError::Unwritable(path.to_owned(), error))?;
        Ok(Self { path: path.to_owned(), place, key })
    }

    /// Writes the file.
    pub fn write(self, file: &SessionFile) -> Result<(), FileError> {
        let seal = match &self.key {
            Some(key) => Some((&**key, random::<NONCE>().ok_or_else(|| FileError::Unsealable(self.path.clone()))?)),
            None => None,
        };
        let bytes = emit(file, seal).ok_or_else(|| FileError::Unsealable(self.path.clone()))?;
        self.place.write(&bytes).map_err(|error| FileError::Unwritable(self.path, error))
    }
}

impl SealingKey {
    /// A new key for a passphrase; `None` if the system has no randomness or no memory for it.
    pub fn of_passphrase(passphrase: &str) -> Option<Self> {
        Self::derive(passphrase.as_bytes(), LOG_N, random::<SALT>()?)
    }
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(unix)]
fn mode(file: &File) -> io::Result<u32> {
    Ok(std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o777)
}

#[cfg(not(unix))]
fn mode(_file: &File) -> io::Result<u32> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file() -> SessionFile {
        let sessions = vec![Zeroizing::new(b"a session".to_vec())];
        SessionFile { server: "example.org:443".to_owned(), verified: true, sessions }
    }

    fn nobody(_: &Path) -> Result<Zeroizing<String>, String> {
        Err("nobody was asked".to_owned())
    }

    fn write(path: &Path, key: Option<SealingKey>) {
        Destination::open(path, key.map(Arc::new)).unwrap().write(&file()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_unless_it_is_sealed() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions");
        write(&path, None);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let Err(error) = load(&path, &nobody) else { panic!("it was read") };
        assert!(error.to_string().contains("mode 640") && error.to_string().contains("chmod 600"), "{error}");

        write(&path, SealingKey::derive(b"correct horse", 10, [1; SALT]));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let correct = |_: &Path| Ok(Zeroizing::new("correct horse".to_owned()));
        assert_eq!(load(&path, &correct).unwrap().file, file());
        assert!(matches!(load(&path, &nobody), Err(FileError::NoPassphrase(..))));
    }
}

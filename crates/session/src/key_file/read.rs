use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use super::format::{Fault, Format, KeyFileError, Parsed};
use crate::key::{KeyError, KeyTimes, TicketKey};
use crate::ring::KeyRing;
use crate::rotation::after;
use crate::ticket::SKEW;

/// More than the largest ring has, in the longest format.
const MOST_BYTES: u64 = 16 * 1024;
/// A Secret that changes while it is read, again and again, is not a Secret.
const ATTEMPTS: usize = 5;

/// When keys from a file end: a file that nobody renews must not serve for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTimes {
    /// How long after the file was last changed its current key encrypts.
    pub encrypt: Duration,
    /// How long tickets live; a key decrypts so much longer than it encrypts.
    pub lifetime: Duration,
}

/// Where keys stand: files, the current key first, or a folder of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFiles {
    /// Their format.
    pub format: Format,
    /// Files in the order in which nginx would name them. One that is a folder stands for its files in the order of their
    /// names; what begins with a dot is left out. A Kubernetes Secret mounted as files is such a folder, and is read as a
    /// whole: all files of one version or of another, never of two.
    pub paths: Vec<PathBuf>,
    /// When the keys end.
    pub times: FileTimes,
}

impl KeyFiles {
    /// Reads them all.
    ///
    /// # Errors
    /// [`KeyFileError`], with the file's name: missing, exposed, short, zero and repeated keys are all errors. Nothing is
    /// ever made up in their place.
    pub fn read(&self) -> Result<KeyRing, KeyFileError> {
        let mut parsed = Vec::new();
        let mut changed = UnixTime::since_unix_epoch(Duration::ZERO);
        for path in self.paths.iter().flat_map(|path| if path.is_dir() { folder(path) } else { vec![Ok(path.clone())] }) {
            let (keys, modified) = self.read_file(&path?)?;
            parsed.extend(keys);
            changed = changed.max(modified);
        }
        self.ring(parsed, changed)
    }

    /// The same, but a folder whose content is swapped meanwhile is read again.
    pub(super) fn read_consistently(&self) -> Result<KeyRing, KeyFileError> {
        let versions = || self.paths.iter().map(|path| fs::read_link(path.join("..data")).ok()).collect::<Vec<_>>();
        for _ in 1..ATTEMPTS {
            let before = versions();
            let read = self.read();
            if before == versions() {
                return read;
            }
        }
        self.read()
    }

    fn read_file(&self, path: &Path) -> Result<(Vec<Parsed>, UnixTime), KeyFileError> {
        let io = |source| KeyFileError::Io { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(io)?;
        // Of what was opened: the name may mean another file by now.
        let metadata = file.metadata().map_err(io)?;
        check_permissions(path, &metadata)?;
        let mut content = Zeroizing::new(Vec::with_capacity(MOST_BYTES as usize));
        file.by_ref().take(MOST_BYTES).read_to_end(&mut content).map_err(io)?;
        let keys = self.format.parse(&content).map_err(|fault| {
            let path = path.to_owned();
            match fault {
                Fault::Key(source) => KeyFileError::Key { path, source },
                Fault::Base64 { line } => KeyFileError::Base64 { path, line },
                Fault::TooFew { keys } => KeyFileError::TooFew { path, keys },
            }
        })?;
        let modified = metadata.modified().map_err(io)?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok((keys, UnixTime::since_unix_epoch(modified)))
    }

    fn ring(&self, parsed: Vec<Parsed>, changed: UnixTime) -> Result<KeyRing, KeyFileError> {
        let bad = |source| KeyFileError::Key { path: self.paths.first().cloned().unwrap_or_default(), source };
        let current = match self.format {
            Format::Haproxy => parsed.len().saturating_sub(2),
            Format::Nginx | Format::Apache => 0,
        };
        let encrypt_until = after(changed, self.times.encrypt);
        let decrypt_until = after(encrypt_until, self.times.lifetime);
        let ring = parsed.into_iter().enumerate().map(|(index, (name, material))| {
            // A clock may be behind the one that wrote the file.
            let begin = UnixTime::since_unix_epoch(Duration::from_secs(changed.as_secs().saturating_sub(SKEW.as_secs())));
            let times = if index == current {
                KeyTimes { not_before: begin, encrypt_until, decrypt_until }
            } else {
                // It decrypts only: the moment in which it encrypts is past before the file is.
                let end = after(begin, Duration::from_secs(1));
                KeyTimes { not_before: begin, encrypt_until: end, decrypt_until }
            };
            TicketKey::new(name, &material, times)
        });
        let keys = ring.collect::<Result<Vec<_>, KeyError>>().map_err(bad)?;
        KeyRing::new(keys).map_err(bad)
    }
}

fn folder(path: &Path) -> Vec<Result<PathBuf, KeyFileError>> {
    // A mounted Secret: `..data` leads to the folder of one version, and what stands here leads through `..data`.
    let version = path.join("..data");
    let path = if version.is_dir() { fs::canonicalize(&version).unwrap_or(version) } else { path.to_owned() };
    let io = |source| KeyFileError::Io { path: path.clone(), source };
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) => return vec![Err(io(error))],
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(io))
        .filter(|file| !file.as_ref().is_ok_and(|file| is_hidden(file)))
        .collect();
    files.sort_by(|one, other| one.as_ref().ok().cmp(&other.as_ref().ok()));
    files
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

#[cfg(unix)]
fn check_permissions(path: &Path, metadata: &fs::Metadata) -> Result<(), KeyFileError> {
    let mode = std::os::unix::fs::MetadataExt::mode(metadata) & 0o777;
    // A group may read: that is how Kubernetes hands a Secret to an ordinary user.
    if mode & 0o027 == 0 { Ok(()) } else { Err(KeyFileError::Exposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn check_permissions(_path: &Path, _metadata: &fs::Metadata) -> Result<(), KeyFileError> {
    Ok(())
}

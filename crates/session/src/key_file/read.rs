use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use super::format::{Format, KeyFileError, Parsed};
use crate::key::{KeyError, KeyTimes, TicketKey};
use crate::ring::KeyRing;
use crate::rotation::after;
use crate::ticket::SKEW;

/// More than the largest ring has, in the longest format.
const MOST_BYTES: u64 = 16 * 1024;
/// A Secret that changes while it is read, again and again, is not a Secret.
const ATTEMPTS: usize = 5;

/// When keys from a file end, since a file that nobody renews must not serve for ever: by default they encrypt for a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileTimes {
    /// How long after the file was last changed its current key encrypts.
    pub encrypt: Duration,
    /// How long tickets live; a key decrypts so much longer than it encrypts. An hour by default.
    pub lifetime: Duration,
}

impl FileTimes {
    /// The default.
    pub const fn new() -> Self {
        Self { encrypt: Duration::from_secs(86_400), lifetime: Duration::from_secs(3600) }
    }

    /// With this [`FileTimes::encrypt`].
    #[must_use]
    pub const fn encrypt(self, encrypt: Duration) -> Self {
        Self { encrypt, ..self }
    }

    /// With this [`FileTimes::lifetime`].
    #[must_use]
    pub const fn lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }
}

impl Default for FileTimes {
    fn default() -> Self {
        Self::new()
    }
}

/// Where keys stand: files, the current key first, or a folder of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// These files or folders, whose keys end as [`FileTimes::new`] says.
    pub fn new<P: Into<PathBuf>>(format: Format, paths: impl IntoIterator<Item = P>) -> Self {
        Self { format, paths: paths.into_iter().map(Into::into).collect(), times: FileTimes::new() }
    }

    /// With these [`KeyFiles::times`].
    #[must_use]
    pub fn times(self, times: FileTimes) -> Self {
        Self { times, ..self }
    }

    /// Reads them all, whether their keys are over or not.
    ///
    /// # Errors
    /// [`KeyFileError`], with the file's name: missing, exposed, short, zero and repeated keys are all errors. No other
    /// key ever takes their place.
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

    /// Whether a ring of these files is still of use.
    ///
    /// # Errors
    /// [`KeyFileError::Over`], [`KeyFileError::EncryptsNoMore`].
    pub(super) fn check(&self, ring: &KeyRing, now: UnixTime) -> Result<(), KeyFileError> {
        let path = || self.paths.first().cloned().unwrap_or_default();
        let last = |end: fn(KeyTimes) -> UnixTime| ring.keys().map(|key| end(key.times()).as_secs()).max().unwrap_or(0);
        let since = |end: u64| now.as_secs().checked_sub(end).map(Duration::from_secs);
        if let Some(since) = since(last(|times| times.decrypt_until)) {
            return Err(KeyFileError::Over { path: path(), since });
        }
        match since(last(|times| times.encrypt_until)) {
            Some(since) => Err(KeyFileError::EncryptsNoMore { path: path(), since }),
            None => Ok(()),
        }
    }

    fn read_file(&self, path: &Path) -> Result<(Vec<Parsed>, UnixTime), KeyFileError> {
        let io = |source| KeyFileError::Io { path: path.to_owned(), source };
        let (content, metadata) = read_secret(path)?;
        let keys = self.format.parse(&content).map_err(|fault| fault.of(path))?;
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

/// The content of a file that others cannot read or change.
pub(super) fn read_secret(path: &Path) -> Result<(Zeroizing<Vec<u8>>, fs::Metadata), KeyFileError> {
    let io = |source| KeyFileError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    // Of what was opened: the name may mean another file by now.
    let metadata = file.metadata().map_err(io)?;
    check_permissions(path, &metadata)?;
    let mut content = Zeroizing::new(Vec::with_capacity(MOST_BYTES as usize));
    file.by_ref().take(MOST_BYTES).read_to_end(&mut content).map_err(io)?;
    Ok((content, metadata))
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

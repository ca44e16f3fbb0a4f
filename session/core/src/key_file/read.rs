use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use super::format::{KeyFileError, KeyFileFormat, Parsed};
use super::schedule::KeyPeriod;
use crate::key::{KeyError, KeyTimes, TicketKey};
use crate::ring::KeyRing;

/// More than the largest ring has, in the longest format.
const MOST_BYTES: u64 = 16 * 1024;
/// A Secret that changes while it is read, again and again, is not a Secret.
const ATTEMPTS: usize = 5;

/// What a file cannot say of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileTimes {
    /// How often keys are replaced whose names say no period: they are used for as long as they stand there, and reported once
    /// they have stood there for longer. A day by default.
    pub period: Duration,
    /// How long tickets live; a key whose name says its period decrypts so much longer than it encrypts. An hour by default.
    pub lifetime: Duration,
}

impl FileTimes {
    /// The default.
    pub const fn new() -> Self {
        Self { period: Duration::from_secs(86_400), lifetime: Duration::from_secs(3600) }
    }

    /// With this [`FileTimes::period`].
    #[must_use]
    pub const fn period(self, period: Duration) -> Self {
        Self { period, ..self }
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
    pub format: KeyFileFormat,
    /// Files in the order in which nginx would name them. One that is a folder stands for its files in the order of their
    /// names; what begins with a dot is left out. A Kubernetes Secret mounted as files is such a folder, and is read as a
    /// whole: all files of one version or of another, never of two.
    pub paths: Vec<PathBuf>,
    /// What the files do not say.
    pub times: FileTimes,
}

impl KeyFiles {
    /// These files or folders, with the times of [`FileTimes::new`].
    pub fn new<P: Into<PathBuf>>(format: KeyFileFormat, paths: impl IntoIterator<Item = P>) -> Self {
        Self { format, paths: paths.into_iter().map(Into::into).collect(), times: FileTimes::new() }
    }

    /// With these [`KeyFiles::times`].
    #[must_use]
    pub fn times(self, times: FileTimes) -> Self {
        Self { times, ..self }
    }

    /// The first one, by which an error or a line of the log names them all.
    pub(super) fn path(&self) -> PathBuf {
        self.paths.first().cloned().unwrap_or_default()
    }

    /// Reads them all, whether their keys are over or not.
    ///
    /// # Errors
    /// [`KeyFileError`], with the file's name: missing, exposed, short, zero and repeated keys are all errors. No other
    /// key ever takes their place.
    pub fn read(&self) -> Result<KeyRing, KeyFileError> {
        let mut parsed = Vec::new();
        for path in self.paths.iter().flat_map(|path| if path.is_dir() { folder(path) } else { vec![Ok(path.clone())] }) {
            let path = path?;
            let content = read_secret(&path)?;
            parsed.extend(self.format.parse(&content).map_err(|fault| fault.of(&path))?);
        }
        self.ring(parsed)
    }

    /// A ring of files that are not on the disk, by name, in the order of their names: the data of a Secret.
    ///
    /// # Errors
    /// As [`KeyFiles::read`].
    pub fn parse<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<KeyRing, KeyFileError> {
        let mut files: Vec<_> = files.into_iter().collect();
        files.sort_unstable_by_key(|(name, _)| *name);
        let mut parsed = Vec::new();
        for (name, content) in files {
            parsed.extend(self.format.parse(content).map_err(|fault| fault.of(Path::new(name)))?);
        }
        self.ring(parsed)
    }

    /// Reads them all, and again where a folder's content is swapped meanwhile.
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

    /// Whether somebody renews these files. `since` is how long they have had these keys, as far as is known.
    ///
    /// # Errors
    /// [`KeyFileError::Over`], [`KeyFileError::EncryptsNoMore`], [`KeyFileError::Overdue`], [`KeyFileError::Unchanged`]: none of
    /// them is a reason not to serve.
    pub fn check(&self, ring: &KeyRing, now: UnixTime, since: Duration) -> Result<(), KeyFileError> {
        let path = || self.path();
        let newest = ring.keys().filter_map(|key| KeyPeriod::of(key.name())).max_by_key(|period| period.not_before);
        let Some(newest) = newest else {
            return if since > self.times.period { Err(KeyFileError::Unchanged { path: path(), since }) } else { Ok(()) };
        };
        let times = newest.times(self.times.lifetime);
        let past = |end: UnixTime| now.as_secs().checked_sub(end.as_secs()).map(Duration::from_secs);
        if let Some(since) = past(times.decrypt_until) {
            return Err(KeyFileError::Over { path: path(), since });
        }
        if let Some(since) = past(times.encrypt_until) {
            return Err(KeyFileError::EncryptsNoMore { path: path(), since });
        }
        match Duration::from_secs(times.encrypt_until.as_secs().saturating_sub(now.as_secs())) {
            left if left <= newest.period / 2 => Err(KeyFileError::Overdue { path: path(), left }),
            _ => Ok(()),
        }
    }

    /// A ring of what was parsed. A key whose name says no period encrypts while it stands in its server's place for that, and
    /// decrypts while it stands anywhere: as long as in that server.
    fn ring(&self, parsed: Vec<Parsed>) -> Result<KeyRing, KeyFileError> {
        let bad = |source| KeyFileError::Key { path: self.path(), source };
        let current = match self.format {
            KeyFileFormat::Haproxy => parsed.len().saturating_sub(2),
            KeyFileFormat::Nginx | KeyFileFormat::Apache | KeyFileFormat::Envoy | KeyFileFormat::Reprise => 0,
        };
        let ring = parsed.into_iter().enumerate().map(|(index, (name, material))| {
            let times = match KeyPeriod::of(name) {
                Some(period) => period.times(self.times.lifetime),
                None => {
                    let [first, second] = [0, 1].map(|second| UnixTime::since_unix_epoch(Duration::from_secs(second)));
                    let (not_before, encrypt_until) =
                        if index == current { (second, KeyTimes::NO_END) } else { (first, second) };
                    KeyTimes { not_before, encrypt_until, decrypt_until: KeyTimes::NO_END }
                }
            };
            TicketKey::new(name, &material, times)
        });
        let keys = ring.collect::<Result<Vec<_>, KeyError>>().map_err(bad)?;
        KeyRing::new(keys).map_err(bad)
    }
}

/// The content of a file that others cannot read or change.
pub(super) fn read_secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let io = |source| KeyFileError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    // Of what was opened: the name may mean another file by now.
    let metadata = file.metadata().map_err(io)?;
    check_permissions(path, &metadata)?;
    let mut content = Zeroizing::new(Vec::with_capacity(MOST_BYTES as usize));
    file.by_ref().take(MOST_BYTES).read_to_end(&mut content).map_err(io)?;
    Ok(content)
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

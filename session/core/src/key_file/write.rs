//! Writing keys so that a full disk, a kill or a power cut leaves the keys as they were, or as they should be.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use super::format::{KeyFileError, KeyFileFormat};
use super::schedule::Places;
use crate::key::TicketKey;
use crate::random::{Random, SystemRandom};
use crate::ring::KeyRing;

/// Writes keys as another server reads them: for nginx and Apache one key, for HAProxy three or more, the last one being the
/// next. The file is replaced as a whole, and only its owner may read it; where it was there before, its owner and its mode
/// stay.
///
/// # Errors
/// [`KeyFileError::DoesNotFit`] for keys that the format has no room for; [`KeyFileError::Io`]. The file is then what it was.
pub fn write(path: &Path, format: KeyFileFormat, keys: &[&TicketKey]) -> Result<(), KeyFileError> {
    let staged = stage_file(path, &format.emit(keys)?);
    staged.map_err(|source| KeyFileError::Io { path: path.to_owned(), source })?.commit()
}

/// Writes the keys of a ring as they should stand at `now`: one file, or for nginx a folder of `1-current.key`, `2-next.key` and
/// `3-previous.key`, which changes as a whole, as a Kubernetes Secret does. Apache's file has room for the current key alone.
///
/// # Errors
/// As [`write`]. Files and folder are then what they were.
pub fn write_ring(path: &Path, format: KeyFileFormat, ring: &KeyRing, now: UnixTime) -> Result<(), KeyFileError> {
    stage_ring(path, format, ring, now)?.commit()
}

/// The same, but for the last step: what cannot be written is known before anything changes, here or at another place.
///
/// # Errors
/// As [`write`].
pub fn stage_ring(path: &Path, format: KeyFileFormat, ring: &KeyRing, now: UnixTime) -> Result<StagedKeys, KeyFileError> {
    let files = files(format, ring, now)?;
    let staged = match (format, files.as_slice()) {
        (KeyFileFormat::Nginx, files) => stage_folder(path, files),
        (_, [(_, content)]) => stage_file(path, content),
        _ => return Err(KeyFileError::DoesNotFit { format, what: "more or fewer files than one" }),
    };
    staged.map_err(|source| KeyFileError::Io { path: path.to_owned(), source })
}

/// Keys that are written beside their place. Dropped without [`StagedKeys::commit`], they leave it as it was.
#[derive(Debug)]
#[must_use = "without `commit` nothing changes"]
pub struct StagedKeys {
    path: PathBuf,
    /// The file, or the folder of a version.
    written: PathBuf,
    /// For nginx, the files of the version.
    names: Option<Vec<String>>,
    /// What was made for it, and is not left behind empty.
    made: Option<PathBuf>,
}

impl StagedKeys {
    /// Puts them into their place.
    ///
    /// # Errors
    /// [`KeyFileError::Io`]. The place is then what it was.
    pub fn commit(self) -> Result<(), KeyFileError> {
        let committed = match &self.names {
            Some(names) => commit_folder(&self.path, &self.written, names),
            None => fs::rename(&self.written, &self.path).and_then(|()| sync_folder(&self.path)),
        };
        committed.map_err(|source| KeyFileError::Io { path: self.path.clone(), source })
    }
}

impl Drop for StagedKeys {
    fn drop(&mut self) {
        // Where it was committed there is nothing left of a file, and a folder is in use.
        if self.names.is_none() {
            let _ = fs::remove_file(&self.written);
        } else if !is_in_use(&self.path, &self.written) {
            let _ = fs::remove_dir_all(&self.written);
            if let Some(made) = &self.made {
                let _ = fs::remove_dir(made);
            }
        }
    }
}

fn is_in_use(folder: &Path, version: &Path) -> bool {
    fs::read_link(folder.join("..data")).is_ok_and(|target| Some(target.as_os_str()) == version.file_name())
}

/// A file's name and its content, which is wiped when dropped.
pub type NamedFile = (String, Zeroizing<Vec<u8>>);

/// The files that hold a ring's keys at `now`, by name, as they would stand in a folder or in a Secret.
///
/// # Errors
/// [`KeyFileError::DoesNotFit`].
pub fn files(format: KeyFileFormat, ring: &KeyRing, now: UnixTime) -> Result<Vec<NamedFile>, KeyFileError> {
    let Places { before, current, next } = Places::at(ring, now);
    let current = current.into_iter();
    match format {
        KeyFileFormat::Nginx => {
            let named = (current.map(|key| ("current", key)))
                .chain(next.into_iter().map(|key| ("next", key)))
                .chain(before.into_iter().rev().map(|key| ("previous", key)));
            let file = |(number, (name, key)): (u32, (&str, &TicketKey))| {
                Ok((format!("{number}-{name}.key"), format.emit(&[key])?))
            };
            (1..).zip(named).map(file).collect()
        }
        KeyFileFormat::Apache => Ok(vec![("ticket.key".to_owned(), format.emit(&current.collect::<Vec<_>>())?)]),
        KeyFileFormat::Envoy => {
            let keys: Vec<_> = current.chain(next).chain(before.into_iter().rev()).collect();
            Ok(vec![("ticket-keys.yaml".to_owned(), format.emit(&keys)?)])
        }
        KeyFileFormat::Haproxy | KeyFileFormat::Reprise => {
            let keys: Vec<_> = before.into_iter().chain(current).chain(next).collect();
            Ok(vec![("ticket.keys".to_owned(), format.emit(&keys)?)])
        }
    }
}

/// Waits until no other process changes the keys at `path`, and keeps others waiting until the result is dropped.
///
/// # Errors
/// [`KeyFileError::Io`].
pub fn lock(path: &Path) -> Result<File, KeyFileError> {
    let lock = beside(path, ".lock");
    let locked = create(&lock, OpenOptions::new().write(true).create(true)).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|source| KeyFileError::Io { path: lock, source })
}

/// A hidden file next to `path`: whoever reads the whole folder leaves it out.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(suffix);
    path.with_file_name(name)
}

fn create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

fn suffix() -> io::Result<String> {
    let mut suffix = [0; 8];
    SystemRandom.fill(&mut suffix).map_err(io::Error::other)?;
    Ok(format!(".{:016x}", u64::from_be_bytes(suffix)))
}

fn stage_file(path: &Path, content: &[u8]) -> io::Result<StagedKeys> {
    // A link is followed: what it leads to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = beside(&path, &suffix()?);
    let file = create(&written, OpenOptions::new().write(true).create_new(true))?;
    let staged = StagedKeys { written, names: None, made: None, path };
    write_all(&file, content, fs::metadata(&staged.path).ok().as_ref())?;
    Ok(staged)
}

fn write_all(mut file: &File, content: &[u8], before: Option<&fs::Metadata>) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(before) = before {
        use std::os::unix::fs::{MetadataExt, fchown};
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            fchown(file, Some(before.uid()), Some(before.gid()))?;
        }
        file.set_permissions(before.permissions())?;
    }
    #[cfg(not(unix))]
    let _ = before;
    file.write_all(content)?;
    file.sync_all()
}

/// The name itself outlives a power cut only once its folder is on the disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        return File::open(folder)?.sync_all();
    }
    let _ = path;
    Ok(())
}

/// All files of a folder are replaced at once, as the kubelet does: a new folder beside the old one, and one link that is renamed.
#[cfg(unix)]
fn stage_folder(folder: &Path, files: &[NamedFile]) -> io::Result<StagedKeys> {
    use std::os::unix::fs::DirBuilderExt;
    let made = (!folder.exists()).then(|| folder.to_owned());
    fs::DirBuilder::new().recursive(true).mode(0o750).create(folder)?;
    let before = files.first().and_then(|(name, _)| fs::metadata(folder.join("..data").join(name)).ok());
    let written = folder.join(format!(".{}", suffix()?));
    let names = Some(files.iter().map(|(name, _)| name.clone()).collect());
    let staged = StagedKeys { path: folder.to_owned(), written, names, made };
    fs::DirBuilder::new().mode(0o750).create(&staged.written)?;
    for (name, content) in files {
        let file = create(&staged.written.join(name), OpenOptions::new().write(true).create_new(true))?;
        write_all(&file, content, before.as_ref())?;
    }
    if before.is_some() {
        let owner = fs::metadata(folder)?;
        let (uid, gid) = (std::os::unix::fs::MetadataExt::uid(&owner), std::os::unix::fs::MetadataExt::gid(&owner));
        std::os::unix::fs::chown(&staged.written, Some(uid), Some(gid))?;
    }
    File::open(&staged.written)?.sync_all()?;
    Ok(staged)
}

#[cfg(unix)]
fn commit_folder(folder: &Path, version: &Path, names: &[String]) -> io::Result<()> {
    use std::os::unix::fs::symlink;
    let (data, next) = (folder.join("..data"), folder.join("..data_next"));
    let version = version.file_name().unwrap_or_default();
    // Of a process that was killed here.
    let _ = fs::remove_file(&next);
    symlink(version, &next)?;
    fs::rename(&next, &data)?;
    for name in names {
        let link = folder.join(name);
        if fs::symlink_metadata(&link).is_err() {
            symlink(Path::new("..data").join(name), link)?;
        }
    }
    File::open(folder)?.sync_all()?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        // Old versions, and those of processes that were killed.
        if name.as_encoded_bytes().starts_with(b"..") && name != version && entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn stage_folder(_: &Path, _: &[NamedFile]) -> io::Result<StagedKeys> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "a folder that changes as a whole needs Unix: write for HAProxy or Reprise",
    ))
}

#[cfg(not(unix))]
fn commit_folder(_: &Path, _: &Path, _: &[String]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::super::{KeyFiles, new_keys, rotated_keys};
    use super::*;
    use crate::at;

    const DAY: Duration = Duration::from_secs(86_400);

    fn names(ring: &KeyRing) -> Vec<crate::key::KeyName> {
        let mut names: Vec<_> = ring.keys().map(TicketKey::name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_written_is_read_with_its_periods() {
        let folder = tempfile::tempdir().unwrap();
        let mut ring = new_keys(DAY, 64, at(86_400), &SystemRandom).unwrap();
        for (days, now) in [(1, at(86_400)), (2, at(2 * 86_400)), (3, at(3 * 86_400))] {
            ring = rotated_keys(&ring, DAY, now, &SystemRandom).unwrap().unwrap_or(ring);
            for (name, format) in
                [("nginx", KeyFileFormat::Nginx), ("haproxy", KeyFileFormat::Haproxy), ("own", KeyFileFormat::Reprise)]
            {
                let path = folder.path().join(name);
                write_ring(&path, format, &ring, now).unwrap();
                let read = KeyFiles::new(format, [&path]).read().unwrap();
                assert_eq!(names(&read), names(&ring), "{format} {days}");
                let encrypts = |ring: &KeyRing| ring.encryption_key(now).unwrap().name();
                assert_eq!(encrypts(&read), encrypts(&ring), "{format} {days}");
            }
            // As nginx reads it: the first file encrypts.
            let current = fs::read(folder.path().join("nginx/1-current.key")).unwrap();
            assert_eq!(current[..16], ring.encryption_key(now).unwrap().name().0, "{days}");
        }
        let hidden = fs::read_dir(folder.path().join("nginx")).unwrap().count();
        assert_eq!(hidden, 3 + 2, "three links, the link to the version, and the version");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left behind");
    }

    #[test]
    fn a_write_that_fails_leaves_the_keys_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = [(); 2].map(|()| new_keys(DAY, 64, at(86_400), &SystemRandom).unwrap());
        for format in [KeyFileFormat::Nginx, KeyFileFormat::Haproxy] {
            let path = folder.path().join(format.to_string());
            write_ring(&path, format, &old, at(86_400)).unwrap();
            // Processes that were killed at each step left this behind.
            let _ = fs::create_dir(path.join("...0123"));
            let _ = std::os::unix::fs::symlink("...0123", path.join("..data_next"));
            fs::write(beside(&path, ".0123"), "half").unwrap();
            let read = || names(&KeyFiles::new(format, [&path]).read().unwrap());
            assert_eq!(read(), names(&old));
            write_ring(&path, format, &new, at(86_400)).unwrap();
            assert_eq!(read(), names(&new));
        }
        // A disk that is full: nothing can be written there.
        let full = stage_file(Path::new("/dev/full/key"), b"x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn staged_keys_that_are_dropped_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = [(); 2].map(|()| new_keys(DAY, 64, at(86_400), &SystemRandom).unwrap());
        for format in [KeyFileFormat::Nginx, KeyFileFormat::Haproxy] {
            let path = folder.path().join(format.to_string());
            drop(stage_ring(&path, format, &old, at(86_400)).unwrap());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{format}");
            write_ring(&path, format, &old, at(86_400)).unwrap();
            drop(stage_ring(&path, format, &new, at(86_400)).unwrap());
            assert_eq!(names(&KeyFiles::new(format, [&path]).read().unwrap()), names(&old), "{format}");
            fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).unwrap();
        }
    }

    #[test]
    fn mode_and_owner_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let ring = new_keys(DAY, 64, at(86_400), &SystemRandom).unwrap();
        write_ring(&path, KeyFileFormat::Haproxy, &ring, at(86_400)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        write_ring(&path, KeyFileFormat::Haproxy, &ring, at(86_400)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o440);
    }
}

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
    replace(path, &format.emit(keys)?).map_err(|source| KeyFileError::Io { path: path.to_owned(), source })
}

/// Writes the keys of a ring as they should stand at `now`: one file, or for nginx a folder of `1-current.key`, `2-next.key` and
/// `3-previous.key`, which changes as a whole, as a Kubernetes Secret does. Apache's file has room for the current key alone.
///
/// # Errors
/// As [`write`]. Files and folder are then what they were.
pub fn write_ring(path: &Path, format: KeyFileFormat, ring: &KeyRing, now: UnixTime) -> Result<(), KeyFileError> {
    let files = files(format, ring, now)?;
    let io = |source| KeyFileError::Io { path: path.to_owned(), source };
    match (format, files.as_slice()) {
        (KeyFileFormat::Nginx, files) => replace_folder(path, files).map_err(io),
        (_, [(_, content)]) => replace(path, content).map_err(io),
        _ => Err(KeyFileError::DoesNotFit { format, what: "more or fewer files than one" }),
    }
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

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // A link is followed: what it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = beside(path, &suffix()?);
    let written = create(&temporary, OpenOptions::new().write(true).create_new(true)).and_then(|file| {
        write_all(&file, content, fs::metadata(path).ok().as_ref())?;
        fs::rename(&temporary, path)?;
        sync_folder(path)
    });
    written.inspect_err(|_| {
        // It may never have been there.
        let _ = fs::remove_file(&temporary);
    })
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

/// Replaces all files of a folder at once, as the kubelet does: a new folder beside the old one, and one link that is renamed.
#[cfg(unix)]
fn replace_folder(folder: &Path, files: &[NamedFile]) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, symlink};
    let (data, next) = (folder.join("..data"), folder.join("..data_next"));
    fs::DirBuilder::new().recursive(true).mode(0o750).create(folder)?;
    let before = files.first().and_then(|(name, _)| fs::metadata(data.join(name)).ok());
    let version = format!(".{}", suffix()?);
    let made = || {
        let version = folder.join(&version);
        fs::DirBuilder::new().mode(0o750).create(&version)?;
        for (name, content) in files {
            let file = create(&version.join(name), OpenOptions::new().write(true).create_new(true))?;
            write_all(&file, content, before.as_ref())?;
        }
        if before.is_some() {
            let owner = fs::metadata(folder)?;
            let (uid, gid) = (std::os::unix::fs::MetadataExt::uid(&owner), std::os::unix::fs::MetadataExt::gid(&owner));
            std::os::unix::fs::chown(&version, Some(uid), Some(gid))?;
        }
        File::open(&version)?.sync_all()
    };
    made().inspect_err(|_| {
        let _ = fs::remove_dir_all(folder.join(&version));
    })?;
    // Of a process that was killed here.
    let _ = fs::remove_file(&next);
    symlink(&version, &next)?;
    fs::rename(&next, &data)?;
    for (name, _) in files {
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
        if name.as_encoded_bytes().starts_with(b"..") && *name != *version && entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn replace_folder(_: &Path, _: &[NamedFile]) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "a folder that changes as a whole needs Unix: write for HAProxy or Reprise",
    ))
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
        let full = replace(Path::new("/dev/full/key"), b"x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::NotADirectory);
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

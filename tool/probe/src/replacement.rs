//! A file that takes the place of an earlier one in one step: until then, and if nothing comes, the earlier one stays as it is.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;
use thiserror::Error;

/// Why a file cannot be written.
#[derive(Debug, Error)]
pub enum Unwritable {
    /// It is a folder.
    #[error("it is a directory: name a file in it")]
    Directory,
    /// It is a device or a pipe, which has no place to take.
    #[error("it is not a regular file")]
    NotAFile,
    /// Its folder is not there.
    #[error("there is no directory {0}: create it first, or name a file elsewhere")]
    NoDirectory(PathBuf),
    /// Its folder takes no new file.
    #[error("no file can be created in {0} ({1}): name a file in another directory")]
    ClosedDirectory(PathBuf, io::Error),
    /// The file itself, or writing it, is refused.
    #[error(transparent)]
    Refused(#[from] io::Error),
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whoever may read the earlier one; where there is none, as the system has it for new files.
    AsBefore,
    /// Its owner alone, whoever could read the earlier one: it holds secrets.
    OwnerAlone,
}

/// A place where a file can be put.
#[derive(Debug)]
pub struct Replacement {
    /// Behind all links, which go on pointing there.
    path: PathBuf,
    readers: Readers,
}

impl Replacement {
    /// Makes sure that a file can be put at `path`, before there is anything to write. Nothing is left there by that.
    pub fn prepare(path: &Path, readers: Readers) -> Result<Self, Unwritable> {
        let replacement = Self { path: behind_links(path), readers };
        match fs::metadata(&replacement.path) {
            Ok(there) if there.is_dir() => return Err(Unwritable::Directory),
            Ok(there) if !there.is_file() => return Err(Unwritable::NotAFile),
            // A new file could take the place of one that is protected from being written: that is not asked for.
            Ok(_) => drop(OpenOptions::new().write(true).open(&replacement.path)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let directory = replacement.directory();
        if !directory.exists() {
            return Err(Unwritable::NoDirectory(directory.to_owned()));
        }
        let refused = |error| Unwritable::ClosedDirectory(directory.to_owned(), error);
        replacement.begin().map_err(refused)?;
        Ok(replacement)
    }

    /// Who may read it.
    pub fn readers(&self) -> Readers {
        self.readers
    }

    /// Whether an earlier file with anything in it is there.
    pub fn has_earlier(&self) -> bool {
        self.earlier().is_some_and(|there| there.len() > 0)
    }

    /// Writes the file beside its place and puts it there. Whatever fails before, the earlier one is still there whole.
    pub fn write(self, bytes: &[u8]) -> Result<(), Unwritable> {
        let mut new = self.begin()?;
        new.write_all(bytes)?;
        new.as_file().sync_all()?;
        match new.persist(&self.path) {
            Ok(_) => Ok(()),
            // A file that is mounted by itself, as into a container, can be written and not replaced.
            Err(refused) if is_mounted(&refused.error) => Ok(fs::write(&self.path, bytes)?),
            Err(refused) => Err(refused.error.into()),
        }
    }

    /// A new file in the same folder, so that it can be put in its place in one step; gone when it is dropped.
    fn begin(&self) -> io::Result<NamedTempFile> {
        let mut beginning = tempfile::Builder::new();
        let new = beginning.prefix(".reprise-").suffix(".part").make_in(self.directory(), |path| {
            // Before it is there, so that whoever ends the process knows of it.
            UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
            self.create(path)
        })?;
        if let Some(earlier) = self.earlier().filter(|_| self.readers == Readers::AsBefore) {
            keep_permissions(new.as_file(), &earlier)?;
        }
        Ok(new)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if self.readers == Readers::OwnerAlone {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)
    }

    fn earlier(&self) -> Option<Metadata> {
        fs::metadata(&self.path).ok()
    }

    fn directory(&self) -> &Path {
        self.path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
    }
}

/// Files that were begun, under the names that they have until they are put in their place.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what is written and not yet in its place, for a process that ends at once. No other file can be begun after this.
pub fn abandon_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        // One that is in its place has this name no more.
        let _ = fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

/// As many links as Linux follows.
const MOST_LINKS: u32 = 40;

/// What a path leads to, whether or not it is there yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().map_or(link.clone(), |directory| directory.join(link));
    }
    path
}

fn is_mounted(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
}

#[cfg(unix)]
fn keep_permissions(new: &File, earlier: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Root alone can give a file away; for others it becomes theirs.
    let _ = fchown(new, Some(earlier.uid()), Some(earlier.gid()));
    new.set_permissions(earlier.permissions())
}

#[cfg(not(unix))]
fn keep_permissions(_new: &File, _earlier: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(path: &Path) -> Replacement {
        Replacement::prepare(path, Readers::AsBefore).unwrap()
    }

    fn names(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_file_replaces_the_earlier_one_and_leaves_nothing_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result");
        assert!(!prepare(&path).has_earlier());
        assert_eq!(names(directory.path()), [""; 0], "nothing is there before there is anything to write");
        for text in ["one", "another"] {
            prepare(&path).write(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(directory.path()), ["result"]);
        }
        assert!(prepare(&path).has_earlier());
    }

    #[test]
    fn what_is_not_written_leaves_the_earlier_file_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result");
        fs::write(&path, "earlier").unwrap();
        drop(prepare(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "earlier");
        let unfinished = prepare(&path).begin().unwrap();
        abandon(&unfinished);
        assert_eq!(names(directory.path()), ["result"]);
    }

    /// As [`abandon_unfinished`], after which this process could begin no other.
    fn abandon(unfinished: &NamedTempFile) {
        let known = UNFINISHED.lock().unwrap();
        let known = known.iter().find(|path| *path == unfinished.path());
        fs::remove_file(known.unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_unless_only_the_owner_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        fs::write(&path, "earlier").unwrap();
        let as_new = mode();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        prepare(&path).write(b"later").unwrap();
        assert_eq!(mode(), 0o640);
        Replacement::prepare(&path, Readers::OwnerAlone).unwrap().write(b"secret").unwrap();
        assert_eq!(mode(), 0o600);
        fs::remove_file(&path).unwrap();
        prepare(&path).write(b"new").unwrap();
        assert_eq!(mode(), as_new);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_goes_on_pointing_to_the_file_behind_it() {
        let directory = tempfile::tempdir().unwrap();
        let [link, second, behind] = ["link", "second", "behind"].map(|name| directory.path().join(name));
        std::os::unix::fs::symlink("second", &link).unwrap();
        std::os::unix::fs::symlink(&behind, &second).unwrap();
        // First to what is not there yet.
        for text in ["one", "another"] {
            prepare(&link).write(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&behind).unwrap(), text);
            assert!(link.is_symlink() && second.is_symlink() && !behind.is_symlink());
        }
    }

    #[test]
    fn a_place_that_takes_no_file_is_found_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let why = |path: &Path| Replacement::prepare(path, Readers::AsBefore).unwrap_err().to_string();
        assert!(why(directory.path()).contains("name a file in it"));
        let absent = directory.path().join("none");
        assert!(why(&absent.join("result")).contains(&format!("no directory {}", absent.display())));
        if cfg!(target_os = "linux") {
            assert!(why(Path::new("/proc/result")).contains("no file can be created in /proc"));
            assert!(why(Path::new("/dev/null")).contains("not a regular file"));
        }
    }
}

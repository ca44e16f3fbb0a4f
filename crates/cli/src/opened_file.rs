//! A file that is opened before there is anything to write, and does not stay behind if nothing comes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A file to write to. What is there already stays as it is until then; one that was made for this, and was never written
/// to, goes again when it is dropped.
pub(crate) struct OpenedFile {
    path: PathBuf,
    file: File,
    /// Where it really is, if it was made and is still empty.
    unused: Option<PathBuf>,
}

impl OpenedFile {
    /// Opens `path` as `options` say, which need not say that a file that is not there is made.
    pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> anyhow::Result<Self> {
        let (file, is_new) = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (options.create(true).open(path), true),
            opened => (opened, false),
        };
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        // Through a link, the file and not the link.
        let unused = is_new.then(|| path.canonicalize().ok()).flatten();
        Ok(Self { path: path.to_owned(), file, unused })
    }

    /// The file itself, to look at what is there.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// These bytes take the place of what is there.
    pub(crate) fn overwrite(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.keep(|file| {
            // A pipe or a device has no length to take away.
            if file.metadata()?.is_file() {
                file.rewind()?;
                file.set_len(0)?;
            }
            file.write_all(bytes)
        })
    }

    /// These bytes follow what is there, in one write, so that a reader never sees half of them.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.keep(|file| file.write_all(bytes))
    }

    fn keep(&mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> anyhow::Result<()> {
        self.unused = None;
        let written = write(&mut self.file).and_then(|()| self.file.flush());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Drop for OpenedFile {
    fn drop(&mut self) {
        if let Some(path) = self.unused.take()
            && self.file.metadata().is_ok_and(|it| it.is_file() && it.len() == 0)
        {
            let _ = fs::remove_file(path);
        }
    }
}

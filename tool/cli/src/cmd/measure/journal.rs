//! `--every --json FILE`: JSON Lines, one result a line, appended as each round ends. A watch that is started again goes on
//! where the last one stopped, and a line that is written is kept whatever happens next.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::measured::Measured;
use crate::outputs::{is_standard_output, print};

/// How every line of such a file begins; a single result, which is indented, begins otherwise.
const BEGINNING: &[u8] = b"{\"schema\":\"reprise.";

/// Where the lines go.
pub(super) enum Journal {
    Standard,
    File(OpenedFile),
}

impl Journal {
    /// Opens the file and looks whether it is one to append to.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if is_standard_output(path) {
            return Ok(Self::Standard);
        }
        let shown = path.display();
        // Reading too, to see what is there; a pipe or a device can only be written.
        let is_special = path.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir());
        let mut options = OpenOptions::new();
        options.append(true).read(!is_special);
        let mut opened = OpenedFile::open(path, &mut options)?;
        if !is_special && !continues(&mut opened.file).with_context(|| format!("cannot read {shown}"))? {
            bail!(
                "{shown} is not a file with one result per line: --every appends such lines and overwrites nothing\n  \
                 choose another file, or remove this one"
            );
        }
        Ok(Self::File(opened))
    }

    /// Whether standard output is taken.
    pub(super) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
    }

    /// Appends a result.
    pub(super) fn append(&mut self, measured: &Measured) -> anyhow::Result<()> {
        let line = measured.json_line()?;
        match self {
            Self::Standard => print(&line)?,
            Self::File(file) => file.append(&line)?,
        }
        Ok(())
    }
}

/// A file to append to; one that was made for this, and was never written to, goes again when it is dropped.
pub(super) struct OpenedFile {
    path: PathBuf,
    file: File,
    /// Where it really is, if it was made and is still empty.
    unused: Option<PathBuf>,
}

impl OpenedFile {
    /// Opens `path` as `options` say, which need not say that a file that is not there is made.
    fn open(path: &Path, options: &mut OpenOptions) -> anyhow::Result<Self> {
        let (file, is_new) = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (options.create(true).open(path), true),
            opened => (opened, false),
        };
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        // Through a link, the file and not the link.
        let unused = is_new.then(|| path.canonicalize().ok()).flatten();
        Ok(Self { path: path.to_owned(), file, unused })
    }

    /// These bytes follow what is there, in one write, so that a reader never sees half of them.
    fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.unused = None;
        let written = self.file.write_all(bytes).and_then(|()| self.file.flush());
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

/// Whether lines can be appended to what is there. A last line that was cut off by a full disk or a crash is ended first.
fn continues(file: &mut File) -> io::Result<bool> {
    let mut beginning = Vec::new();
    file.take(BEGINNING.len() as u64).read_to_end(&mut beginning)?;
    if beginning.is_empty() {
        return Ok(true);
    }
    if beginning != BEGINNING {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(true)
}

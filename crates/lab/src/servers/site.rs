//! The directory that a server lives in: its configuration, its pages, its log.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{LabError, Result};

/// A directory of the server's own, which goes with it.
pub(super) fn directory() -> Result<TempDir> {
    tempfile::tempdir().map_err(|source| LabError::File { path: std::env::temp_dir(), source })
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|source| LabError::File { path: path.to_owned(), source })
}

/// The lines of a log that is being written: the last may be half there, and is left for the next time.
pub(super) fn whole_lines(log: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(log).map_err(|source| LabError::File { path: log.to_owned(), source })?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    Ok(whole.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_being_written_waits() {
        let directory = directory().unwrap();
        let log = directory.path().join("log");
        for (text, lines) in [("", &[][..]), ("one", &[]), ("one\ntw", &["one"]), ("one\ntwo\n", &["one", "two"])] {
            write(&log, text).unwrap();
            assert_eq!(whole_lines(&log).unwrap(), lines, "{text:?}");
        }
    }
}

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::format::{Format, KeyFileError};
use crate::key::TicketKey;
use crate::random::{Random, SystemRandom};

/// Writes keys as another server reads them: for nginx and Apache one key, for HAProxy three or more, the last one being the
/// next. The file is replaced as a whole, and only its owner may read it.
///
/// # Errors
/// [`KeyFileError::DoesNotFit`] for keys that the format has no room for; [`KeyFileError::Io`]. The file is then what it was.
pub fn write(path: &Path, format: Format, keys: &[&TicketKey]) -> Result<(), KeyFileError> {
    let content = format.emit(keys)?;
    let io = |source| KeyFileError::Io { path: path.to_owned(), source };
    let mut suffix = [0; 8];
    SystemRandom.fill(&mut suffix).map_err(|failed| io(std::io::Error::other(failed)))?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{:016x}", u64::from_be_bytes(suffix)));
    let temporary = Path::new(&name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(temporary).and_then(|mut file| {
        file.write_all(&content)?;
        file.sync_all()?;
        fs::rename(temporary, path)
    });
    written.map_err(|error| {
        // It may never have been there.
        let _ = fs::remove_file(temporary);
        io(error)
    })
}

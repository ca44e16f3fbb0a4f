//! The directory that a server lives in: its configuration, its keys, its pages, its logs.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use reprise_lab::{Identity, LabError};
use tempfile::TempDir;

use super::ClientVerify;
use super::unprivileged::hand_over;
use crate::{DriverError, Result};

/// A program's directory; gone when it is dropped.
#[derive(Debug)]
pub struct ScratchDir {
    program: &'static str,
    /// Whether all that is in it belongs to nobody.
    of_nobody: bool,
    directory: TempDir,
}

/// The authority that must have issued a client's certificate.
#[derive(Debug)]
pub(super) struct ClientAuthority {
    pub(super) file: String,
    /// Whether clients without a certificate are refused.
    pub(super) required: bool,
}

impl ScratchDir {
    pub(super) fn new(program: &'static str, of_nobody: bool) -> Result<Self> {
        let directory = tempfile::tempdir();
        let directory = directory.map_err(|source| LabError::File { path: std::env::temp_dir(), source })?;
        let made = Self { program, of_nobody, directory };
        made.owned(made.root())?;
        Ok(made)
    }

    pub(super) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// A file in it, whether it is there or not.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// What the program writes to its standard output and error.
    pub(super) fn output(&self) -> PathBuf {
        self.path("output.log")
    }

    /// Writes a file, whose directories must be there.
    pub(super) fn write(&self, name: &str, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, contents).map_err(|source| LabError::File { path: path.clone(), source })?;
        self.owned(&path)?;
        Ok(path)
    }

    /// Text with what only the driver knows in place of `{root}`, `{address}`, `{ip}` and `{port}`.
    pub(super) fn filled_in(&self, text: &str, address: SocketAddr) -> String {
        let text = text.replace("{root}", &self.root().display().to_string()).replace("{address}", &address.to_string());
        text.replace("{ip}", &address.ip().to_string()).replace("{port}", &address.port().to_string())
    }

    /// Writes these files.
    pub(super) fn write_all(&self, files: &[(&str, Vec<u8>)]) -> Result<()> {
        files.iter().try_for_each(|(name, contents)| self.write(name, contents).map(drop))
    }

    /// Makes a directory in its own.
    pub(super) fn make_directory(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        Ok(fs::create_dir(&path).map_err(|source| LabError::File { path, source })?)
    }

    /// Makes the directory `www` with a small page.
    pub(super) fn write_page(&self) -> Result<()> {
        self.make_directory("www")?;
        self.write("www/index.html", "<!doctype html><title>Reprise lab</title>\n").map(drop)
    }

    /// Writes `NAME-cert.pem` and `NAME-key.pem`, and returns the paths of both.
    pub(super) fn write_identity(&self, name: &str, identity: &Identity) -> Result<[String; 2]> {
        let files = identity.write_pem(self.root(), name)?;
        self.owned(&files.certificate)?;
        self.owned(&files.key)?;
        Ok([files.certificate, files.key].map(|path| path.display().to_string()))
    }

    /// Writes the authority's certificate, if clients are asked for theirs.
    pub(super) fn write_client_authority(&self, verify: &ClientVerify) -> Result<Option<ClientAuthority>> {
        let (pem, required) = match verify {
            ClientVerify::Off => return Ok(None),
            ClientVerify::Optional(pem) => (pem, false),
            ClientVerify::Required(pem) => (pem, true),
        };
        Ok(Some(ClientAuthority { file: self.write("client-ca.pem", pem)?.display().to_string(), required }))
    }

    /// What `parse` reads out of each of these lines of the program's log.
    pub(super) fn read<'l, T>(
        &self,
        lines: impl Iterator<Item = &'l String>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>> {
        lines.map(|line| parse(line).ok_or_else(|| self.malformed(line))).collect()
    }

    /// A line that tells of a connection, and cannot be understood.
    pub(super) fn malformed(&self, line: &str) -> DriverError {
        DriverError::Account { program: self.program.to_owned(), line: line.to_owned() }
    }

    /// The lines that the program has written to its standard output and error.
    pub(super) fn output_lines(&self) -> Result<Vec<String>> {
        whole_lines(&self.output())
    }

    /// The lines of a log of its own.
    pub(super) fn lines_of(&self, log: &str) -> Result<Vec<String>> {
        whole_lines(&self.path(log))
    }

    fn owned(&self, path: &Path) -> Result<()> {
        if self.of_nobody { hand_over(path) } else { Ok(()) }
    }
}

/// The lines of a log that is being written: the last may be half there, and is left for the next time.
fn whole_lines(log: &Path) -> Result<Vec<String>> {
    let text = fs::read(log).map_err(|source| LabError::File { path: log.to_owned(), source })?;
    let text = String::from_utf8_lossy(&text);
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    Ok(whole.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_being_written_waits() {
        let directory = ScratchDir::new("sh", false).unwrap();
        for (text, lines) in [("", &[][..]), ("one", &[]), ("one\ntw", &["one"]), ("one\ntwo\n", &["one", "two"])] {
            let log = directory.write("log", text).unwrap();
            assert_eq!(whole_lines(&log).unwrap(), lines, "{text:?}");
        }
    }
}

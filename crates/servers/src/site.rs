//! The directory that a server lives in (its configuration, its pages, its log), and the server that runs there.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{ClientVerify, Launch, Process, RunningServer, find};
use crate::{Result, ServerError};

/// A program that runs in a directory of its own; both are gone when it is dropped.
#[derive(Debug)]
pub(super) struct Site {
    // Fields drop in this order: the process ends before its directory goes.
    process: Process,
    directory: TempDir,
    program: &'static str,
    address: SocketAddr,
}

/// The directory of a program that is still to be started.
#[derive(Debug)]
pub(super) struct ScratchDir {
    program: &'static str,
    /// Where the program stands.
    path: PathBuf,
    directory: TempDir,
    port: Option<u16>,
}

/// How a program says that it listens. That its port accepts connections is not enough: another server may have taken
/// it in the moment between.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ready<'a> {
    /// This file of its directory is there.
    File(&'a str),
    /// Its output holds these words.
    Says(&'a str),
}

/// The authority that must have issued a client's certificate.
#[derive(Debug)]
pub(super) struct ClientAuthority {
    pub(super) file: PathBuf,
    /// Whether clients without a certificate are refused.
    pub(super) required: bool,
}

/// Directives of a test's own, with what only the driver knows.
pub(super) fn filled_in(directives: &str, root: &Path, address: SocketAddr) -> String {
    directives.replace("{address}", &address.to_string()).replace("{root}", &root.display().to_string())
}

/// What a program writes to its standard output and error.
const OUTPUT: &str = "output.log";

impl ScratchDir {
    pub(super) fn new(program: &'static str) -> Result<Self> {
        let directory = tempfile::tempdir();
        let directory = directory.map_err(|source| ServerError::File { path: std::env::temp_dir(), source })?;
        let path = find(program).unwrap_or_else(|| PathBuf::from(program));
        Ok(Self { program, path, directory, port: None })
    }

    /// A program that is not installed, but was built at `path`.
    pub(super) fn with_program(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The port of 127.0.0.1 to listen on; none for a free one.
    pub(super) fn on_port(self, port: Option<u16>) -> Self {
        Self { port, ..self }
    }

    pub(super) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// The program, without arguments.
    pub(super) fn command(&self) -> Command {
        Command::new(&self.path)
    }

    /// Writes a file, whose directories must be there.
    pub(super) fn write(&self, name: &str, contents: &(impl AsRef<[u8]> + ?Sized)) -> Result<PathBuf> {
        let path = self.root().join(name);
        fs::write(&path, contents).map_err(|source| ServerError::File { path: path.clone(), source })?;
        Ok(path)
    }

    /// Makes a directory in its own.
    pub(super) fn make_directory(&self, name: &str) -> Result<()> {
        let path = self.root().join(name);
        fs::create_dir(&path).map_err(|source| ServerError::File { path, source })
    }

    /// Makes the directory `www` with a small page.
    pub(super) fn write_page(&self) -> Result<()> {
        self.make_directory("www")?;
        self.write("www/index.html", "<!doctype html><title>Reprise lab</title>\n").map(drop)
    }

    /// Writes the authority's certificate, if clients are asked for theirs.
    pub(super) fn write_client_authority(&self, verify: &ClientVerify) -> Result<Option<ClientAuthority>> {
        let (pem, required) = match verify {
            ClientVerify::Off => return Ok(None),
            ClientVerify::Optional(pem) => (pem, false),
            ClientVerify::Required(pem) => (pem, true),
        };
        Ok(Some(ClientAuthority { file: self.write("client-ca.pem", pem)?, required }))
    }

    /// Starts the program, which accepts connections when this returns.
    ///
    /// `configure` writes what must name the address, and adds the arguments.
    pub(super) fn start(
        self,
        ready: Ready<'_>,
        configure: impl Fn(&Self, SocketAddr, &mut Command) -> Result<()>,
    ) -> Result<Site> {
        let program = self.program;
        let log = self.root().join(OUTPUT);
        let listens = || match ready {
            Ready::File(name) => self.root().join(name).exists(),
            Ready::Says(words) => fs::read_to_string(&log).is_ok_and(|output| output.contains(words)),
        };
        let launch = Launch { program, log: &log, listens: &listens };
        let command = |address| {
            if let Ready::File(name) = ready {
                let _ = fs::remove_file(self.root().join(name));
            }
            let mut command = self.command();
            configure(&self, address, &mut command)?;
            Ok(command)
        };
        let (process, address) = match self.port {
            Some(port) => {
                let address = SocketAddr::from(([127, 0, 0, 1], port));
                (Process::start(&launch, &mut command(address)?, address)?, address)
            }
            None => Process::on_free_port(&launch, command)?,
        };
        Ok(Site { process, directory: self.directory, program, address })
    }
}

impl Site {
    pub(super) fn running(&self) -> RunningServer {
        RunningServer { program: self.program, address: self.address, pid: self.process.pid() }
    }

    /// What `parse` reads out of each of these lines of the program's log.
    pub(super) fn read<'l, T>(
        &self,
        lines: impl Iterator<Item = &'l String>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>> {
        let malformed = |line: &str| ServerError::Account { program: self.program.to_owned(), line: line.to_owned() };
        lines.map(|line| parse(line).ok_or_else(|| malformed(line))).collect()
    }

    /// The lines that the program has written to its standard output and error.
    pub(super) fn output(&self) -> Result<Vec<String>> {
        self.lines_of(OUTPUT)
    }

    /// The lines of a log in the program's directory.
    pub(super) fn lines_of(&self, log: &str) -> Result<Vec<String>> {
        whole_lines(&self.directory.path().join(log))
    }
}

/// The lines of a log that is being written: the last may be half there, and is left for the next time.
fn whole_lines(log: &Path) -> Result<Vec<String>> {
    let text = fs::read(log).map_err(|source| ServerError::File { path: log.to_owned(), source })?;
    let text = String::from_utf8_lossy(&text);
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    Ok(whole.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_being_written_waits() {
        let ground = ScratchDir::new("sh").unwrap();
        for (text, lines) in [("", &[][..]), ("one", &[]), ("one\ntw", &["one"]), ("one\ntwo\n", &["one", "two"])] {
            let log = ground.write("log", text).unwrap();
            assert_eq!(whole_lines(&log).unwrap(), lines, "{text:?}");
        }
    }
}

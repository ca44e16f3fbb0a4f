//! Go's crypto/tls, in a program of the lab's own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use reprise_lab::{Identity, Versions};

use super::driver::{Driven, Driver, ReadySign};
use super::program::run;
use super::scratch::ScratchDir;
use super::{Account, account_line};
use crate::Result;

/// The lab's server in Go, once it is built: any number of [`Go`] can be started from it.
#[derive(Debug)]
pub struct GoProgram {
    directory: ScratchDir,
}

/// A running Go program that answers every request with 200, by HTTP/2 where ALPN offers it. Its account is
/// `tls.ConnectionState.DidResume`.
pub type Go = Driven<GoConfig>;

/// What the Go program is told; [`GoConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct GoConfig {
    /// Where the program stands.
    pub program: PathBuf,
    /// The certificate chain and key.
    pub identity: Identity,
    /// `MinVersion` and `MaxVersion`.
    pub versions: Versions,
    /// Without it, `SessionTicketsDisabled`. Go keeps no sessions and gives no session IDs.
    pub session_tickets: bool,
}

impl GoConfig {
    /// Both versions, with tickets.
    #[must_use]
    pub fn new(program: &GoProgram, identity: Identity) -> Self {
        Self { program: program.directory.path(BINARY), identity, versions: Versions::Both, session_tickets: true }
    }
}

impl GoProgram {
    /// Builds the program.
    ///
    /// # Errors
    /// [`LabError::Spawn`](reprise_lab::LabError::Spawn) if Go is not installed, [`LabError::Program`](reprise_lab::LabError::Program) with the compiler's words if it cannot build,
    /// [`LabError::File`](reprise_lab::LabError::File) if its directory cannot be written.
    pub fn build() -> Result<Self> {
        Self::build_with(&[])
    }

    /// Builds the program with these statements where its `config`, a `tls.Config`, is set.
    ///
    /// # Errors
    /// As [`GoProgram::build`].
    pub fn build_with(statements: &[String]) -> Result<Self> {
        let directory = ScratchDir::new(COMPILER, false)?;
        let source = include_str!("../programs/server.go").replacen(STATEMENTS, &statements.join("\n\t"), 1);
        let source = directory.write("server.go", &source)?;
        run(COMPILER, |command| {
            command.current_dir(directory.root()).args(["build", "-o", BINARY]).arg(source);
            // The program needs nothing but the standard library, and the toolchain that is here.
            command.env("GOTOOLCHAIN", "local").env("GOPROXY", "off").env("CGO_ENABLED", "0");
        })?;
        Ok(Self { directory })
    }
}

impl Driver for GoConfig {
    type Account = Account;

    const PROGRAM: &'static str = COMPILER;

    const READY: ReadySign = ReadySign::Says("listening");

    fn path(&self) -> PathBuf {
        self.program.clone()
    }

    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        command.arg(address.port().to_string()).args(directory.write_identity("server", &self.identity)?);
        command.args(self.versions.names());
        command.args((!self.session_tickets).then_some("no-tickets"));
        Ok(())
    }

    fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
        account_line::accounts(directory)
    }
}

const COMPILER: &str = "go";
/// Where statements of a test's own stand in the program.
const STATEMENTS: &str = "// A test's own statements.";
const BINARY: &str = "server";

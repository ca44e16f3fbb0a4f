//! Go's crypto/tls, in a program of the lab's own.

use std::path::PathBuf;

use reprise_lab::{Identity, Versions};

use super::site::{Ready, ScratchDir, Site};
use super::{Account, RealServer, RunningServer, account_line};
use crate::{Result, ServerError};

/// The lab's server in Go, once it is built: any number of [`Go`] can be started from it.
#[derive(Debug)]
pub struct GoProgram {
    ground: ScratchDir,
}

/// A running Go program that answers every request with 200, by HTTP/2 where ALPN offers it. Its account is
/// `tls.ConnectionState.DidResume`.
#[derive(Debug)]
pub struct Go {
    site: Site,
}

/// What the Go program is told; [`GoConfig::new`] has the usual values.
#[derive(Debug, Clone)]
pub struct GoConfig {
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
    pub fn new(identity: Identity) -> Self {
        Self { identity, versions: Versions::Both, session_tickets: true }
    }
}

impl GoProgram {
    /// Builds the program.
    ///
    /// # Errors
    /// [`ServerError::Spawn`] if Go is not installed, [`ServerError::Program`] with the compiler's words if it cannot build,
    /// [`ServerError::File`] if its directory cannot be written.
    pub fn build() -> Result<Self> {
        Self::build_with(&[])
    }

    /// Builds the program with these statements where its `config`, a `tls.Config`, is set.
    ///
    /// # Errors
    /// As [`GoProgram::build`].
    pub fn build_with(statements: &[String]) -> Result<Self> {
        let ground = ScratchDir::new(COMPILER)?;
        let source = include_str!("../programs/server.go").replacen(STATEMENTS, &statements.join("\n\t"), 1);
        let source = ground.write("server.go", &source)?;
        let mut command = ground.command();
        command.current_dir(ground.root()).args(["build", "-o", BINARY]).arg(source);
        // The program needs nothing but the standard library, and the toolchain that is here.
        command.env("GOTOOLCHAIN", "local").env("GOPROXY", "off").env("CGO_ENABLED", "0");
        let output = command.output().map_err(|source| ServerError::Spawn { program: COMPILER.to_owned(), source })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(ServerError::Program { program: COMPILER.to_owned(), output: said });
        }
        Ok(Self { ground })
    }

    fn path(&self) -> PathBuf {
        self.ground.root().join(BINARY)
    }
}

impl Go {
    /// Starts the program; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`ServerError::Died`] with the end of its output if it refuses its options, [`ServerError::File`] if its directory
    /// cannot be written.
    pub fn start(program: &GoProgram, config: GoConfig) -> Result<Self> {
        let ground = ScratchDir::new(COMPILER)?.with_program(program.path());
        let files = config.identity.write_pem(ground.root(), "server")?;
        let site = ground.start(Ready::Says("listening"), |_, address, command| {
            command.arg(address.port().to_string()).arg(&files.certificate).arg(&files.key);
            command.args(config.versions.names());
            command.args((!config.session_tickets).then_some("no-tickets"));
            Ok(())
        })?;
        Ok(Self { site })
    }
}

impl RealServer for Go {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    fn accounts(&mut self) -> Result<Vec<Account>> {
        account_line::accounts(COMPILER, &self.site.output()?)
    }
}

const COMPILER: &str = "go";
/// Where statements of a test's own stand in the program.
const STATEMENTS: &str = "// A test's own statements.";
const BINARY: &str = "server";

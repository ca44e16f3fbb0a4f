//! What all servers that are programs have in common: each lives in a directory of its own, says when it listens, writes its account
//! of each connection there, and is gone when it is dropped. A [`Driver`] is what differs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use super::scratch::ScratchDir;
use super::unprivileged::run_as_nobody;
use super::{Account, Launch, PartialWitness, Process, RealServer, RunningServer, StarttlsAccount, find};
use crate::Result;

/// One kind of server, as it is configured.
pub trait Driver {
    /// What the server tells of a connection.
    type Account;

    /// The program's name.
    const PROGRAM: &'static str;

    /// How it says that it listens.
    const READY: ReadySign;

    /// Whether it refuses to run as root, or should not: then it runs as nobody, who owns its directory.
    const AS_NOBODY: bool = false;

    /// The name of its configuration, for those that have one.
    const FILE: &'static str = "server.conf";

    /// What it is started with, where that says no more than where the configuration is: `{file}` stands for that, and further
    /// names as in the configuration.
    const ARGUMENTS: &'static [&'static str] = &["{file}"];

    /// Where the program stands.
    fn path(&self) -> PathBuf {
        find(Self::PROGRAM).unwrap_or_else(|| Self::PROGRAM.into())
    }

    /// The port of 127.0.0.1 to listen on; none for a free one.
    fn port(&self) -> Option<u16> {
        None
    }

    /// Makes in its directory what is made once, and does not name the address.
    fn prepare(&self, _directory: &ScratchDir) -> Result<()> {
        Ok(())
    }

    /// The text of its configuration, in which `{root}` stands for its directory, and `{address}`, `{ip}` and `{port}` for where it
    /// listens.
    fn configuration(&self, _directory: &ScratchDir) -> Result<String> {
        Ok(String::new())
    }

    /// Adds the arguments. Another address is tried where one has been taken meanwhile.
    fn configure(&self, directory: &ScratchDir, address: SocketAddr, command: &mut Command) -> Result<()> {
        let text = directory.filled_in(&self.configuration(directory)?, address);
        let file = directory.write(Self::FILE, &text)?.display().to_string();
        command.args(Self::ARGUMENTS.iter().map(|part| directory.filled_in(&part.replace("{file}", &file), address)));
        Ok(())
    }

    /// Reads its account of each connection so far, in the order in which it wrote them down.
    fn accounts(directory: &ScratchDir) -> Result<Vec<Self::Account>>;
}

/// How a program says that it listens. That its port accepts connections is not enough: another server may have taken
/// it in the moment between.
#[derive(Debug, Clone, Copy)]
pub enum ReadySign {
    /// This file of its directory is there.
    File(&'static str),
    /// Its output holds these words.
    Says(&'static str),
}

/// A running server of this kind.
#[derive(Debug)]
pub struct Driven<D> {
    // Fields drop in this order: the process ends before its directory goes.
    process: Process,
    pub(crate) directory: ScratchDir,
    address: SocketAddr,
    /// Its configuration may hold what the server needs as long as it runs.
    _configuration: D,
}

impl<D: Driver> Driven<D> {
    /// Starts the server; it accepts connections when this returns.
    ///
    /// # Errors
    /// [`LabError::Spawn`](reprise_lab::LabError::Spawn) if it is not installed, [`DriverError::Died`](crate::DriverError::Died)
    /// with the end of its log if it refuses its configuration, [`LabError::Program`](reprise_lab::LabError::Program) if a
    /// program that makes something for it fails, [`LabError::File`](reprise_lab::LabError::File) if its directory cannot be
    /// written.
    pub fn start(configuration: D) -> Result<Self> {
        let directory = ScratchDir::new(D::PROGRAM, D::AS_NOBODY)?;
        configuration.prepare(&directory)?;
        let log = directory.output();
        let listens = || match D::READY {
            ReadySign::File(name) => directory.path(name).exists(),
            ReadySign::Says(words) => std::fs::read_to_string(&log).is_ok_and(|output| output.contains(words)),
        };
        let launch = Launch { program: D::PROGRAM, log: &log, listens: &listens };
        let command = |address| {
            if let ReadySign::File(name) = D::READY {
                let _ = std::fs::remove_file(directory.path(name));
            }
            let mut command = Command::new(configuration.path());
            if D::AS_NOBODY {
                run_as_nobody(&mut command);
            }
            configuration.configure(&directory, address, &mut command)?;
            Ok(command)
        };
        let (process, address) = match configuration.port() {
            Some(port) => {
                let address = SocketAddr::from(([127, 0, 0, 1], port));
                (Process::start(&launch, &mut command(address)?, address)?, address)
            }
            None => Process::on_free_port(&launch, command)?,
        };
        Ok(Self { process, directory, address, _configuration: configuration })
    }

    pub(crate) fn server(&self) -> RunningServer {
        RunningServer { program: D::PROGRAM, address: self.address, pid: self.process.pid() }
    }
}

impl<D: Driver<Account = Account>> RealServer for Driven<D> {
    fn running(&self) -> RunningServer {
        self.server()
    }

    fn accounts(&mut self) -> Result<Vec<Account>> {
        D::accounts(&self.directory)
    }
}

impl<D: Driver<Account = StarttlsAccount>> PartialWitness for Driven<D> {
    fn running(&self) -> RunningServer {
        self.server()
    }

    fn connected(&self) -> Result<Vec<StarttlsAccount>> {
        D::accounts(&self.directory)
    }
}

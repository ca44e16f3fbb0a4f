use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{POLL, READY_DEADLINE};
use crate::{LabError, Result};

/// A program that serves a loopback port; asked to end, then made to, when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

/// How long a program has to end by itself after SIGTERM.
const TERM_DEADLINE: Duration = Duration::from_secs(3);

/// How many ports are tried: another process may take a free one before the server does.
const ATTEMPTS: usize = 4;

/// How much of a log is quoted in an error.
const LOG_TAIL_BYTES: usize = 2048;

impl Process {
    /// Starts a server on a free port of 127.0.0.1, and returns it with its address once it accepts connections.
    ///
    /// `command` makes the command for an address; `log` takes the program's standard output and error.
    ///
    /// # Errors
    /// [`LabError::Spawn`], [`LabError::Died`] or [`LabError::NotReady`], with the end of the log.
    pub fn on_free_port(
        program: &str,
        log: &Path,
        mut command: impl FnMut(SocketAddr) -> Result<Command>,
    ) -> Result<(Self, SocketAddr)> {
        let mut attempt = 1;
        loop {
            let address = free_address()?;
            match Self::start(program, &mut command(address)?, address, log) {
                Err(LabError::Died { .. }) if attempt < ATTEMPTS => attempt += 1,
                result => return result.map(|process| (process, address)),
            }
        }
    }

    /// Starts `command` and waits until `address` accepts connections.
    ///
    /// # Errors
    /// As [`Process::on_free_port`].
    pub fn start(program: &str, command: &mut Command, address: SocketAddr, log: &Path) -> Result<Self> {
        let failed = |source| LabError::File { path: log.to_owned(), source };
        let output = File::create(log).map_err(failed)?;
        let error = output.try_clone().map_err(failed)?;
        // Held open and never written to: some servers take the end of their input for the end of their work.
        command.stdin(Stdio::piped()).stdout(output).stderr(error);
        let child = command.spawn().map_err(|source| LabError::Spawn { program: program.to_owned(), source })?;
        let mut process = Self { child };
        process.wait_until_ready(program, address, log)?;
        Ok(process)
    }

    /// The process's number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn wait_until_ready(&mut self, program: &str, address: SocketAddr, log: &Path) -> Result<()> {
        let end = Instant::now() + READY_DEADLINE;
        loop {
            let accepts = accepts(address);
            if let Ok(Some(status)) = self.child.try_wait() {
                let (program, status) = (program.to_owned(), status.to_string());
                return Err(LabError::Died { program, status, log: tail(log) });
            }
            if accepts {
                return Ok(());
            }
            if Instant::now() >= end {
                let (program, deadline) = (program.to_owned(), READY_DEADLINE);
                return Err(LabError::NotReady { program, deadline, log: tail(log) });
            }
            thread::sleep(POLL);
        }
    }

    fn ends_within(&mut self, deadline: Duration) -> bool {
        let end = Instant::now() + deadline;
        while Instant::now() < end {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(POLL),
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        false
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGTERM first: a master process that is killed outright leaves its workers behind.
        if kill_process(Pid::from_child(&self.child), Signal::TERM).is_ok() && self.ends_within(TERM_DEADLINE) {
            return;
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> Result<SocketAddr> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound: io::Result<SocketAddr> = TcpListener::bind(any).and_then(|listener| listener.local_addr());
    bound.map_err(|source| LabError::Listen { address: any, source })
}

/// A connection to a port where nobody listens may by chance start from that very port and meet itself.
fn accepts(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_secs(1))
        .is_ok_and(|stream| stream.local_addr().is_ok_and(|local| local != address))
}

fn tail(log: &Path) -> String {
    let text = fs::read(PathBuf::from(log)).unwrap_or_default();
    let start = text.len().saturating_sub(LOG_TAIL_BYTES);
    String::from_utf8_lossy(text.get(start..).unwrap_or_default()).trim().to_owned()
}

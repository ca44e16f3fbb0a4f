use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use reprise_lab::LabError;

use crate::real_server::{POLL, READY_DEADLINE};
use crate::{DriverError, Result};

/// A program that serves a loopback port; asked to end, then made to, when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

/// How a program is started, whatever its arguments.
pub struct Launch<'a> {
    /// The program's name, for errors.
    pub program: &'a str,
    /// The file that takes its standard output and error.
    pub log: &'a Path,
    /// Whether this very program says that it listens. That its port accepts connections is not enough: another
    /// server may have taken it in the moment between.
    pub listens: &'a dyn Fn() -> bool,
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
    /// `command` makes the command for an address.
    ///
    /// # Errors
    /// [`LabError::Spawn`](reprise_lab::LabError::Spawn), [`DriverError::Died`] or [`DriverError::NotReady`], with the end of the log.
    pub fn on_free_port(
        launch: &Launch<'_>,
        mut command: impl FnMut(SocketAddr) -> Result<Command>,
    ) -> Result<(Self, SocketAddr)> {
        let mut attempt = 1;
        loop {
            let address = free_address()?;
            match Self::start(launch, &mut command(address)?, address) {
                Err(DriverError::Died { .. }) if attempt < ATTEMPTS => attempt += 1,
                result => return result.map(|process| (process, address)),
            }
        }
    }

    /// Starts `command` and waits until it is ready and `address` accepts connections.
    ///
    /// # Errors
    /// As [`Process::on_free_port`].
    pub fn start(launch: &Launch<'_>, command: &mut Command, address: SocketAddr) -> Result<Self> {
        let failed = |source| LabError::File { path: launch.log.to_owned(), source };
        let output = File::create(launch.log).map_err(failed)?;
        let error = output.try_clone().map_err(failed)?;
        // Held open and never written to: some servers take the end of their input for the end of their work.
        command.stdin(Stdio::piped()).stdout(output).stderr(error);
        let spawned = command.spawn();
        let child = spawned.map_err(|source| LabError::Spawn { program: launch.program.to_owned(), source })?;
        let mut process = Self { child };
        process.wait_until_ready(launch, address)?;
        Ok(process)
    }

    /// The process's number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn wait_until_ready(&mut self, launch: &Launch<'_>, address: SocketAddr) -> Result<()> {
        let end = Instant::now() + READY_DEADLINE;
        loop {
            let ready = (launch.listens)() && accepts(address);
            let program = || launch.program.to_owned();
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(DriverError::Died { program: program(), status: status.to_string(), log: tail(launch.log) });
            }
            if ready {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(DriverError::NotReady { program: program(), deadline: READY_DEADLINE, log: tail(launch.log) });
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
        // What has been waited for has given its number back, and another process may have it.
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // SIGTERM first: a master process that is killed outright leaves its workers behind.
        if ask_to_end(&self.child) && self.ends_within(TERM_DEADLINE) {
            return;
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
fn ask_to_end(child: &Child) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    kill_process(Pid::from_child(child), Signal::TERM).is_ok()
}

#[cfg(not(unix))]
fn ask_to_end(_child: &Child) -> bool {
    false
}

fn free_address() -> Result<SocketAddr> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    TcpListener::bind(any)
        .and_then(|listener| listener.local_addr())
        .map_err(|source| DriverError::Lab(LabError::Listen { address: any, source }))
}

/// A connection to a port where nobody listens may by chance start from that very port and meet itself.
fn accepts(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_secs(1))
        .is_ok_and(|stream| stream.local_addr().is_ok_and(|local| local != address))
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let start = text.len().saturating_sub(LOG_TAIL_BYTES);
    String::from_utf8_lossy(text.get(start..).unwrap_or_default()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_program_that_ends_is_told_of_with_its_last_words() {
        // Somebody else's port, which accepts connections all the while.
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let log = tempfile::NamedTempFile::new().unwrap();
        let launch = Launch { program: "sh", log: log.path(), listens: &|| false };
        let mut command = Command::new("sh");
        command.args(["-c", "echo sorry; exit 3"]);
        let error = Process::start(&launch, &mut command, taken.local_addr().unwrap()).unwrap_err();
        assert!(matches!(error, DriverError::Died { .. }));
        let text = error.to_string();
        assert!(text.contains("exit status: 3") && text.ends_with(": sorry"), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let launch = Launch { program: "no-such-server", log: log.path(), listens: &|| true };
        let error = Process::on_free_port(&launch, |_| Ok(Command::new("no-such-server"))).unwrap_err();
        assert!(error.to_string().starts_with("cannot start no-such-server: "), "{error}");
    }

    #[test]
    fn a_free_port_is_nobodys() {
        assert!(!accepts(free_address().unwrap()));
    }
}

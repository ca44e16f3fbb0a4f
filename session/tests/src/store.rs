//! A Valkey or Redis server of a test's own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use aws_lc_rs::digest;
use reprise_servers::find;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::{self, Visit};
use crate::reserved_port::ReservedPort;
use crate::{PATIENCE, until};

/// The programs that will do, the preferred one first.
const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

/// A server on a port that it keeps over restarts. Ended when dropped.
pub struct Store {
    child: Option<Child>,
    port: ReservedPort,
    arguments: Vec<String>,
    folder: TempDir,
}

/// Which program there is; `None` if there is none.
pub fn program() -> Option<&'static str> {
    PROGRAMS.into_iter().find(|program| find(program).is_some())
}

/// Returns from a test where no such server is installed, and says so.
#[macro_export]
macro_rules! require_store {
    () => {
        if $crate::store::program().is_none() {
            reprise_servers::require!("redis-server");
        }
    };
}

impl Store {
    /// Starts one.
    pub fn start(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut store = Self { child: None, port: ReservedPort::new(), arguments, folder: tempfile::tempdir().unwrap() };
        store.start_again();
        store
    }

    /// Starts it again, empty, on its port.
    pub fn start_again(&mut self) {
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(find(program().unwrap()).unwrap());
        command.args([
            "--port",
            &self.port.number().to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
        ]);
        command.arg(self.folder.path()).args(&self.arguments).stdin(Stdio::null()).stdout(log).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        until("the store answers", || {
            self.try_ask("PING").is_some_and(|answer| answer.starts_with("+PONG") || answer.starts_with("-NOAUTH"))
        });
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Where it is, as a URL.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// One of the figures of `INFO`.
    pub fn figure(&self, name: &str) -> u64 {
        let info = self.ask("INFO");
        let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("no {name}")).trim().parse().unwrap()
    }

    /// Kills it outright.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Stops it where it stands, connections and all.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// One command, as a line.
    pub fn ask(&self, command: &str) -> String {
        self.try_ask(command).unwrap()
    }

    /// Waits until it has all sessions that a visit left behind: they are written behind the handshake.
    pub fn wait_for(&self, visit: &Visit) {
        until("the sessions are stored", || visit.sessions.iter().all(|session| self.holds(client::id(session))));
    }

    /// Whether it has a session of this ID.
    pub fn holds(&self, id: &[u8]) -> bool {
        let key = [b"reprise:s:", digest::digest(&digest::SHA256, id).as_ref()].concat();
        let begin = format!("*2\r\n$6\r\nEXISTS\r\n${}\r\n", key.len());
        exchange(self.address(), &[begin.as_bytes(), &key, b"\r\n"].concat()).unwrap() == ":1\r\n"
    }

    /// The same of whatever speaks so at this address, if it does.
    pub fn ask_at(address: SocketAddr, command: &str) -> Option<String> {
        exchange(address, format!("{command}\r\n").as_bytes())
    }

    fn try_ask(&self, command: &str) -> Option<String> {
        Self::ask_at(self.address(), command)
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(self.child.as_ref().unwrap());
        kill_process(pid, signal).unwrap();
    }
}

fn exchange(address: SocketAddr, command: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(command).ok()?;
    let mut answer = vec![0; 1 << 16];
    let count = stream.read(&mut answer).ok()?;
    Some(String::from_utf8_lossy(&answer[..count]).into_owned())
}

impl Drop for Store {
    fn drop(&mut self) {
        self.kill();
    }
}

//! A memcached of a test's own.

use std::process::{Child, Command, Stdio};

use reprise_servers::find;
use rustix::process::{Pid, Signal, kill_process};

use crate::reserved_port::ReservedPort;
use crate::until;

/// A server on a port that it keeps over restarts. Ended when dropped.
pub struct MemcachedServer {
    child: Option<Child>,
    port: ReservedPort,
}

impl MemcachedServer {
    /// Starts one.
    pub fn start() -> Self {
        let mut server = Self { child: None, port: ReservedPort::new() };
        server.start_again();
        server
    }

    /// Starts it again, empty, on its port.
    pub fn start_again(&mut self) {
        let mut command = Command::new(find("memcached").unwrap());
        // As root it asks for a user.
        command.args(["-l", "127.0.0.1", "-U", "0", "-u", "nobody", "-p", &self.port.number().to_string()]);
        self.child = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        until("memcached answers", || std::net::TcpStream::connect(self.port.address()).is_ok());
    }

    /// The setting of a node that uses it.
    pub fn setting(&self) -> String {
        format!("store=memcached://{}", self.port.address())
    }

    /// Stops it where it stands, connections and all.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills it outright.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), signal).unwrap();
    }
}

impl Drop for MemcachedServer {
    fn drop(&mut self) {
        self.kill();
    }
}

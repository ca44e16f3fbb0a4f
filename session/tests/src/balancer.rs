//! HAProxy in tcp mode before the nodes: it sees no TLS, and deals connections to one after the other.

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use reprise_servers::find;
use tempfile::TempDir;

use crate::reserved_port::ReservedPort;
use crate::until;

/// The balancer, on a port that it keeps over restarts. Ended when dropped.
pub struct Balancer {
    child: Option<Child>,
    port: ReservedPort,
    folder: TempDir,
}

impl Balancer {
    /// Starts one before these nodes. One that is down gets no connection, from the next check or the first refusal on.
    pub fn before(nodes: &[SocketAddr]) -> Self {
        let (port, folder) = (ReservedPort::new(), tempfile::tempdir().unwrap());
        let servers: String = nodes
            .iter()
            .enumerate()
            .map(|(number, node)| format!("    server node{number} {node} check inter 200ms fall 1 rise 1\n"))
            .collect();
        let text = format!(
            "defaults\n    mode tcp\n    option redispatch 1\n    retries 3\n    timeout connect 2s\n    timeout client 20s\n    \
             timeout server 20s\nlisten fleet\n    bind {}\n    balance roundrobin\n{servers}",
            port.address()
        );
        std::fs::write(folder.path().join("haproxy.cfg"), text).unwrap();
        let mut balancer = Self { child: None, port, folder };
        balancer.start_again();
        balancer
    }

    /// Starts it again, on its port.
    pub fn start_again(&mut self) {
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(find("haproxy").expect("haproxy is not installed"));
        command.arg("-db").arg("-f").arg(self.folder.path().join("haproxy.cfg"));
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.child = Some(command.spawn().unwrap());
        until("HAProxy listens", || TcpStream::connect(self.address()).is_ok());
    }

    /// Kills it outright, and the connections with it.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.kill();
    }
}

//! A Redis, as servers share sessions in.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use reprise_servers::{Launch, Process};

use super::Lab;

/// Starts one that keeps everything in memory.
///
/// # Panics
/// If it does not start.
#[must_use]
pub fn start_redis(lab: &Lab) -> (SocketAddr, Process) {
    let log = lab.path("redis.log");
    let listens = || fs::read_to_string(&log).is_ok_and(|output| output.contains("Ready to accept connections"));
    let launch = Launch { program: "redis-server", log: &log, listens: &listens };
    let command = |address: SocketAddr| {
        let mut command = Command::new("redis-server");
        let port = address.port().to_string();
        command.args(["--bind", "127.0.0.1", "--port", &port, "--save", "", "--appendonly", "no"]);
        Ok(command)
    };
    let (process, address) = Process::on_free_port(&launch, command).unwrap();
    (address, process)
}

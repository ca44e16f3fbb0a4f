//! Servers in C, compiled from a source of these tests with a test's own statements in it.

use std::any::Any;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_lab::servers::{Launch, Process};
use reprise_lab::{Balancer, Balancing, Identity, KeyKind};

use crate::broken::Started;
use crate::harness::Lab;

/// A source, and what it is linked with.
pub(crate) struct Source {
    pub(crate) text: &'static str,
    pub(crate) libraries: &'static [&'static str],
}

/// Where a test's own statements stand in a source.
const STATEMENTS: &str = "// A test's own statements.";

impl Source {
    /// One process of it.
    pub(crate) fn start(&self, lab: &Lab, lines: &[String]) -> Started {
        let (address, process) = run(lab, &self.compile(lab, lines), &lab.identity(KeyKind::P256));
        Started { address, server: None, _others: vec![Box::new(process)] }
    }

    /// Two processes of it behind one address. They share the directory of sessions.
    pub(crate) fn start_two(&self, lab: &Lab, lines: &[String]) -> Started {
        let (program, identity) = (self.compile(lab, lines), lab.identity(KeyKind::P256));
        let ((one, first), (other, second)) = (run(lab, &program, &identity), run(lab, &program, &identity));
        let balancer = Balancer::start(vec![one, other], Balancing::InPairs).unwrap();
        let address = balancer.address();
        let others: Vec<Box<dyn Any>> = vec![Box::new(first), Box::new(second), Box::new(balancer)];
        Started { address, server: None, _others: others }
    }

    /// Lines that begin with `#` say what the configuration does not.
    fn compile(&self, lab: &Lab, lines: &[String]) -> PathBuf {
        let statements: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.starts_with('#')).collect();
        assert!(self.text.contains(STATEMENTS));
        let (source, program) = (lab.path("server.c"), lab.path("server"));
        std::fs::write(&source, self.text.replacen(STATEMENTS, &statements.join("\n    "), 1)).unwrap();
        // A program that runs from before is another file.
        let _ = std::fs::remove_file(&program);
        let output =
            Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&program, &source]).args(self.libraries).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{statements:?}: {}", String::from_utf8_lossy(&output.stderr));
        program
    }
}

fn run(lab: &Lab, program: &Path, identity: &Identity) -> (SocketAddr, Process) {
    let directory = tempfile::tempdir_in(lab.directory()).unwrap().keep();
    let files = identity.write_pem(&directory, "server").unwrap();
    let log = directory.join("output.log");
    let listens = || std::fs::read_to_string(&log).is_ok_and(|output| output.contains("listening"));
    let launch = Launch { program: "a server in C", log: &log, listens: &listens };
    let store = lab.path("sessions");
    std::fs::create_dir_all(&store).unwrap();
    let command = |address: SocketAddr| {
        let mut command = Command::new(program);
        command.arg(address.port().to_string()).args([&files.certificate, &files.key]).arg(lab.ca()).arg(&store);
        Ok(command)
    };
    let (process, address) = Process::on_free_port(&launch, command).unwrap();
    (address, process)
}

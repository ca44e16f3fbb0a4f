//! Servers in C, compiled from a source of these tests with a test's own statements in it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_lab::{Identity, KeyKind};
use reprise_servers::{Launch, Process};

use crate::diagnose::broken::Started;
use reprise_harness::Lab;

/// A source, and what it is linked with.
pub(crate) struct Source {
    pub(crate) text: &'static str,
    pub(crate) libraries: &'static [&'static str],
}

/// Where a test's own statements stand in a source.
const STATEMENTS: &str = "// A test's own statements.";
/// And those about a connection of OpenSSL, which begin with a call on it.
const AT_THE_END: &str = "// A test's own end of a connection.";
const OF_CONNECTION: &str = "(ssl";
/// Ends a line whose place a test's own call of the same function takes.
const UNLESS: &str = " // Unless a test says otherwise.";
/// What sources include stands here.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diagnose/servers");

impl Source {
    /// One process of it.
    pub(crate) fn start(&self, lab: &Lab, lines: &[String]) -> Started {
        let (process, address) = run(lab, &self.compile(lab, lines), &lab.identity(KeyKind::P256));
        Started::without_account(address, process)
    }

    /// Two processes of it behind one address. They share the directory of sessions.
    pub(crate) fn start_two(&self, lab: &Lab, lines: &[String]) -> Started {
        let (program, identity) = (self.compile(lab, lines), lab.identity(KeyKind::P256));
        let nodes = [(); 2].map(|()| run(lab, &program, &identity));
        Started::behind_one_address(nodes.each_ref().map(|(_, address)| *address), nodes)
    }

    fn compile(&self, lab: &Lab, lines: &[String]) -> PathBuf {
        let (source, program) = (lab.path("server.c"), lab.path("server"));
        std::fs::write(&source, self.with(lines)).unwrap();
        // A program that runs from before is another file.
        let _ = std::fs::remove_file(&program);
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-I", SOURCES, "-o"]).args([&program, &source]).args(self.libraries);
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{lines:?}: {}", String::from_utf8_lossy(&output.stderr));
        program
    }

    /// The source with these statements, each in place of the call that says otherwise, or where statements stand. Lines that
    /// begin with `#` say what the configuration does not.
    fn with(&self, lines: &[String]) -> String {
        assert!(self.text.contains(STATEMENTS));
        let mut text = self.text.to_owned();
        for statement in lines.iter().filter(|line| !line.starts_with('#')) {
            let function = statement.split_inclusive('(').next().unwrap_or(statement);
            let is_like = |line: &&str| line.trim_start().starts_with(function) && line.ends_with(UNLESS);
            let like = text.lines().find(is_like).map(|line| line.trim_start().to_owned());
            text = match like {
                Some(line) => text.replacen(&line, statement, 1),
                None if statement.contains(OF_CONNECTION) => text.replacen(AT_THE_END, statement, 1),
                None => text.replacen(STATEMENTS, &format!("{statement}\n    {STATEMENTS}"), 1),
            };
        }
        text
    }
}

fn run(lab: &Lab, program: &Path, identity: &Identity) -> (Process, SocketAddr) {
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
    Process::on_free_port(&launch, command).unwrap()
}

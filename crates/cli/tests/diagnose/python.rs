//! A program on Python's ssl.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use reprise_lab::KeyKind;
use reprise_servers::{Launch, Process};

use crate::broken::{Software, Started, broken};
use reprise_harness::Lab;

const PYTHON: Software = Software::new("Python ssl", "python3", &["--version"]);

const SOURCE: &str = include_str!("servers/server.py");
/// Where a test's own statements stand in it, and those about a connection.
const STATEMENTS: &str = "# A test's own statements.";
const AT_THE_END: &str = "# A test's own end of a connection.";

/// The lines are statements about `context`, and about a `connection` that ends.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let files = lab.identity(KeyKind::P256).write_pem(lab.directory(), "server").unwrap();
    let (ends, statements): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with("connection."));
    let source = SOURCE.replace(STATEMENTS, &statements.join("\n")).replace(AT_THE_END, &ends.join("\n            "));
    let program = lab.file("server.py", source);
    let log = lab.path("server.log");
    let listens = || fs::read_to_string(&log).is_ok_and(|output| output.contains("listening"));
    let launch = Launch { program: "a server in Python", log: &log, listens: &listens };
    let command = |address: SocketAddr| {
        let mut command = Command::new("python3");
        command.arg(&program).arg(address.port().to_string()).args([&files.certificate, &files.key]);
        Ok(command)
    };
    let (process, address) = Process::on_free_port(&launch, command).unwrap();
    Started::without_account(address, process)
}

examined! {
    two_tickets_run_out_in_a_burst:
        broken("tickets-run-out", &PYTHON, &["# its defaults"], start).flags(&["--tls", "1.3"]);
    a_connection_that_close_alone_ends_takes_its_session_along:
        broken("unclean-close-evicts", &PYTHON, &["context.options |= ssl.OP_NO_TICKET"], start);
}

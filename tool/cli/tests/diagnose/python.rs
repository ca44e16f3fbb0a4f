//! A program on Python's ssl.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use reprise_lab::KeyKind;
use reprise_servers::{Launch, Process};

use crate::diagnose::broken::{Software, Started, broken};
use reprise_harness::Lab;

const PYTHON: Software = Software::new("Python ssl", "python3", &["--version"]);

const SOURCE: &str = include_str!("servers/server.py");
/// Where a test's own statements stand in it, those about a connection, and those about the listener.
const STATEMENTS: &str = "# A test's own statements.";
const AT_THE_END: &str = "# A test's own end of a connection.";
const LISTENING: &str = "# A test's own listener.";

/// The lines are statements about `context`, about a `connection` that ends, and about the `listener`.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let files = lab.identity(KeyKind::P256).write_pem(lab.directory(), "server").unwrap();
    let of = |name: &str| lines.iter().map(String::as_str).filter(|line| line.starts_with(name)).collect::<Vec<_>>();
    let (ends, listener) = (of("connection."), of("listener."));
    let statements = lines.iter().map(String::as_str).filter(|line| !ends.contains(line) && !listener.contains(line));
    let source = SOURCE.replace(STATEMENTS, &statements.collect::<Vec<_>>().join("\n"));
    let source = source.replace(AT_THE_END, &ends.join("\n            ")).replace(LISTENING, &listener.join("\n"));
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
        broken("tickets-run-out", &PYTHON, &["# its defaults"], start).flags(&["--tls", "1.3"]).and(&["nagle"]);
    a_response_behind_the_tickets_waits_for_an_acknowledgement:
        broken("nagle", &PYTHON, &["# without TCP_NODELAY"], start).flags(&["--tls", "1.3"]);
    a_connection_that_close_alone_ends_takes_its_session_along:
        broken("unclean-close-evicts", &PYTHON, &["context.options |= ssl.OP_NO_TICKET"], start).and(&["nagle"]);
}

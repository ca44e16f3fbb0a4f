//! What the tests of `load` have in common.

use std::path::Path;
use std::process::{Command, Stdio};

use reprise_harness::{Lab, Outcome, assert_valid, call_of, program};
use reprise_lab::{EmbeddedResumption, EmbeddedServer, KeyKind, PemFiles};
use serde_json::Value;

/// TLS 1.2 and 1.3, with tickets.
pub(crate) fn server() -> EmbeddedServer {
    Lab::new().server(EmbeddedResumption::Ticket)
}

/// What another program than the harness started came to.
pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome::new(call_of(command), output.status, text(output.stdout), text(output.stderr), None)
}

/// The result of a load, held against its schema.
#[track_caller]
pub(crate) fn document(outcome: &Outcome) -> Value {
    outcome.json_of("reprise.load/1")
}

/// The result in a file, held against its schema.
#[track_caller]
pub(crate) fn document_in(path: &Path) -> Value {
    let document = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_valid(&document);
    document
}

/// How many have this name in `completed` or `errors`.
pub(crate) fn count(document: &Value, table: &str, name: &str) -> u64 {
    document[table][name].as_u64().unwrap_or_default()
}

/// How many there are in `completed` or `errors`.
pub(crate) fn sum(document: &Value, table: &str) -> u64 {
    document[table].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

pub(crate) fn warns(document: &Value, words: &str) -> bool {
    document["warnings"].as_array().unwrap().iter().any(|warning| warning.as_str().unwrap().contains(words))
}

/// Runs a script in a network that ends with it; `serve PROGRAM...` starts a server, and waits until
/// it listens at port 8443. `None` where there is no such network to be had.
pub(crate) fn in_a_network_of_its_own(directory: &Path, script: &str) -> Option<Outcome> {
    let mut network = reprise_servers::own_network()?;
    let PemFiles { certificate, key, .. } = Lab::new().identity(KeyKind::P256).write_pem(directory, "server").unwrap();
    // 20FB is the port, 0A a socket that listens.
    let prelude = r#"set -e; cd "$1"; reprise=$2; certificate=$3; key=$4
        serve() {
            "$@" < /dev/null > server.log 2>&1 &
            until grep -q ':20FB 00000000:0000 0A' /proc/net/tcp; do kill -0 $!; done
        }
    "#;
    let paths = [directory, &program(), &certificate, &key];
    Some(outcome(network.args(["bash", "-c", &format!("{prelude}{script}"), "bash"]).args(paths)).exits(0))
}

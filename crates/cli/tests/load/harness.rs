//! What the tests of `load` have in common.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, PemFiles, Resumption, ServerSpec};
use serde_json::Value;

pub(crate) const REPRISE: &str = env!("CARGO_BIN_EXE_reprise");

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(REPRISE);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn reprise(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// TLS 1.2 and 1.3, with tickets.
pub(crate) fn server() -> EmbeddedServer {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    EmbeddedServer::start(EmbeddedConfig { resumption: Resumption::Ticket, ..EmbeddedConfig::new(identity) }).unwrap()
}

/// A result, held against its schema.
pub(crate) fn document(path: &Path) -> Value {
    let document = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.load.1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
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
/// it listens at port 8443. `None` where there is no such
/// network to be had.
pub(crate) fn in_a_network_of_its_own(directory: &Path, script: &str) -> Option<Output> {
    let mut network = reprise_servers::own_network()?;
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let PemFiles { certificate, key, .. } = identity.write_pem(directory, "server").unwrap();
    // 20FB is the port, 0A a socket that listens.
    let prelude = r#"set -e; cd "$1"; reprise=$2; certificate=$3; key=$4
        serve() {
            "$@" < /dev/null > server.log 2>&1 &
            until grep -q ':20FB 00000000:0000 0A' /proc/net/tcp; do kill -0 $!; done
        }
    "#;
    let paths = [directory, Path::new(REPRISE), certificate.as_path(), key.as_path()];
    Some(network.args(["bash", "-c", &format!("{prelude}{script}"), "bash"]).args(paths).output().unwrap())
}

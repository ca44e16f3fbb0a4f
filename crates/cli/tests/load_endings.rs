//! How a load ends when its target dies, when somebody has seen enough, and when this machine has no more to give.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use reprise_lab::{Authority, EmbeddedConfig, EmbeddedServer, KeyKind, PemFiles, Resumption, ServerSpec};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const REPRISE: &str = env!("CARGO_BIN_EXE_reprise");

fn server() -> EmbeddedServer {
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    EmbeddedServer::start(EmbeddedConfig { resumption: Resumption::Ticket, ..EmbeddedConfig::new(identity) }).unwrap()
}

fn start(program: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn count(document: &Value, table: &str, name: &str) -> u64 {
    document[table][name].as_u64().unwrap_or_default()
}

fn sum(document: &Value, table: &str) -> u64 {
    document[table].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn warns(document: &Value, words: &str) -> bool {
    document["warnings"].as_array().unwrap().iter().any(|warning| warning.as_str().unwrap().contains(words))
}

/// Until some connections have completed.
fn wait_for_some(server: &EmbeddedServer, running: &mut Child) {
    while server.accounts().len() < 20 {
        assert!(running.try_wait().unwrap().is_none(), "it ended before its time");
        std::thread::yield_now();
    }
}

#[test]
fn a_target_that_dies_and_stays_dead_is_exit_status_3() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    let mut running = start(REPRISE, &["load", &address, "--duration", "4s", "-c", "4", "--json", json.to_str().unwrap()]);
    wait_for_some(&server, &mut running);
    drop(server);
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("died"), "{}", text(&output.stderr));
    let document = document(&json);
    assert!(count(&document, "completed", "full") > 0, "the results are kept");
    assert!(count(&document, "errors", "connection_refused") >= 3, "{}", document["errors"]);
    assert!(warns(&document, "gone"));
}

#[test]
fn ctrl_c_is_exit_status_130_with_what_was_seen() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    let mut running = start(REPRISE, &["load", &address, "--duration", "60m", "-c", "4", "--json", json.to_str().unwrap()]);
    wait_for_some(&server, &mut running);
    kill_process(Pid::from_child(&running), Signal::INT).unwrap();
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let document = document(&json);
    assert_eq!(document["interrupted"], Value::Bool(true));
    assert!(count(&document, "completed", "full") >= 16, "{}", document["completed"]);
    assert_eq!(sum(&document, "errors"), count(&document, "errors", "cut_off"), "{}", document["errors"]);
    assert!(text(&output.stdout).contains("under load"), "the page is printed all the same");
}

#[test]
fn descriptors_that_run_out_are_counted_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    let script = r#"ulimit -n 24 && exec "$@""#;
    let load = ["load", &address, "-n", "100", "-c", "64", "--json", json.to_str().unwrap()];
    let output = start("bash", &[&["-c", script, "bash", REPRISE][..], &load].concat()).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document = document(&json);
    assert!(count(&document, "completed", "full") >= 10, "{}", document["completed"]);
    assert!(count(&document, "errors", "descriptor_limit") > 0, "{}", document["errors"]);
    assert_eq!(sum(&document, "completed") + sum(&document, "errors"), 100);
    assert!(warns(&document, "ulimit -n"));
}

#[test]
fn ports_that_run_out_are_counted_and_named() {
    reprise_lab::require!("openssl", "ip");
    let script = r#"
        echo '40000 40007' > /proc/sys/net/ipv4/ip_local_port_range
        serve 127.0.0.1
        "$reprise" load 127.0.0.1:8443 -n 60 -c 32 --json ports.json
    "#;
    let directory = tempfile::tempdir().unwrap();
    let Some(output) = in_a_network_of_its_own(directory.path(), script) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document = document(&directory.path().join("ports.json"));
    assert!(count(&document, "completed", "full") > 0, "{}", document["completed"]);
    assert!(count(&document, "errors", "ports_exhausted") > 0, "{}", document["errors"]);
    assert_eq!(sum(&document, "completed") + sum(&document, "errors"), 60);
    assert!(warns(&document, "ip_local_port_range"));
}

/// The server on one machine, two generators on two others, as far as their networks can tell.
#[test]
fn generators_in_networks_of_their_own_make_one_result() {
    reprise_lab::require!("openssl", "ip");
    let script = r#"
        ip address add 10.9.9.1/32 dev lo
        serve 10.9.9.1
        for number in 1 2; do
            mkfifo inside$number ready$number
            unshare --net bash -c 'set -e; echo > inside$2; read -r _ < ready$2
                ip address add 10.9.$2.2/24 dev inner; ip link set inner up; ip route add default via 10.9.$2.1
                exec "$1" load 10.9.9.1:8443 --i-may-load-this-target -n 20 -c 2 --json generator$2.json' \
                bash "$reprise" $number &
            generators[number]=$!
            read -r _ < inside$number
            ip link add outer$number type veth peer name inner netns $!
            ip address add 10.9.$number.1/24 dev outer$number; ip link set outer$number up
            echo > ready$number
        done
        wait "${generators[1]}"; wait "${generators[2]}"
        "$reprise" report --merge generator1.json generator2.json --json merged.json
    "#;
    let directory = tempfile::tempdir().unwrap();
    let Some(output) = in_a_network_of_its_own(directory.path(), script) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let merged = document(&directory.path().join("merged.json"));
    assert_eq!((count(&merged, "completed", "full"), sum(&merged, "errors")), (40, 0), "{}", merged["errors"]);
    assert_eq!(merged["generators"], Value::from(2));
}

/// Runs a script in a network that ends with it; `serve ADDRESS` starts a server at port 8443. `None` where there is no such
/// network to be had.
fn in_a_network_of_its_own(directory: &Path, script: &str) -> Option<Output> {
    let mut network = reprise_lab::own_network()?;
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let PemFiles { certificate, key, .. } = identity.write_pem(directory, "server").unwrap();
    // 20FB is the port, 0A a socket that listens.
    let prelude = r#"set -e; cd "$1"; reprise=$2; certificate=$3; key=$4
        serve() {
            openssl s_server -accept "$1:8443" -cert "$certificate" -key "$key" -www -quiet < /dev/null > s_server.log 2>&1 &
            until grep -q ':20FB 00000000:0000 0A' /proc/net/tcp; do kill -0 $!; done
        }
    "#;
    let paths = [directory, Path::new(REPRISE), certificate.as_path(), key.as_path()];
    Some(network.args(["bash", "-c", &format!("{prelude}{script}"), "bash"]).args(paths).output().unwrap())
}

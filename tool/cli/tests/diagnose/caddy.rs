//! Caddy, by its JSON.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use reprise_lab::{Identity, KeyKind};
use reprise_servers::{Launch, Process, find};
use serde_json::{Value, json};

use crate::diagnose::broken::{Software, Started, broken};
use reprise_harness::Lab;

const CADDY: Software = Software::new("Caddy", "caddy", &["version"]).revealing_itself();

/// Two of them behind one address, over one storage. The lines are objects, which join the rest of its configuration.
fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    let lines = lines.iter().filter(|line| !line.starts_with('#'));
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let identity = lab.identity(KeyKind::P256);
    let nodes = [(); 2].map(|()| start(lab, &identity, &lines));
    Started::behind_one_address(nodes.each_ref().map(|(_, address)| *address), nodes)
}

fn start(lab: &Lab, identity: &Identity, lines: &[Value]) -> (Process, SocketAddr) {
    let directory = tempfile::tempdir_in(lab.directory()).unwrap().keep();
    let files = identity.write_pem(&directory, "server").unwrap();
    let (file, log) = (directory.join("caddy.json"), directory.join("output.log"));
    let listens = || fs::read_to_string(&log).is_ok_and(|output| output.contains("serving initial configuration"));
    let launch = Launch { program: "caddy", log: &log, listens: &listens };
    let command = |address: SocketAddr| {
        let mut all = configuration(address, &files.certificate, &files.key, &lab.path("storage"));
        lines.iter().for_each(|line| join(&mut all, line));
        fs::write(&file, all.to_string()).unwrap();
        let mut command = Command::new(find("caddy").unwrap());
        command.args(["run", "--config"]).arg(&file).env("HOME", &directory);
        Ok(command)
    };
    Process::on_free_port(&launch, command).unwrap()
}

fn configuration(address: SocketAddr, certificate: &Path, key: &Path, storage: &Path) -> Value {
    let server = json!({
        "listen": [address.to_string()],
        "protocols": ["h1", "h2"],
        "automatic_https": { "disable": true },
        "tls_connection_policies": [{}],
        "routes": [{ "handle": [{ "handler": "static_response", "body": "ok\n" }] }],
    });
    json!({
        "admin": { "disabled": true },
        "storage": { "module": "file_system", "root": storage },
        "apps": {
            "http": { "servers": { "lab": server } },
            "tls": { "certificates": { "load_files": [{ "certificate": certificate, "key": key }] } },
        },
    })
}

/// What stands in one object, within the other.
fn join(all: &mut Value, one: &Value) {
    match (all, one) {
        (Value::Object(all), Value::Object(one)) => {
            for (name, value) in one {
                join(all.entry(name).or_insert(Value::Null), value);
            }
        }
        (all, one) => *all = one.clone(),
    }
}

examined! {
    two_caddies_with_ticket_keys_of_their_own_are_hidden_nodes:
        broken("hidden-nodes", &CADDY, &["# two nodes"], two_nodes).flags(&["--tls", "1.3"]);
}

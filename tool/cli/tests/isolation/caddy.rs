//! Caddy with two servers in one process, one of which verifies clients; they share their ticket keys.

use std::fs;
use std::process::Command;

use reprise_servers::{Launch, Process, find, require};
use serde_json::json;

use crate::isolation::scene::Scene;

#[test]
fn servers_of_one_process_are_isolated() {
    require!("caddy");
    let scene = Scene::new();
    let files = scene.server.write_pem(scene.lab.directory(), "server").unwrap();
    let log = scene.lab.path("output.log");
    let listens = || fs::read_to_string(&log).is_ok_and(|output| output.contains("serving initial configuration"));
    let launch = Launch { program: "caddy", log: &log, listens: &listens };
    let verifies = json!({ "client_authentication": {
        "mode": "require_and_verify",
        "trusted_ca_certs_pem_files": [scene.authority],
    }});
    let server = |listen: String, policy: serde_json::Value| {
        json!({
            "listen": [listen], "protocols": ["h1"], "automatic_https": { "disable": true }, "tls_connection_policies": [policy],
            "routes": [{ "handle": [{ "handler": "static_response", "body": "ok\n", "close": true }] }],
        })
    };
    let command = |address: std::net::SocketAddr| {
        let strict = server(format!("127.0.0.2:{}", address.port()), verifies.clone());
        let certificate = json!([{ "certificate": files.certificate, "key": files.key }]);
        let all = json!({
            "admin": { "disabled": true },
            "storage": { "module": "file_system", "root": scene.lab.path("storage") },
            "apps": {
                "http": { "servers": { "open": server(address.to_string(), json!({})), "strict": strict } },
                "tls": { "certificates": { "load_files": certificate } },
            },
        });
        let file = scene.lab.file("caddy.json", all.to_string());
        let mut command = Command::new(find("caddy").unwrap());
        command.args(["run", "--config"]).arg(&file).env("HOME", scene.lab.directory());
        Ok(command)
    };
    let (_process, address) = Process::on_free_port(&launch, command).unwrap();
    let targets = ["127.0.0.1", "127.0.0.2"].map(|ip| format!("{ip}:{}", address.port()));
    scene.isolation(&[&targets[0], &targets[1]], &[]).assert_nothing_enters();
}

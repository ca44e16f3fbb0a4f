//! What lies between the socket and the request: HTTP/2, methods, STARTTLS, the PROXY header; on real servers, whose own accounts
//! say as many.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use reprise_harness::{Lab, Reprise};
use reprise_lab::{Identity, KeyKind};
use reprise_servers::{Exim, EximConfig, Nginx, NginxConfig, RealServer};
use serde_json::{Value, json};

use crate::load::harness::{count, document, sum};

fn identity() -> Identity {
    Lab::new().identity(KeyKind::P256)
}

/// An nginx whose second server has a `listen` with these parameters; its requests say what they were.
fn nginx(directory: &Path, parameters: &str) -> (Nginx, SocketAddr) {
    let identity = identity();
    let files = identity.write_pem(directory, "second").unwrap();
    let (certificate, key) = (files.certificate.display(), files.key.display());
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    let log = directory.join("requests.log");
    let http_directives = format!(
        "log_format asked '$request_method $server_protocol $remote_port $proxy_protocol_port';\nserver {{\nlisten {address} \
         {parameters};\naccess_log {} asked;\nssl_certificate {certificate};\nssl_certificate_key {key};\nssl_protocols TLSv1.2 \
         TLSv1.3;\nlocation / {{ return 200 \"ok\"; }}\n}}\n",
        log.display()
    );
    drop(free);
    (Nginx::start(NginxConfig { http_directives, ..NginxConfig::new(vec![identity]) }).unwrap(), address)
}

/// The result of a load, which ended well.
#[track_caller]
fn loaded(address: SocketAddr, flags: &str) -> Value {
    document(&Reprise::load(address).flags("-c 8 --quiet").flags(flags).run().exits(0))
}

/// What nginx was asked, line by line.
fn asked(directory: &Path) -> Vec<Vec<String>> {
    let log = std::fs::read_to_string(directory.join("requests.log")).unwrap();
    log.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn http_2_carries_every_request_of_a_connection() {
    reprise_servers::require!("nginx");
    for tls in ["1.2", "1.3"] {
        let directory = tempfile::tempdir().unwrap();
        let (nginx, address) = nginx(directory.path(), "ssl http2");
        let flags = format!("-n 40 --requests 3 --tls {tls} --alpn h2,http/1.1 --mix full=1,ticket=1");
        let document = loaded(address, &flags);
        assert_eq!((sum(&document, "completed"), sum(&document, "errors")), (40, 0), "{document}");
        assert!(count(&document, "completed", "ticket") > 0, "{document}");
        assert_eq!((&document["alpn"], &document["http_status"]), (&json!({"h2": 40}), &json!({"200": 120})));
        assert_eq!((&document["asked"]["alpn"], &document["asked"]["method"]), (&json!(["h2", "http/1.1"]), &json!("GET")));
        drop(nginx);
        let requests = asked(directory.path());
        assert!(requests.iter().all(|it| it[..2] == ["GET", "HTTP/2.0"]), "{requests:?}");
        assert_eq!(requests.len(), 120);
    }
}

#[test]
fn a_server_without_http_2_is_asked_by_what_it_speaks() {
    reprise_servers::require!("nginx");
    let directory = tempfile::tempdir().unwrap();
    let (nginx, address) = nginx(directory.path(), "ssl");
    let document = loaded(address, "-n 20 --alpn h2,http/1.1 -X HEAD");
    assert_eq!((&document["alpn"], &document["http_status"]), (&json!({"http/1.1": 20}), &json!({"200": 20})));
    assert_eq!(document["asked"]["method"], "HEAD");
    drop(nginx);
    assert!(asked(directory.path()).iter().all(|it| it[..2] == ["HEAD", "HTTP/1.1"]));
}

#[test]
fn nginx_takes_the_ports_of_the_proxy_header_for_the_clients() {
    reprise_servers::require!("nginx");
    for version in ["v1", "v2"] {
        let directory = tempfile::tempdir().unwrap();
        let (nginx, address) = nginx(directory.path(), "ssl proxy_protocol");
        let document = loaded(address, &format!("-n 20 --proxy-protocol {version} --mix full=1,ticket=1"));
        assert_eq!((sum(&document, "completed"), &document["target"]["proxy_protocol"]), (20, &json!(version)));
        drop(nginx);
        let requests = asked(directory.path());
        assert!(requests.len() == 20 && requests.iter().all(|it| it[2] == it[3]), "{version}: {requests:?}");
    }
}

#[test]
fn an_smtp_server_is_asked_for_tls_on_each_connection() {
    reprise_servers::require!("exim4");
    let server = Exim::start(EximConfig { resumption: true, ..EximConfig::new(identity()) }).unwrap();
    let document = loaded(server.address(), "-n 12 --starttls smtp");
    assert_eq!((sum(&document, "completed"), sum(&document, "errors")), (12, 0), "{document}");
    assert_eq!((&document["target"]["starttls"], &document["target"]["path"]), (&json!("smtp"), &Value::Null));
    let phases = document["latency_ns"]["full"].as_object().unwrap();
    assert!(["connect", "starttls", "tls", "wait"].iter().all(|phase| phases.contains_key(*phase)), "{phases:?}");
}

#[test]
fn what_was_asked_stands_in_the_result() {
    let server = crate::load::harness::server();
    let flags = "-r 50 --spread poisson --seed 7 --duration 400ms --warmup 100ms --ramp 50ms --sessions 9 \
                 --sni a.example=3,b.example --mix full=1,ticket=1 --reuse-tickets";
    let document = loaded(server.address(), flags);
    let asked = document["asked"].as_object().unwrap();
    for (name, value) in [
        ("duration_ns", json!(400_000_000)),
        ("count", Value::Null),
        ("warmup_ns", json!(100_000_000)),
        ("ramp_ns", json!(50_000_000)),
        ("spread", json!("poisson")),
        ("most_connections", json!(8)),
        ("seed", json!(7)),
        ("sessions", json!(9)),
        ("reuse_tickets", json!(true)),
        ("timeout_ns", json!(10_000_000_000_u64)),
        ("server_names", json!({"a.example": 3, "b.example": 1})),
        ("alpn", json!([])),
    ] {
        assert_eq!(asked[name], value, "{name}");
    }
}

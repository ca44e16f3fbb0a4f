//! DNS over TLS: a real resolver, and ports that speak something else.

use std::fs;
use std::process::Command;

use reprise_harness::{Lab, Outcome, Reprise};
use reprise_lab::KeyKind;
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Launch, Process};

/// A resolver that knows `localhost` and asks nobody, which it is not asked for either.
fn unbound(lab: &Lab) -> (Process, std::net::SocketAddr) {
    let pem = lab.identity(KeyKind::P256).write_pem(lab.directory(), "dns").unwrap();
    let (log, file) = (lab.path("unbound.log"), lab.path("unbound.conf"));
    let launch = Launch { program: "unbound", log: &log, listens: &|| true };
    let started = Process::on_free_port(&launch, |address| {
        let (ip, port) = (address.ip(), address.port());
        let (certificate, key) = (pem.certificate.display(), pem.key.display());
        let text = format!(
            "server:\n interface: {ip}@{port}\n tls-port: {port}\n tls-service-pem: {certificate}\n tls-service-key: {key}\n \
             do-daemonize: no\n username: \"\"\n chroot: \"\"\n pidfile: \"\"\n use-syslog: no\nremote-control:\n control-enable: no\n"
        );
        fs::write(&file, text).unwrap();
        let mut command = Command::new("unbound");
        command.args(["-d", "-c"]).arg(&file);
        Ok(command)
    });
    started.unwrap()
}

/// It delays the first answer of a connection under TLS 1.3, and each under TLS 1.2, until an acknowledgement comes.
#[test]
fn a_resolver_answers_and_its_delay_is_named() {
    reprise_servers::require!("unbound");
    let lab = Lab::new();
    let (_process, address) = unbound(&lab);
    let call = lab.measure(address).args(["--alpn", "dot", "--tls", "1.3", "--kinds", "full,ticket"]).count(12);
    let outcome = call.run().silently();
    let document = outcome.document();
    assert_eq!((&document.target.path, &document.target.method), (&None, &None));
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, 12);
    let wait = outcome.measured(Version::Tls13, Kind::Full).phases[&Phase::Wait].median_ns;
    let is_named = document.findings.iter().any(|it| it.id == "nagle");
    assert_eq!(is_named, wait > 20_000_000, "{wait} ns: {}", outcome.page);
}

#[test]
fn what_answers_otherwise_is_told() {
    let lab = Lab::new();
    let server = lab.server_with(|config| config.alpn.clear());
    let words = ["the server's answer under TLS is invalid: \"HTTP/1.1", "DNS over TLS (853)"];
    lab.measure(server.address()).args(["--alpn", "dot", "--tls", "1.3"]).count(2).run().exits(3).says(&words);
}

#[test]
fn a_question_of_dns_stands_alone() {
    for (flags, words) in [
        ("--alpn dot,h2", "name no other protocol beside it"),
        ("--alpn dot --starttls smtp", "remove one of them"),
        ("--alpn dot --path /", "sends no HTTP request"),
        ("--alpn dot --kinds early", "remove --alpn dot"),
    ] {
        let refused = |call: Reprise| -> Outcome { call.flags(flags).run().exits(2).says(&[words]) };
        refused(Reprise::measure("192.0.2.1:853"));
        if !flags.contains("--kinds") {
            refused(Reprise::load("127.0.0.1:853"));
        }
    }
}

//! Envoy, by a static configuration.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use reprise_lab::{Identity, KeyKind};
use reprise_model::document::Severity;
use reprise_servers::{Launch, Process, find};

use crate::diagnose::broken::{Broken, Software, Started, broken, shown};
use reprise_harness::Lab;

const ENVOY: Software = Software::new("Envoy", "envoy", &["--version"]).revealing_itself();

/// What remedies name `ticket.key`: the same on every node.
const TICKET_KEY: [u8; 80] = [7; 80];

/// The lines stand in its DownstreamTlsContext, those of `tls_params` in the common_tls_context below.
fn one(lab: &Lab, lines: &[String]) -> Started {
    let (process, address) = start(lab, &lab.identity(KeyKind::P256), lines);
    Started::without_account(address, process)
}

/// Two of them behind one address.
fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    let identity = lab.identity(KeyKind::P256);
    let nodes = [(); 2].map(|()| start(lab, &identity, lines));
    Started::behind_one_address(nodes.each_ref().map(|(_, address)| *address), nodes)
}

fn start(lab: &Lab, identity: &Identity, lines: &[String]) -> (Process, SocketAddr) {
    let directory = tempfile::tempdir_in(lab.directory()).unwrap().keep();
    identity.write_pem(&directory, "server").unwrap();
    fs::write(directory.join("ticket.key"), TICKET_KEY).unwrap();
    let log = directory.join("output.log");
    let listens = || fs::read_to_string(&log).is_ok_and(|output| output.contains("starting main dispatch loop"));
    let launch = Launch { program: "envoy", log: &log, listens: &listens };
    let (common, lines): (Vec<&String>, Vec<&String>) = lines.iter().partition(|line| line.starts_with("tls_params"));
    let lines: String = lines.iter().map(|line| format!("\n          {line}")).collect();
    let common: String = common.iter().map(|line| format!("\n            {line}")).collect();
    let command = |address: SocketAddr| {
        let configuration = CONFIGURATION.replace("PORT", &address.port().to_string());
        let configuration = configuration.replace("\n          # LINES", &lines).replace("\n            # COMMON", &common);
        fs::write(directory.join("envoy.yaml"), configuration).unwrap();
        let mut command = Command::new(find("envoy").unwrap());
        command.args(["-c", "envoy.yaml", "--concurrency", "2", "--disable-hot-restart"]).current_dir(&directory);
        Ok(command)
    };
    Process::on_free_port(&launch, command).unwrap()
}

const CONFIGURATION: &str = r#"static_resources:
  listeners:
  - address: { socket_address: { address: 127.0.0.1, port_value: PORT } }
    filter_chains:
    - transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          # LINES
          common_tls_context:
            # COMMON
            tls_certificates:
            - { certificate_chain: { filename: server-cert.pem }, private_key: { filename: server-key.pem } }
            alpn_protocols: [h2, http/1.1]
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: lab
          route_config:
            virtual_hosts:
            - name: lab
              domains: ["*"]
              routes:
              - match: { prefix: / }
                direct_response: { status: 200, body: { inline_string: ok } }
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
"#;

const fn envoy(cause: &'static str, told: &'static [&'static str], flags: &'static [&'static str]) -> Broken {
    broken(cause, &ENVOY, told, one).flags(flags)
}

#[test]
fn a_healthy_envoy_has_no_fault_and_no_risk() {
    reprise_servers::require!("envoy");
    let diagnosis = envoy("", &[], &[]).diagnose(&Lab::new(), &[]);
    assert!(diagnosis.findings.iter().all(|it| it.severity == Severity::Note), "{}", shown(&diagnosis));
    assert!(diagnosis.verdict.starts_with("It resumes"), "{}", diagnosis.verdict);
}

examined! {
    envoy_without_stateless_resumption_does_not_offer_tls13:
        envoy("not-offered", &["disable_stateless_session_resumption: true"], &[]);
    envoy_that_takes_one_group_makes_handshakes_start_again:
        broken("hello-retry-request", &ENVOY, &["tls_params: { ecdh_curves: [P-384] }"], one)
            .measured(&["--tls", "1.3", "--kinds", "full"]);
    envoy_sessions_of_a_minute_are_short:
        envoy("lifetime-short", &["session_timeout: 60s"], &["--tls", "1.2"]);
    two_envoys_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &ENVOY, &["# two nodes"], two_nodes).flags(&["--tls", "1.3"]);
}

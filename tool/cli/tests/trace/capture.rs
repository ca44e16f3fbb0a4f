//! The pcapng, read by tshark: it decrypts every connection and finds the messages that the trace shows, in their order.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use reprise_lab::{ClientAuthRequest, EmbeddedResumption, KeyKind};
use reprise_model::Direction;
use reprise_model::document::TraceDocument;
use reprise_servers::{ClientVerify, Nginx, NginxConfig, RealServer, SServer, SServerConfig, SessionCache};

use crate::trace::traced::{full, handshake_messages, trace};
use reprise_harness::Lab;

/// RFC 9846 §4 and RFC 5246 §7.4, by tshark's number for each.
fn name(handshake_type: &str) -> &'static str {
    match handshake_type {
        "1" => "ClientHello",
        "2" => "ServerHello",
        "4" => "NewSessionTicket",
        "5" => "EndOfEarlyData",
        "8" => "EncryptedExtensions",
        "11" => "Certificate",
        "12" => "ServerKeyExchange",
        "13" => "CertificateRequest",
        "14" => "ServerHelloDone",
        "15" => "CertificateVerify",
        "16" => "ClientKeyExchange",
        "20" => "Finished",
        other => panic!("tshark sees a message of type {other}"),
    }
}

/// Which way a message went, its name and its size.
type Message = (Direction, String, u64);

/// Each connection's messages by the client's port, and whether a response was decrypted on it.
fn seen_by_tshark(pcap: &Path, server: u16) -> BTreeMap<u16, (Vec<Message>, bool)> {
    let mut tshark = Command::new("tshark");
    let server_port = format!("tcp.port=={server},tls");
    tshark.arg("-r").arg(pcap).args(["-d", &server_port, "-T", "fields", "-E", "separator=;"]);
    for field in
        ["tcp.srcport", "tcp.dstport", "tls.handshake.type", "tls.handshake.length", "http.response.code", "_ws.malformed"]
    {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut seen: BTreeMap<u16, (Vec<Message>, bool)> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [from, to, types, lengths, status, malformed] = line.split(';').collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(malformed, "", "{line}");
        let direction = if from == server.to_string() { Direction::Received } else { Direction::Sent };
        let client = if direction == Direction::Sent { from } else { to };
        let connection = seen.entry(client.parse().unwrap()).or_default();
        let types = types.split(',').filter(|number| !number.is_empty());
        let lengths = lengths.split(',').filter(|length| !length.is_empty()).map(|length| length.parse::<u64>().unwrap());
        let lengths: Vec<u64> = lengths.collect();
        assert_eq!(types.clone().count(), lengths.len(), "{line}");
        // A message's header is its type and three bytes of length.
        connection.0.extend(types.zip(lengths).map(|(number, length)| (direction, name(number).to_owned(), 4 + length)));
        connection.1 |= !status.is_empty();
    }
    seen
}

#[track_caller]
fn assert_same(document: &TraceDocument, pcap: &Path, server: u16, case: &str) {
    let seen = seen_by_tshark(pcap, server);
    let connections = document.traces.iter().flat_map(|trace| [trace.full.as_ref(), trace.resumed.as_ref()]);
    let connections: Vec<_> = connections.flatten().collect();
    assert_eq!(seen.len(), connections.len(), "{case}");
    for connection in connections {
        let (messages, responded) = seen.get(&connection.local_port).unwrap();
        assert_eq!(*messages, handshake_messages(connection), "{case}");
        assert!(responded, "{case}: the response was not decrypted");
    }
}

#[test]
fn tshark_decodes_every_message_of_every_kind() {
    reprise_servers::require!("tshark");
    let lab = Lab::new();
    let pcap = lab.path("trace.pcapng");
    for (resumption, tls, traces) in [(EmbeddedResumption::Id, "1.2", 1), (EmbeddedResumption::Ticket, "1.2,1.3", 2)] {
        let server = lab.server(resumption);
        let (outcome, document) = trace(&lab, server.address(), &["--tls", tls, "--pcap", pcap.to_str().unwrap()]);
        outcome.exits(0);
        assert_eq!(document.traces.len(), traces, "in one capture");
        assert_same(&document, &pcap, server.address().port(), &format!("{resumption:?} under TLS {tls}"));
    }
}

#[test]
fn tshark_reads_mutual_authentication_with_nginx() {
    reprise_servers::require!("tshark", "nginx");
    let lab = Lab::new();
    let pcap = lab.path("trace.pcapng");
    let client = lab.client("client.example");
    let config = NginxConfig {
        client_verify: ClientVerify::Required(lab.authority.pem()),
        session_cache: SessionCache::Shared("1m".to_owned()),
        ..NginxConfig::new(vec![lab.identity(KeyKind::Rsa2048)])
    };
    let nginx = Nginx::start(config).unwrap();
    let suites = [
        "TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_AES_256_GCM_SHA384:ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-CHACHA20-POLY1305",
    ];
    for suites in suites {
        let mut arguments = vec!["--tls", "1.2,1.3", "--ciphers", suites, "--pcap", pcap.to_str().unwrap()];
        arguments.extend(["--cert", client.certificate.to_str().unwrap(), "--key", client.key.to_str().unwrap()]);
        let (outcome, document) = trace(&lab, nginx.address(), &arguments);
        outcome.exits(0);
        assert_eq!(document.traces.len(), 2);
        assert_same(&document, &pcap, nginx.address().port(), suites);
    }
}

#[test]
fn a_handshake_that_fails_is_captured_as_far_as_it_came() {
    reprise_servers::require!("tshark");
    let lab = Lab::new();
    let authority = lab.authority.certificate().clone();
    let server = lab.server_with(|config| config.client_auth = ClientAuthRequest::Required(authority));
    let pcap = lab.path("failed.pcapng");
    lab.trace(server.address()).arg("--tls=1.3").arg("--pcap").arg(&pcap).run().exits(3).says(&["--cert FILE --key FILE"]);
    let seen = seen_by_tshark(&pcap, server.address().port());
    let (messages, _) = seen.first_key_value().unwrap().1;
    let asks = |message: &Message| message.0 == Direction::Received && message.1 == "CertificateRequest";
    assert!(messages.iter().any(asks), "{messages:?}");
}

#[test]
fn tshark_reads_early_data_and_psks_without_a_key_exchange() {
    reprise_servers::require!("tshark", "openssl");
    let lab = Lab::new();
    let pcap = lab.path("trace.pcapng");
    let server = lab.server_with(|config| {
        config.resumption = EmbeddedResumption::Id;
        config.max_early_data = 4096;
    });
    let (outcome, document) = trace(&lab, server.address(), &["--kind", "early", "--pcap", pcap.to_str().unwrap()]);
    outcome.exits(0);
    assert_same(&document, &pcap, server.address().port(), "early data");
    let early = document.traces[0].resumed.as_ref().unwrap().local_port;
    let requests = requests_seen_by_tshark(&pcap, server.address().port(), early);
    assert_eq!(requests, 1, "the request was decrypted with CLIENT_EARLY_TRAFFIC_SECRET");

    let mut config = SServerConfig::new(vec![lab.identity(KeyKind::P256)]);
    config.psk = Some(("device 7".to_owned(), "00112233".to_owned()));
    config.extra = vec!["-allow_no_dhe_kex".to_owned()];
    let server = SServer::start(config).unwrap();
    let psk = ["--psk-identity", "device 7", "--psk-key", "00112233", "--psk-mode", "psk_ke"];
    let arguments = [&psk[..], &["--pcap", pcap.to_str().unwrap()]].concat();
    let (outcome, document) = trace(&lab, server.address(), &arguments);
    outcome.exits(0);
    // s_server's response has no length, so that tshark tells of it only once the connection has ended in its sight.
    let seen = seen_by_tshark(&pcap, server.address().port());
    for connection in [full(&document.traces[0]), document.traces[0].resumed.as_ref().unwrap()] {
        assert_eq!(seen.get(&connection.local_port).unwrap().0, handshake_messages(connection));
    }
}

/// How many HTTP requests tshark decrypts from this client.
fn requests_seen_by_tshark(pcap: &Path, server: u16, client: u16) -> usize {
    let filter = format!("http.request and tcp.srcport=={client}");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(pcap).args(["-d", &format!("tcp.port=={server},tls"), "-Y", &filter]);
    String::from_utf8(tshark.output().unwrap().stdout).unwrap().lines().count()
}

//! Services that do not begin TLS, or not as they should: each a clear error, and exit 3. What is said and heard of each protocol, byte
//! for byte, is tested in `tls/connection/src/prologue`, also by who speaks another; every wording in `tool/results/src/clear_text.rs`.

use std::any::Any;
use std::net::SocketAddr;

use reprise_lab::{EmbeddedResumption, Identity, KeyKind, ServerApplication};
use reprise_servers::{
    Exim, EximConfig, MariaDb, MariaDbConfig, MisbehavingServer, NotRun, PartialWitness, Postgres, PostgresConfig, ProFtpd,
    ProFtpdConfig, Prosody, ProsodyConfig, RealServer, ScriptStep, Slapd, SlapdConfig, missing,
};

use reprise_harness::{Gate, Lab, Reprise, hears, says};

/// A server that runs, and where.
type Started = (SocketAddr, Box<dyn Any>);

/// A real server that offers no TLS: the protocol that it speaks, what it needs, how it is started, and what is said of it.
type WithoutTls = (&'static str, &'static [&'static str], fn(Identity) -> Started, &'static [&'static str]);

fn real<Server: RealServer + 'static>(server: Server) -> Started {
    (server.address(), Box::new(server))
}

fn partial<Server: PartialWitness + 'static>(server: Server) -> Started {
    (server.address(), Box::new(server))
}

const WITHOUT_TLS: [WithoutTls; 6] = [
    (
        "smtp",
        &["exim4"],
        |identity| real(Exim::start(EximConfig { offers_tls: false, ..EximConfig::new(identity.clone()) }).unwrap()),
        &["the server does not offer STARTTLS", "587"],
    ),
    (
        "ftp",
        &["proftpd"],
        |identity| {
            real(ProFtpd::start(ProFtpdConfig { speaks_tls: false, ..ProFtpdConfig::new(identity.clone()) }).unwrap())
        },
        &["the server refuses AUTH TLS: \"500 AUTH not understood\""],
    ),
    (
        "ldap",
        &["slapd"],
        |_| partial(Slapd::start(SlapdConfig { identity: None }).unwrap()),
        &["the server refuses StartTLS: result code 2 (protocolError)"],
    ),
    (
        "postgres",
        &["postgres"],
        |_| partial(Postgres::start(PostgresConfig { identity: None, lines: Vec::new() }).unwrap()),
        &["the server refuses TLS: it answers SSLRequest with N", "ssl = on"],
    ),
    (
        "mysql",
        &["mariadbd", "my_print_defaults"],
        |_| {
            let server = MariaDb::start(MariaDbConfig { identity: None, login: None }).unwrap();
            (server.address(), Box::new(server))
        },
        &["the server does not offer TLS: CLIENT_SSL is not among its capabilities", "ssl_cert"],
    ),
    // With nothing to offer, it says why it ends the stream.
    (
        "xmpp",
        &["prosody"],
        |identity| {
            partial(Prosody::start(ProsodyConfig { offers_tls: false, ..ProsodyConfig::new(identity.clone()) }).unwrap())
        },
        &["the server ends the stream: \"undefined-condition\", \"No stream features to proceed with\""],
    ),
];

#[test]
fn a_server_without_tls_says_so() {
    let lab = Lab::new();
    for (protocol, needs, start, words) in WITHOUT_TLS {
        if let Some(not_run) = needs.iter().find_map(|program| missing(program)) {
            NotRun::announce(&not_run);
            continue;
        }
        let (address, _server) = start(lab.identity(KeyKind::P256));
        let outcome = lab.measure(address).args(["--starttls", protocol]).run().exits(3).says(words);
        assert!(!outcome.stderr.contains("it serves host names"), "{}", outcome.stderr);
    }
}

#[test]
fn a_host_that_is_not_served_is_told() {
    reprise_servers::require!("prosody");
    let lab = Lab::new();
    let server = Prosody::start(ProsodyConfig::new(lab.identity(KeyKind::P256))).unwrap();
    let target = format!("localhost:{}", server.address().port());
    let outcome = lab.measure(target).args(["--starttls", "xmpp", "--resolve", "127.0.0.1"]).run().exits(3);
    outcome.says(&["the server ends the stream: \"host-unknown\", \"This server does not serve localhost\"", "--resolve"]);
}

fn send(bytes: impl AsRef<[u8]>) -> ScriptStep {
    ScriptStep::Send(bytes.as_ref().to_vec())
}

#[test]
fn whatever_else_ends_a_dialogue_is_told() {
    use ScriptStep::{Close, Read, ReadRecord, Stall};
    let injected = ["the server sent extra bytes before TLS", "an attacker on the path"];
    let cases: [(&str, Vec<ScriptStep>, &[&str]); 5] = [
        ("pop3", vec![send("+OK\r\n"), Read(6), send("-ERR \x1b[31mno\r\n")], &["refuses STLS: \"-ERR \\u{1b}[31mno\""]),
        ("ftp", vec![Close], &["the server closed the connection without a"]),
        ("smtp", vec![Stall], &["no greeting within 1 s from the server", "remove --starttls", "--timeout"]),
        // CVE-2011-0411 and CVE-2021-23222: what comes with the consent was said by somebody on the path.
        ("postgres", vec![Read(8), send("SE"), Stall], &injected),
        ("postgres", vec![Read(8), send("S"), ReadRecord, send("no TLS here"), Close], &["does not speak TLS"]),
    ];
    let lab = Lab::new();
    for (protocol, script, words) in cases {
        let server = MisbehavingServer::start(script).unwrap();
        let call = lab.measure(server.address()).args(["--starttls", protocol]).timeout("1s");
        let outcome = call.run().exits(3).says(words);
        assert_eq!((outcome.page.as_str(), outcome.document().failures.len()), ("", 1), "{protocol}");
    }
}

/// Neither a part of the answer is one, nor what the protocol does not know.
#[test]
fn no_answer_under_tls_is_told() {
    let lab = Lab::new();
    for (answer, words) in [
        ("+OK\r\nUSER\r\n", "the server closed the connection under TLS without an answer"),
        ("\x07\x07\x07\x07\x07", "the server's answer under TLS is invalid"),
    ] {
        let server = lab.server_with(|config| {
            config.resumption = EmbeddedResumption::Off;
            config.application = ServerApplication::Dialogue(vec![hears("CAPA\r\n"), says(answer)]);
        });
        let gate = Gate::before(server.address(), vec![says("+OK\r\n"), hears("STLS\r\n"), says("+OK\r\n")]);
        let call = lab.measure(gate.address()).args(["--starttls", "pop3", "--tls", "1.3"]).count(2);
        call.run().exits(3).says(&[words]);
        assert_eq!(gate.misheard(), [""; 0]);
    }
}

/// Without a port, it is the protocol's own.
#[test]
fn each_protocol_has_its_port() {
    for (protocol, port) in [("smtp", 25), ("postgres", 5432), ("xmpp", 5222)] {
        let call = Reprise::measure("192.0.2.1").args(["--starttls", protocol, "-k"]).timeout("1ms");
        assert_eq!(call.run().exits(3).document().target.port, port);
    }
}

//! Services that do not begin TLS, or not as they should: each a clear error, and exit 3. What is said and heard of each protocol, byte
//! for byte, is tested in `crates/connection/src/prologue`.

use std::any::Any;
use std::net::SocketAddr;

use reprise_lab::{Identity, KeyKind, Resumption, ServerApplication};
use reprise_model::FailureClass;
use reprise_servers::{
    Dovecot, DovecotConfig, Exim, EximConfig, LoginProcesses, MailAccess, MariaDb, MariaDbConfig, Nginx, NginxConfig,
    NotRun, PartialWitness, Postgres, PostgresConfig, ProFtpd, ProFtpdConfig, Prosody, ProsodyConfig, RealServer, Slapd,
    SlapdConfig, missing,
};
use reprise_servers::{MisbehavingServer, ScriptStep};

use reprise_harness::{Gate, Lab, Reprise, hears, says};

/// A server that runs, and where.
type Started = (SocketAddr, Box<dyn Any>);

/// A real server: the protocol that it speaks, what it needs, and how it is started, with or without TLS.
struct Service {
    protocol: &'static str,
    needs: &'static [&'static str],
    start: fn(&Identity) -> Started,
    start_without_tls: Option<fn(&Identity) -> Started>,
    /// What is said where it offers no TLS.
    says: &'static [&'static str],
}

fn real<Server: RealServer + 'static>(server: Server) -> Started {
    (server.address(), Box::new(server))
}

fn partial<Server: PartialWitness + 'static>(server: Server) -> Started {
    (server.address(), Box::new(server))
}

fn dovecot(identity: &Identity, access: MailAccess) -> Started {
    let config = DovecotConfig { identity: identity.clone(), access, processes: LoginProcesses::Shared };
    partial(Dovecot::start(config).unwrap())
}

fn mariadb(identity: Option<&Identity>) -> Started {
    let server = MariaDb::start(MariaDbConfig { identity: identity.cloned(), login: None }).unwrap();
    (server.address(), Box::new(server))
}

const SERVICES: [Service; 9] = [
    Service {
        protocol: "smtp",
        needs: &["exim4"],
        start: |identity| real(Exim::start(EximConfig::new(identity.clone())).unwrap()),
        start_without_tls: Some(|identity| {
            real(Exim::start(EximConfig { offers_tls: false, ..EximConfig::new(identity.clone()) }).unwrap())
        }),
        says: &["the server does not offer STARTTLS", "587"],
    },
    Service {
        protocol: "imap",
        needs: &["dovecot"],
        start: |identity| dovecot(identity, MailAccess::Imap),
        start_without_tls: None,
        says: &[],
    },
    Service {
        protocol: "pop3",
        needs: &["dovecot"],
        start: |identity| dovecot(identity, MailAccess::Pop3),
        start_without_tls: None,
        says: &[],
    },
    Service {
        protocol: "ftp",
        needs: &["proftpd"],
        start: |identity| real(ProFtpd::start(ProFtpdConfig::new(identity.clone())).unwrap()),
        start_without_tls: Some(|identity| {
            real(ProFtpd::start(ProFtpdConfig { speaks_tls: false, ..ProFtpdConfig::new(identity.clone()) }).unwrap())
        }),
        says: &["the server refuses AUTH TLS: \"500 AUTH not understood\""],
    },
    Service {
        protocol: "ldap",
        needs: &["slapd"],
        start: |identity| partial(Slapd::start(SlapdConfig { identity: Some(identity.clone()) }).unwrap()),
        start_without_tls: Some(|_| partial(Slapd::start(SlapdConfig { identity: None }).unwrap())),
        says: &["the server refuses StartTLS: result code 2 (protocolError)"],
    },
    Service {
        protocol: "postgres",
        needs: &["postgres"],
        start: |identity| partial(Postgres::start(PostgresConfig { identity: Some(identity.clone()) }).unwrap()),
        start_without_tls: Some(|_| partial(Postgres::start(PostgresConfig { identity: None }).unwrap())),
        says: &["the server refuses TLS: it answers SSLRequest with N", "ssl = on"],
    },
    Service {
        protocol: "mysql",
        needs: &["mariadbd", "my_print_defaults"],
        start: |identity| mariadb(Some(identity)),
        start_without_tls: Some(|_| mariadb(None)),
        says: &["the server does not offer TLS: CLIENT_SSL is not among its capabilities", "ssl_cert"],
    },
    Service {
        protocol: "xmpp",
        needs: &["prosody"],
        start: |identity| partial(Prosody::start(ProsodyConfig::new(identity.clone())).unwrap()),
        // With nothing to offer, it says why it ends the stream.
        start_without_tls: Some(|identity| {
            partial(Prosody::start(ProsodyConfig { offers_tls: false, ..ProsodyConfig::new(identity.clone()) }).unwrap())
        }),
        says: &["the server ends the stream: \"undefined-condition\", \"No stream features to proceed with\""],
    },
    // A port that begins with TLS.
    Service {
        protocol: "https",
        needs: &["nginx"],
        start: |identity| real(Nginx::start(NginxConfig::new(vec![identity.clone()])).unwrap()),
        start_without_tls: None,
        says: &[],
    },
];

impl Service {
    fn is_installed(&self) -> bool {
        let not_run = self.needs.iter().find_map(|program| missing(program));
        not_run.iter().for_each(NotRun::announce);
        not_run.is_none()
    }
}

#[test]
fn a_server_without_tls_says_so() {
    let lab = Lab::new();
    for service in SERVICES.iter().filter(|service| service.is_installed()) {
        let Some(start) = service.start_without_tls else { continue };
        let (address, _server) = start(&lab.identity(KeyKind::P256));
        let outcome = lab.measure(address).args(["--starttls", service.protocol]).run().exits(3).says(service.says);
        assert!(!outcome.stderr.contains("it serves host names"), "{}", outcome.stderr);
    }
}

/// Every protocol against every real server that speaks another: an error, soon, and of the dialogue. All at once: where each waits
/// for the other to begin, there is nothing but the timeout.
#[test]
fn a_server_of_another_protocol_is_told() {
    let lab = Lab::new();
    for service in SERVICES.iter().filter(|service| service.is_installed()) {
        let (address, _server) = (service.start)(&lab.identity(KeyKind::P256));
        let others = SERVICES.iter().map(|it| it.protocol).filter(|it| ![service.protocol, "https"].contains(it));
        let call = |asked| lab.measure(address).args(["--starttls", asked]).timeout("5s").count(1).start();
        let calls: Vec<_> = others.map(|asked| (asked, call(asked))).collect();
        for (asked, call) in calls {
            let document = call.finish().exits(3).says(&["reprise: "]).document();
            let [failure] = &*document.failures else { panic!("{asked}: {:?}", document.failures) };
            assert_eq!(failure.class, FailureClass::Starttls, "{asked} to {}: {failure:?}", service.protocol);
        }
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
fn each_way_to_refuse_has_its_words() {
    use ScriptStep::{Close, Read, ReadRecord, Stall};
    let injected = ["the server sent extra bytes before TLS", "an attacker on the path"];
    let cases: [(&str, Vec<ScriptStep>, &[&str]); 11] = [
        ("pop3", vec![send("+OK\r\n"), Read(6), send("-ERR \x1b[31mno\r\n")], &["refuses STLS: \"-ERR \\u{1b}[31mno\""]),
        ("smtp", vec![send("554 no\r\n"), Close], &["does not greet but says \"554 no\""]),
        ("imap", vec![send("* BYE busy\r\n"), Close], &["does not greet but says \"* BYE busy\""]),
        (
            "ldap",
            vec![Read(31), send(b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x34\x04\x00\x04\x00")],
            &["result code 52", "without TLS"],
        ),
        ("mysql", vec![send("\x07HTTP/1.1 400 Bad Request\r\n\r\n"), Stall], &["check the port", "mysql"]),
        ("ftp", vec![Close], &["the server closed the connection without a"]),
        ("smtp", vec![Stall], &["no greeting within 1 s from the server", "remove --starttls", "--timeout"]),
        ("postgres", vec![Stall], &["no answer to SSLRequest within 1 s"]),
        ("smtp", vec![send("220-more\r\n".repeat(4096)), Stall], &["sent 16384 bytes without a greeting"]),
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
            config.resumption = Resumption::Off;
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

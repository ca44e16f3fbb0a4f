//! Protocols whose server is played, before TLS and under it: what the client says is what the protocol's document says,
//! byte for byte.

use reprise_lab::{EmbeddedServer, Resumption, ServerApplication, Turn};
use reprise_model::{Kind, Phase, Version};

use reprise_harness::{Gate, Lab, Outcome, hears, says};

/// A protocol as its server knows it.
struct Peer {
    name: &'static str,
    /// Until the ClientHello is due.
    in_the_clear: Vec<Turn>,
    /// The round trips of that.
    round_trips: u64,
    /// What the client asks under TLS.
    question: Vec<u8>,
    /// What it is told, each part in a record of its own.
    answer: Vec<Vec<u8>>,
    /// What it says before it closes.
    farewell: Vec<u8>,
}

impl Peer {
    /// The server, in the clear and under TLS.
    fn start(&self, lab: &Lab, resumption: Resumption, under_tls: Vec<Turn>) -> (Gate, EmbeddedServer) {
        let server = lab.server_with(|config| {
            config.resumption = resumption;
            config.application = ServerApplication::Dialogue(under_tls);
        });
        (Gate::before(server.address(), self.in_the_clear.clone()), server)
    }

    fn measure(&self, lab: &Lab, gate: &Gate, arguments: &[&str]) -> Outcome {
        let call = lab.measure(gate.address()).args(["--starttls", self.name]).args(arguments).count(2).run();
        assert_eq!(gate.misheard(), [""; 0], "{}", self.name);
        call
    }

    #[track_caller]
    fn assert_passes(&self) {
        self.assert_resumes();
        self.assert_answer_confirms();
        self.assert_no_answer_is_told();
        self.assert_passes_unasked();
    }

    fn dialogue(&self) -> Vec<Turn> {
        let answer = self.answer.iter().map(says);
        [hears(&self.question)].into_iter().chain(answer).chain([hears(&self.farewell)]).collect()
    }

    /// The whole dialogue on every connection, new or resumed, and every phase of it.
    #[track_caller]
    fn assert_resumes(&self) {
        let lab = Lab::new();
        let (gate, server) = self.start(&lab, Resumption::Ticket, self.dialogue());
        let outcome = self.measure(&lab, &gate, &["--kinds", "full,ticket"]).exits(0);
        assert_eq!(server.misheard(), [""; 0], "{}", self.name);
        for (tls, kind) in
            [Version::Tls12, Version::Tls13].into_iter().flat_map(|tls| [(tls, Kind::Full), (tls, Kind::Ticket)])
        {
            let run = outcome.measured(tls, kind);
            assert_eq!((run.n, run.observed.kinds.of(kind)), (2, 2), "{} {tls} {kind}", self.name);
            for phase in [Phase::Starttls, Phase::Tls, Phase::Wait, Phase::Receive, Phase::Total] {
                assert!(run.phases.contains_key(&phase), "{phase} of {} {tls} {kind}", self.name);
            }
        }
        // The handshake is one more.
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(self.round_trips + 1), "{}", self.name);
        let (all, accounts) = (outcome.document().all_connections, server.accounts());
        let resumed = accounts.iter().filter(|account| account.resumed).count() as u64;
        assert_eq!((all.full, all.ticket, all.failed), (accounts.len() as u64 - resumed, resumed, 0), "{}", self.name);
    }

    /// A server of TLS 1.3 that gives no tickets: the answer alone shows that it has finished the handshake.
    #[track_caller]
    fn assert_answer_confirms(&self) {
        let lab = Lab::new();
        let (gate, server) = self.start(&lab, Resumption::Off, self.dialogue());
        let outcome = self.measure(&lab, &gate, &["--tls", "1.3"]).exits(0);
        assert_eq!((outcome.measured(Version::Tls13, Kind::Full).n, server.misheard()), (2, Vec::new()), "{}", self.name);
    }

    /// Neither silence nor a part of the answer is an answer.
    #[track_caller]
    fn assert_no_answer_is_told(&self) {
        let parts = self.answer.len();
        for heard in 0..parts {
            let under_tls = self.dialogue().into_iter().take(1 + heard).collect();
            let lab = Lab::new();
            let (gate, _server) = self.start(&lab, Resumption::Off, under_tls);
            let outcome = self.measure(&lab, &gate, &["--tls", "1.3"]).exits(3);
            outcome.says(&["the server closed the connection under TLS without an answer"]);
        }
        let lab = Lab::new();
        let (gate, _server) = self.start(&lab, Resumption::Off, vec![hears(&self.question), says("\x07\x07\x07\x07\x07")]);
        let outcome = self.measure(&lab, &gate, &["--tls", "1.3"]).exits(3);
        outcome.says(&["the server's answer under TLS is invalid"]);
    }

    #[track_caller]
    fn assert_passes_unasked(&self) {
        let lab = Lab::new();
        let (gate, server) = self.start(&lab, Resumption::Ticket, Vec::new());
        let outcome = self.measure(&lab, &gate, &["--no-request", "--kinds", "full,ticket"]).exits(0);
        assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, 2, "{}", self.name);
        assert_eq!(server.misheard(), [""; 0], "{}", self.name);
    }
}

#[test]
fn ftp() {
    let peer = Peer {
        name: "ftp",
        in_the_clear: vec![
            says("120 in 5 minutes\r\n220-welcome\r\n take care\r\n220 ready\r\n"),
            hears("AUTH TLS\r\n"),
            says("234 go on\r\n"),
        ],
        round_trips: 2,
        question: b"NOOP\r\n".to_vec(),
        answer: vec![b"200-I am\r\n".to_vec(), b"200 here\r\n".to_vec()],
        farewell: b"QUIT\r\n".to_vec(),
    };
    peer.assert_passes();
}

#[test]
fn pop3() {
    let peer = Peer {
        name: "pop3",
        in_the_clear: vec![says("+OK ready <1@x>\r\n"), hears("STLS\r\n"), says("+OK\r\n")],
        round_trips: 2,
        question: b"CAPA\r\n".to_vec(),
        answer: vec![b"+OK\r\nUSER\r\n".to_vec(), b".\r\n".to_vec()],
        farewell: b"QUIT\r\n".to_vec(),
    };
    peer.assert_passes();
}

#[test]
fn ldap() {
    let peer = Peer {
        name: "ldap",
        in_the_clear: vec![
            hears(b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037"),
            says(b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00"),
        ],
        round_trips: 1,
        // SearchRequest: base object, no limits, (objectClass=*), attribute 1.1.
        question: b"\x30\x2a\x02\x01\x02\x63\x25\x04\0\x0a\x01\0\x0a\x01\0\x02\x01\0\x02\x01\0\x01\x01\0\x87\x0bobjectClass\
            \x30\x05\x04\x031.1"
            .to_vec(),
        // SearchResultEntry, SearchResultDone.
        answer: vec![
            b"\x30\x09\x02\x01\x02\x64\x04\x04\x00\x30\x00".to_vec(),
            b"\x30\x0c\x02\x01\x02\x65\x07\x0a\x01\x00\x04\x00\x04\x00".to_vec(),
        ],
        farewell: b"\x30\x05\x02\x01\x03\x42\x00".to_vec(),
    };
    peer.assert_passes();
}

#[test]
fn mysql() {
    let packet = |number: u8, payload: &[u8]| [&[u8::try_from(payload.len()).unwrap(), 0, 0, number], payload].concat();
    let mut greeting = b"\x0a8.4.0\0\x01\0\0\0challeng\0".to_vec();
    greeting.extend(b"\xff\xff\x21\x02\x00\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0challenge123\0mysql_native_password\0");
    // Capabilities, the longest packet, UTF-8, 23 zeroes: the whole of SSLRequest, and the beginning of the login.
    let login_begin = [&b"\x01\x8a\x08\0\0\0\0\x01\x21"[..], &[0; 23]].concat();
    // AuthSwitchRequest, in two records.
    let mut switch = packet(3, b"\xfemysql_native_password\0challenge12345678901\0");
    let rest = switch.split_off(9);
    let peer = Peer {
        name: "mysql",
        in_the_clear: vec![says(packet(0, &greeting)), hears(packet(1, &login_begin))],
        round_trips: 1,
        question: packet(2, &[&login_begin, &b"reprise\0\0mysql_native_password\0"[..]].concat()),
        answer: vec![switch, rest],
        farewell: packet(4, b""),
    };
    peer.assert_passes();
}

#[test]
fn xmpp() {
    let header = "<?xml version='1.0'?><stream:stream to='127.0.0.1' version='1.0' xmlns='jabber:client' \
                  xmlns:stream='http://etherx.jabber.org/streams'>";
    let features = "<?xml version='1.0'?><stream:stream from='127.0.0.1' id='1' version='1.0'><stream:features>\
                    <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>";
    let peer = Peer {
        name: "xmpp",
        in_the_clear: vec![
            hears(header),
            says(features),
            hears("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
            says("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
        ],
        round_trips: 2,
        question: header.into(),
        answer: vec![
            b"<?xml version='1.0'?><stream:stream id='2' version='1.0'>".to_vec(),
            b"<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></stream:features>".to_vec(),
        ],
        farewell: b"</stream:stream>".to_vec(),
    };
    peer.assert_passes();
}

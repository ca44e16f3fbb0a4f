use std::net::Ipv4Addr;
use std::sync::Arc;

use proptest::prelude::*;
use reprise_engine::{CertificatePolicy, Config, FreshKeyShares, Offer, Session, SystemEntropy};
use reprise_model::Nanos;
use rustls_pki_types::UnixTime;

use super::*;
use crate::attempt::{Attempt, Begin, Progress};
use crate::engine_client::{EngineClient, EnginePlan};
use crate::exchange::Question;
use crate::fault::Detail;
use crate::input::Input;
use crate::prologue::{Introduction, Proxy, ProxyProtocol, ServerReply, StartTls};
use crate::target::Target;

const LDAP_CONSENT: &[u8] = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00";
const SSL_REQUEST: &[u8] = b"\x00\x00\x00\x08\x04\xd2\x16\x2f";
const STREAM: &str = "<?xml version='1.0'?><stream:stream to='a.example' version='1.0' xmlns='jabber:client' \
                      xmlns:stream='http://etherx.jabber.org/streams'>";
const CONNECT: &str = concat!(
    "CONNECT a.example:25 HTTP/1.1\r\nHost: a.example:25\r\nUser-Agent: reprise/",
    env!("CARGO_PKG_VERSION"),
    "\r\n\r\n"
);

fn client() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 40000))
}

fn direct() -> Route {
    let target: Target = "a.example:25".parse().unwrap();
    Route { proxy: None, proxy_protocol: None, starttls: None, target, target_address: None }
}

fn to(starttls: StartTls) -> Route {
    Route { starttls: Some(starttls), ..direct() }
}

fn through(proxy: &str) -> Route {
    Route { proxy: Some(proxy.parse::<Proxy>().unwrap()), ..direct() }
}

/// A dialogue as its documents have it.
struct Script {
    route: Route,
    opening: Vec<u8>,
    /// What the peer says, and what the client says to that.
    turns: Vec<(Vec<u8>, Vec<u8>)>,
    round_trips: u64,
}

fn script(route: Route, opening: impl AsRef<[u8]>, turns: &[(&[u8], &[u8])], round_trips: u64) -> Script {
    let turns = turns.iter().map(|(heard, said)| (heard.to_vec(), said.to_vec())).collect();
    Script { route, opening: opening.as_ref().to_vec(), turns, round_trips }
}

fn mysql_packet(number: u8, payload: &[u8]) -> Vec<u8> {
    [&[u8::try_from(payload.len()).unwrap(), 0, 0, number], payload].concat()
}

/// A greeting with these capabilities, the lower byte first.
fn mysql_greeting(capabilities: [u8; 2]) -> Vec<u8> {
    mysql_packet(0, &[&b"\x0a8.4.0\0"[..], &[0; 13], &capabilities, &[0; 20]].concat())
}

/// Every protocol.
fn scripts() -> Vec<Script> {
    let login_begin = mysql_packet(1, &[&b"\x01\x8a\x08\0\0\0\0\x01\x21"[..], &[0; 23]].concat());
    let authorized = CONNECT.replace("\r\n\r\n", "\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n");
    let features = b"<stream:stream><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>";
    let by_name = b"\x05\x01\0\x03\x09a.example\0\x19";
    let address = Some(SocketAddr::from(([127, 0, 0, 1], 25)));
    vec![
        script(
            to(StartTls::Smtp),
            "",
            &[
                (b"220-mail\r\n220 ready\r\n", b"EHLO [192.0.2.1]\r\n"),
                (b"250-mail\r\n250-starttls\r\n250 SIZE\r\n", b"STARTTLS\r\n"),
                (b"220 go on\r\n", b""),
            ],
            3,
        ),
        script(to(StartTls::Imap), "", &[(b"* OK\r\n", b"a STARTTLS\r\n"), (b"* CAPABILITY\r\na ok\r\n", b"")], 2),
        script(to(StartTls::Pop3), "", &[(b"+OK <1@x>\r\n", b"STLS\r\n"), (b"+OK\r\n", b"")], 2),
        script(
            to(StartTls::Ftp),
            "",
            &[(b"120 soon\r\n220-a\r\n b\r\n220 c\r\n", b"AUTH TLS\r\n"), (b"234 go on\r\n", b"")],
            2,
        ),
        script(to(StartTls::Ldap), b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037", &[(LDAP_CONSENT, b"")], 1),
        script(to(StartTls::Postgres), SSL_REQUEST, &[(b"S", b"")], 1),
        script(to(StartTls::MySql), "", &[(&mysql_greeting([0xff, 0xff]), &login_begin)], 1),
        script(
            to(StartTls::Xmpp),
            STREAM,
            &[
                (features, b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
                (b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", b""),
            ],
            2,
        ),
        script(
            through("http://proxy"),
            CONNECT,
            &[(b"HTTP/1.1 100 a\r\n\r\nHTTP/1.1 200 b\r\nContent-Length: 9\r\n\r\n", b"")],
            1,
        ),
        script(through("http://me:secret@proxy"), authorized, &[(b"HTTP/1.0 200 OK\r\n\r\n", b"")], 1),
        script(
            through("socks5h://me:secret@proxy"),
            b"\x05\x02\0\x02",
            &[(b"\x05\x02", b"\x01\x02me\x06secret"), (b"\x05\0", by_name), (b"\x05\0\0\x03\x01x\0\0", b"")],
            3,
        ),
        script(
            Route { target_address: address, ..through("socks5://proxy") },
            b"\x05\x01\0",
            &[(b"\x05\0", b"\x05\x01\0\x01\x7f\0\0\x01\0\x19"), (b"\x05\0\0\x01\0\0\0\0\0\0", b"")],
            2,
        ),
    ]
}

impl Script {
    /// All that the peer says.
    fn heard(&self) -> Vec<u8> {
        self.turns.iter().flat_map(|(heard, _)| heard.clone()).collect()
    }

    fn begin(&self) -> Prologue {
        let (mut conversation, mut out) = (Prologue::new(self.route.clone()), Vec::new());
        assert_eq!(conversation.begin(client(), &mut out), PrologueStep::Waiting);
        assert_eq!(out, self.opening);
        conversation
    }

    fn phase(&self) -> Phase {
        if self.route.proxy.is_some() { Phase::Proxy } else { Phase::Starttls }
    }
}

/// What the first fault is, once the peer has said this.
#[track_caller]
fn fault_of(route: &Route, heard: &[u8]) -> Fault {
    let mut conversation = Prologue::new(route.clone());
    conversation.begin(client(), &mut Vec::new());
    conversation.receive(heard, &mut Vec::new()).unwrap_err()
}

#[track_caller]
fn assert_fails(route: &Route, heard: &[u8], name: FaultName, message: Message, problem: Problem) {
    let fault = fault_of(route, heard);
    let class = if route.proxy.is_some() { FailureClass::Proxy } else { FailureClass::Starttls };
    assert_eq!((fault.name, fault.class), (name, class));
    let Some(Detail::ClearText(detail)) = fault.detail.as_deref() else { panic!("{fault:?}") };
    assert_eq!((detail.message, &detail.problem), (message, &problem));
}

fn refused(code: Option<u16>, said: &[u8]) -> Problem {
    Problem::Refused { code, said: said.to_vec() }
}

#[test]
fn every_protocol_passes_however_its_bytes_are_cut() {
    for script in scripts() {
        for size in [1, 2, 3, usize::MAX] {
            let mut conversation = script.begin();
            for (turn, (heard, said)) in script.turns.iter().enumerate() {
                let mut out = Vec::new();
                let mut step = PrologueStep::Waiting;
                for bytes in heard.chunks(size.min(heard.len())) {
                    assert_eq!(step, PrologueStep::Waiting, "{:?}", script.route);
                    step = conversation.receive(bytes, &mut out).unwrap();
                }
                let is_last = turn + 1 == script.turns.len();
                let expected = if is_last { PrologueStep::Over(Some(script.phase())) } else { PrologueStep::Waiting };
                assert_eq!((step, &out), (expected, said), "{:?}", script.route);
            }
            assert_eq!(conversation.round_trips(), script.round_trips, "{:?}", script.route);
        }
    }
}

#[test]
fn bytes_before_their_turn_are_refused() {
    for script in scripts() {
        let mut conversation = script.begin();
        let (last, before) = script.turns.split_last().unwrap();
        for (heard, _) in before {
            conversation.receive(heard, &mut Vec::new()).unwrap();
        }
        let fault = conversation.receive(&[&last.0[..], b"x"].concat(), &mut Vec::new()).unwrap_err();
        let name = if script.route.proxy.is_some() { FaultName::ProxyInjected } else { FaultName::StarttlsInjected };
        let Some(Detail::ClearText(detail)) = fault.detail.as_deref() else { panic!("{fault:?}") };
        assert_eq!((fault.name, &detail.problem), (name, &Problem::Injected(b"x".to_vec())), "{:?}", script.route);
    }
}

#[test]
fn a_peer_that_closes_is_told_at_every_byte() {
    for script in scripts() {
        let heard = script.heard();
        for cut in 0..heard.len() {
            let mut conversation = script.begin();
            assert_eq!(conversation.receive(&heard[..cut], &mut Vec::new()).unwrap(), PrologueStep::Waiting);
            let (class, awaited) = conversation.awaited();
            let fault = conversation.receive_end();
            let Some(Detail::ClearText(detail)) = fault.detail.as_deref() else { panic!("{fault:?}") };
            assert_eq!((detail.message.name(), &detail.problem, fault.class), (awaited, &Problem::Closed, class));
        }
    }
}

#[test]
fn a_peer_that_speaks_something_else_is_quoted() {
    for script in scripts() {
        let fault = fault_of(&script.route, b"\x07HTTP/1.1 400 Bad Request\r\n\r\n");
        let name = if script.route.proxy.is_some() { FaultName::ProxyUnexpected } else { FaultName::StarttlsUnexpected };
        let Some(Detail::ClearText(detail)) = fault.detail.as_deref() else { panic!("{fault:?}") };
        assert_eq!(fault.name, name, "{:?}", script.route);
        assert!(matches!(&detail.problem, Problem::Unexpected(bytes) if bytes.starts_with(b"\x07")), "{detail:?}");
    }
}

#[test]
fn endless_talk_ends() {
    let endless = |begin: &[u8], more: &[u8]| [begin, &more.repeat(MAX_HEARD)].concat();
    for (route, heard, message) in [
        (to(StartTls::Smtp), endless(b"", b"220-more\r\n"), Message::Greeting),
        (to(StartTls::Ftp), endless(b"220-", b"more\r\n"), Message::Greeting),
        (to(StartTls::Imap), endless(b"* OK ", b"x"), Message::Greeting),
        (to(StartTls::Pop3), endless(b"+OK ", b"x"), Message::Greeting),
        (to(StartTls::Xmpp), endless(b"<", b"a>"), Message::StreamFeatures),
        (to(StartTls::Ldap), endless(b"\x30\x82\x40\0", b"\0")[..MAX_HEARD + 3].to_vec(), Message::ExtendedResponse),
        (through("http://proxy"), endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), Message::ConnectResponse),
    ] {
        let name = if route.proxy.is_some() { FaultName::ProxyTooLong } else { FaultName::StarttlsTooLong };
        assert_fails(&route, &heard, name, message, Problem::TooLong(MAX_HEARD));
        let mut conversation = Prologue::new(route);
        conversation.begin(client(), &mut Vec::new());
        assert_eq!(conversation.receive(&heard[..MAX_HEARD], &mut Vec::new()).unwrap(), PrologueStep::Waiting);
        assert_eq!(conversation.receive(&heard[MAX_HEARD..=MAX_HEARD], &mut Vec::new()).unwrap_err().name, name);
    }
    // As many whole messages as one likes are as endless as one message.
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(MAX_HEARD / 25 + 1);
    assert_fails(
        &through("http://proxy"),
        &interim,
        FaultName::ProxyTooLong,
        Message::ConnectResponse,
        Problem::TooLong(MAX_HEARD),
    );
}

#[test]
fn a_service_that_refuses_is_quoted() {
    let refuses = |protocol, heard: &[u8], message, problem| {
        assert_fails(&to(protocol), heard, FaultName::StarttlsRefused, message, problem);
    };
    refuses(StartTls::Smtp, b"554 no\r\n", Message::Greeting, refused(Some(554), b"554 no\r\n"));
    refuses(StartTls::Smtp, b"220 a\r\n500 b\r\n", Message::EhloReply, refused(Some(500), b"500 b\r\n"));
    let consent = b"220 a\r\n250 STARTTLS\r\n502 c\r\n";
    refuses(StartTls::Smtp, consent, Message::StartTlsReply, refused(Some(502), b"502 c\r\n"));
    refuses(StartTls::Ftp, b"421 busy\r\n", Message::Greeting, refused(Some(421), b"421 busy\r\n"));
    refuses(StartTls::Ftp, b"220 a\r\n500 b\r\n", Message::AuthTlsReply, refused(Some(500), b"500 b\r\n"));
    refuses(StartTls::Imap, b"* BYE busy\r\n", Message::Greeting, refused(None, b"* BYE busy\r\n"));
    let bad = b"* OK\r\n* x\r\na BAD unknown\r\n";
    refuses(StartTls::Imap, bad, Message::StartTlsResponse, refused(None, b"a BAD unknown\r\n"));
    refuses(StartTls::Pop3, b"-ERR a\r\n", Message::Greeting, refused(None, b"-ERR a\r\n"));
    refuses(StartTls::Pop3, b"+OK\r\n-ERR b\r\n", Message::StlsResponse, refused(None, b"-ERR b\r\n"));
    let unavailable = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x34\x04\x00\x04\x00";
    refuses(StartTls::Ldap, unavailable, Message::ExtendedResponse, refused(Some(52), b""));
    refuses(StartTls::Postgres, b"N", Message::SslRequestAnswer, refused(None, b"N"));
    refuses(StartTls::Postgres, b"EFATAL", Message::SslRequestAnswer, refused(None, b"E"));
    let blocked = mysql_packet(0, b"\xff\x69\x04Host is no");
    refuses(StartTls::MySql, &blocked, Message::Greeting, refused(Some(1129), b"Host is no"));
    let verdict = format!("{STREAM}<stream:features>urn:ietf:params:xml:ns:xmpp-tls</stream:features><failure/>");
    refuses(StartTls::Xmpp, verdict.as_bytes(), Message::StartTlsVerdict, refused(None, b"<failure/>"));
    let unknown = Problem::StreamError { condition: "host-unknown".to_owned(), text: None };
    let error = b"<stream:stream><stream:error><host-unknown/></stream:error></stream:stream>";
    refuses(StartTls::Xmpp, error, Message::StreamFeatures, unknown);
}

#[test]
fn a_service_that_does_not_offer_tls() {
    let offers_none = |protocol, heard: &[u8], message| {
        assert_fails(&to(protocol), heard, FaultName::StarttlsNotOffered, message, Problem::NotOffered);
    };
    offers_none(StartTls::Smtp, b"220 a\r\n250-a\r\n250 SIZE\r\n", Message::EhloReply);
    offers_none(StartTls::MySql, &mysql_greeting([0xff, 0xf7]), Message::Greeting);
    offers_none(StartTls::Xmpp, b"<stream:stream><stream:features/>", Message::StreamFeatures);
}

#[test]
fn a_proxy_that_refuses_is_told_by_its_code() {
    let (http, socks) = (through("http://proxy"), through("socks5h://proxy"));
    let (http_me, socks_me) = (through("http://me:x@proxy"), through("socks5h://me:x@proxy"));
    let (required, failed) = (FaultName::ProxyAuthenticationRequired, FaultName::ProxyAuthenticationFailed);
    let wants = b"HTTP/1.1 407 No\r\n\r\n";
    assert_fails(&http, wants, required, Message::ConnectResponse, Problem::AuthenticationRequired);
    assert_fails(&http_me, wants, failed, Message::ConnectResponse, Problem::AuthenticationFailed);
    assert_fails(&socks, b"\x05\xff", required, Message::MethodSelection, Problem::AuthenticationRequired);
    assert_fails(&socks_me, b"\x05\xff", failed, Message::MethodSelection, Problem::AuthenticationFailed);
    assert_fails(&socks_me, b"\x05\x02\x01\x01", failed, Message::PasswordStatus, Problem::AuthenticationFailed);
    let no_tunnel = |code, said: &[u8]| Problem::NoTunnel { to: "a.example:25".to_owned(), code, said: said.to_vec() };
    let bad = b"HTTP/1.1 502 Bad Gateway\r\nX: y\r\n\r\n";
    let problem = no_tunnel(502, b"HTTP/1.1 502 Bad Gateway");
    assert_fails(&http, bad, FaultName::ProxyRefused, Message::ConnectResponse, problem);
    // An address of a type that nobody knows is left out where it says no.
    for reply in [&b"\x05\0\x05\x04\0\x01\0\0\0\0\0\0"[..], b"\x05\0\x05\x04\0\0\0\0"] {
        assert_fails(&socks, reply, FaultName::ProxyRefused, Message::SocksReply, no_tunnel(4, b""));
    }
    // A password that was not offered.
    let unexpected = Problem::Unexpected(b"\x05\x02".to_vec());
    assert_fails(&socks, b"\x05\x02", FaultName::ProxyUnexpected, Message::MethodSelection, unexpected);
}

#[test]
fn a_route_with_nothing_before_tls_has_no_prologue() {
    assert!(direct().prologue().is_none() && !direct().begins_in_the_clear());
    assert!(to(StartTls::Smtp).prologue().is_some() && to(StartTls::Smtp).begins_in_the_clear());
}

#[test]
fn a_header_is_said_before_tls_and_not_answered() {
    let server = Some(SocketAddr::from(([198, 51, 100, 7], 443)));
    let server6 = Some("[2001:db8::7]:443".parse().unwrap());
    let v1 = |address| Route { proxy_protocol: Some(ProxyProtocol::V1), target_address: address, ..direct() };
    let v2 = |address| Route { proxy_protocol: Some(ProxyProtocol::V2), ..v1(address) };
    let signature = b"\r\n\r\n\0\r\nQUIT\n";
    let addresses = [&signature[..], b"\x21\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x07\x9c\x40\x01\xbb"].concat();
    for (route, header) in [
        (v1(server), b"PROXY TCP4 192.0.2.1 198.51.100.7 40000 443\r\n".to_vec()),
        (v1(server6), b"PROXY UNKNOWN\r\n".to_vec()),
        (v1(None), b"PROXY UNKNOWN\r\n".to_vec()),
        (v2(server), addresses),
        (v2(None), [&signature[..], b"\x21\0\0\0"].concat()),
    ] {
        let (mut conversation, mut out) = (Prologue::new(route), Vec::new());
        assert_eq!(conversation.begin(client(), &mut out), PrologueStep::Over(None));
        assert_eq!((out, conversation.round_trips()), (header, 0));
    }
}

#[test]
fn a_proxy_is_passed_before_the_header_and_starttls() {
    let route = Route { proxy_protocol: Some(ProxyProtocol::V1), ..through("http://proxy") };
    let (mut conversation, mut out) = (Prologue::new(route.clone()), Vec::new());
    conversation.begin(client(), &mut out);
    out.clear();
    let tunnel = b"HTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(conversation.receive(tunnel, &mut out).unwrap(), PrologueStep::Over(Some(Phase::Proxy)));
    assert_eq!(out, b"PROXY UNKNOWN\r\n");

    // The service may greet with what the proxy says: that costs no round trip of its own.
    for (greets_at_once, round_trips) in [(true, 3), (false, 4)] {
        let route = Route { starttls: Some(StartTls::Smtp), ..route.clone() };
        let (mut conversation, mut out) = (Prologue::new(route), Vec::new());
        conversation.begin(client(), &mut out);
        let greeting: &[u8] = b"220 a\r\n";
        let (first, second) = if greets_at_once { (greeting, &b""[..]) } else { (&b""[..], greeting) };
        out.clear();
        assert_eq!(
            conversation.receive(&[&tunnel[..], first].concat(), &mut out).unwrap(),
            PrologueStep::Passed(Phase::Proxy)
        );
        assert_eq!(out, b"");
        assert_eq!(conversation.receive(&[], &mut out).unwrap(), PrologueStep::Waiting);
        conversation.receive(second, &mut out).unwrap();
        assert_eq!(out, b"PROXY UNKNOWN\r\nEHLO [192.0.2.1]\r\n");
        assert_eq!(conversation.awaited(), (FailureClass::Starttls, "reply to EHLO"));
        conversation.receive(b"250 STARTTLS\r\n", &mut out).unwrap();
        assert_eq!(conversation.receive(b"220 go\r\n", &mut out).unwrap(), PrologueStep::Over(Some(Phase::Starttls)));
        assert_eq!(conversation.round_trips(), round_trips);
    }
}

/// An attempt, driven as a transport would.
struct Driven {
    attempt: Attempt<EngineClient, Question>,
    sessions: Vec<Session>,
}

impl Driven {
    fn connect(route: &Route, at: u64) -> Self {
        let question = Question::new(StartTls::Smtp, String::new());
        let (name, policy) = ("a.example".try_into().unwrap(), CertificatePolicy::AcceptAnyChain);
        let config = Arc::new(Config::new(name, policy, Arc::new(FreshKeyShares), Arc::new(SystemEntropy)));
        let plan = EnginePlan { config, offer: Offer::Full { session_ticket: true }, date: UnixTime::now() };
        let mut driven = Self { attempt: Attempt::new(EngineClient::default(), question), sessions: Vec::new() };
        let begin = Begin { plan, prologue: route.prologue(), requests: 1, early: None };
        driven.attempt.begin(&mut driven.sessions, begin, Nanos(0)).unwrap();
        driven.attempt.connected(Nanos(at), || Some(client())).unwrap();
        driven
    }

    fn hear(&mut self, bytes: &[u8], at: u64) -> Progress {
        let mut bytes = bytes.to_vec();
        self.attempt.receive(&mut self.sessions, &mut Input::new(&mut bytes, Nanos(at)), Nanos(at)).unwrap()
    }

    fn say(&mut self, at: u64) -> Vec<u8> {
        let said = self.attempt.outgoing(Nanos(at)).to_vec();
        self.attempt.sent(said.len());
        said
    }
}

#[test]
fn a_stage_that_the_peer_begins_is_timed_from_connecting() {
    let mut driven = Driven::connect(&to(StartTls::Smtp), 10);
    assert!(!driven.attempt.has_outgoing());
    assert_eq!(driven.hear(b"220 a\r\n", 20), Progress::Waiting);
    assert_eq!(driven.say(25), b"EHLO [192.0.2.1]\r\n");
    driven.hear(b"250 STARTTLS\r\n", 30);
    driven.say(35);
    assert_eq!(driven.hear(b"220 go\r\n", 40), Progress::Boundary);
    assert_eq!(driven.hear(b"", 41), Progress::Waiting);
    assert_eq!(driven.attempt.phases().starttls, Some(Nanos(31)));
    assert!(driven.say(45).starts_with(b"\x16\x03"), "a ClientHello");
}

#[test]
fn a_proxy_and_starttls_are_timed_apart() {
    let route = Route { starttls: Some(StartTls::Postgres), ..through("http://proxy") };
    let mut driven = Driven::connect(&route, 10);
    driven.say(12);
    assert_eq!(driven.hear(b"HTTP/1.1 200 OK\r\n\r\n", 20), Progress::Boundary);
    assert_eq!(driven.hear(b"", 21), Progress::Waiting);
    assert_eq!(driven.say(22), SSL_REQUEST);
    assert_eq!(driven.hear(b"S", 30), Progress::Boundary);
    assert_eq!(driven.hear(b"", 32), Progress::Waiting);
    let phases = driven.attempt.phases();
    assert_eq!((phases.proxy, phases.starttls), (Some(Nanos(9)), Some(Nanos(11))));
}

/// Messages of every protocol, and bytes of none.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<Vec<u8>> = scripts().into_iter().flat_map(|script| script.turns).map(|(heard, _)| heard).collect();
    prop_oneof![
        6 => proptest::sample::select(known),
        2 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (proptest::collection::vec(any::<u8>(), 1..4), 1..20_000_usize).prop_map(|(bytes, count)| bytes.repeat(count)),
    ]
}

proptest! {
    #[test]
    fn no_bytes_panic_or_grow_without_bound(which in 0..12_usize, pieces in proptest::collection::vec(piece(), 0..12)) {
        let script = scripts().swap_remove(which);
        let mut conversation = script.begin();
        let mut said = Vec::new();
        for piece in pieces {
            match conversation.receive(&piece, &mut said) {
                Ok(PrologueStep::Waiting) => prop_assert!(conversation.heard.len() <= MAX_HEARD),
                Ok(PrologueStep::Over(_)) => {
                    prop_assert!(conversation.heard.is_empty());
                    break;
                }
                Ok(PrologueStep::Passed(phase)) => prop_assert!(false, "nothing follows {phase}"),
                Err(fault) => {
                    prop_assert!(matches!(fault.detail.as_deref(), Some(Detail::ClearText(_))), "{fault:?}");
                    break;
                }
            }
            prop_assert!(said.len() < 1024);
        }
        conversation.receive_end();
    }
}

/// What a client says before and under TLS has an answer of the server's side, which its own length rule takes for one.
#[test]
fn both_sides_of_each_protocol_understand_each_other() {
    for protocol in StartTls::ALL {
        let mut client = Prologue::new(to(protocol));
        let mut said = Vec::new();
        client.begin(self::client(), &mut said);
        let mut answer = protocol.greeting().to_vec();
        loop {
            if !answer.is_empty() {
                let step = client.receive(&answer, &mut said).unwrap_or_else(|fault| panic!("{protocol}: {fault:?}"));
                answer.clear();
                if matches!(step, PrologueStep::Over(_)) {
                    break;
                }
            }
            match protocol.reply(&mut said, false).unwrap_or_else(|_| panic!("{protocol}: {said:?}")) {
                Some(ServerReply::Say(words)) => answer = words,
                // MySQL has no word of consent: the client goes on when it has asked.
                Some(ServerReply::StartTls(words)) => answer = words,
                other => panic!("{protocol}: {other:?} with {said:?} to come"),
            }
        }
        let consent = protocol.reply(&mut said, false);
        assert!(matches!(consent, Ok(None | Some(ServerReply::StartTls(_)))) && said.is_empty(), "{protocol}: {said:?}");

        let introduction = Introduction { host: "a.example".to_owned(), client: self::client().ip() };
        let service = protocol.service(introduction);
        let (mut said, mut heard) = (service.question(), Vec::new());
        while let Some(reply) = protocol.reply(&mut said, true).unwrap() {
            match reply {
                ServerReply::Say(words) | ServerReply::Close(words) | ServerReply::StartTls(words) => heard.extend(words),
                ServerReply::Data(command) => panic!("{protocol}: {command:?}"),
            }
        }
        assert_eq!(service.length(Message::Answer, &heard), Ok(Some(heard.len())), "{protocol}: {}", heard.escape_ascii());
    }
}

proptest! {
    #[test]
    fn no_client_makes_the_servers_side_panic(
        which in 0..8_usize, is_under_tls: bool, pieces in proptest::collection::vec(client_piece(), 0..12),
    ) {
        let mut heard = pieces.concat();
        while let Ok(Some(_)) = StartTls::ALL[which].reply(&mut heard, is_under_tls) {}
    }
}

/// Messages of clients, bytes of none, and LDAP with any operation.
fn client_piece() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<Vec<u8>> = scripts().into_iter().flat_map(|script| script.turns).map(|(_, said)| said).collect();
    prop_oneof![
        3 => proptest::sample::select(known),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => any::<u8>().prop_map(|operation| vec![0x30, 5, 2, 1, 1, operation, 0]),
    ]
}

#[test]
fn a_client_of_another_protocol_is_unexpected() {
    let hello = [22, 3, 1, 0, 200, 1];
    for protocol in StartTls::ALL {
        assert_eq!(protocol.reply(&mut hello.to_vec(), false), Err(Unexpected), "{protocol}");
    }
    for protocol in [StartTls::Ldap, StartTls::Postgres, StartTls::MySql, StartTls::Xmpp] {
        let request = b"GET / HTTP/1.1\r\n\r\n";
        assert_eq!(protocol.reply(&mut request.to_vec(), false), Err(Unexpected), "{protocol}");
    }
}

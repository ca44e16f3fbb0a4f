//! What a proxy or a server says before TLS: the first byte chooses which, the second in what pieces the rest arrives.

use std::net::SocketAddr;

use reprise_connection::prologue::{PrologueStep, Proxy, ProxyProtocol, Route, StartTls};

/// Nobody makes us say more than this, whatever is said to us.
const MOST_SAID: usize = 8 * 1024;

pub(crate) fn run(bytes: &[u8]) {
    let [choice, piece, answers @ ..] = bytes else { return };
    let Some(mut prologue) = route(*choice).prologue() else { return };
    let mut said = Vec::new();
    let mut step = prologue.begin(SocketAddr::from(([192, 0, 2, 1], 40_000)), &mut said);
    let mut pieces = answers.chunks(usize::from(*piece).max(1));
    loop {
        let bytes = match step {
            PrologueStep::Over(_) => break,
            PrologueStep::Passed(_) => &[][..],
            PrologueStep::Waiting => match pieces.next() {
                Some(bytes) => bytes,
                None => {
                    drop(prologue.receive_end());
                    break;
                }
            },
        };
        assert!(!prologue.awaited().1.is_empty());
        match prologue.receive(bytes, &mut said) {
            Ok(next) => step = next,
            Err(_) => break,
        }
    }
    assert!(said.len() <= MOST_SAID, "{} bytes were said", said.len());
    assert!(prologue.round_trips() <= 16);
}

/// A proxy of each kind, and each protocol that asks for TLS: behind a proxy, with a PROXY header, or neither.
fn route(choice: u8) -> Route {
    let choice = usize::from(choice);
    let proxies = ["http://proxy:1", "http://user:secret@proxy:1", "socks5://user:secret@proxy:1", "socks5h://proxy:1"];
    let (starttls, before) = (choice % (StartTls::ALL.len() + 1), choice / (StartTls::ALL.len() + 1));
    let proxy: Option<Proxy> = proxies.get(before % (proxies.len() + 2)).map(|text| text.parse().unwrap());
    Route {
        proxy_protocol: (before % (proxies.len() + 2) == proxies.len()).then_some(ProxyProtocol::V1),
        proxy,
        starttls: StartTls::ALL.get(starttls).copied(),
        target: "example.org".parse().unwrap(),
        target_address: Some(SocketAddr::from(([192, 0, 2, 2], 443))),
    }
}

pub(crate) fn seeds() -> Vec<(String, Vec<u8>)> {
    /// Neither a proxy nor a PROXY header, and no protocol: what stands before and after these in `route`.
    const NO_PROXY: u8 = 5 * 9;
    const NO_PROTOCOL: u8 = 8;
    let services: [&[u8]; 8] = [
        b"220 mail ESMTP\r\n250-mail\r\n250 STARTTLS\r\n220 go ahead\r\n",
        b"* OK ready\r\n* CAPABILITY IMAP4rev1 STARTTLS\r\na1 OK\r\na2 OK begin\r\n",
        b"+OK ready\r\n+OK begin\r\n",
        b"220-files\r\n220 ready\r\n234 begin\r\n",
        b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00",
        b"S",
        b"\x4a\x00\x00\x00\x0a8.0\x00\x01\x00\x00\x00abcdefgh\x00\xff\xff\x08\x02\x00\xff\xc1\x15",
        b"<?xml version='1.0'?><stream:stream><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
    ];
    let services = (0..).zip(services).map(|(place, said)| (NO_PROXY + place, said));
    let proxies: [(u8, &[u8]); 2] = [
        (0, b"HTTP/1.1 200 Connection established\r\n\r\n"),
        (2, b"\x05\x02\x01\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"),
    ];
    let proxies = proxies.map(|(place, said)| (place * 9 + NO_PROTOCOL, said));
    services.chain(proxies).map(|(choice, said)| (format!("{choice:02}"), [&[choice, 7], said].concat())).collect()
}

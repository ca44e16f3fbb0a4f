//! HTTP/1.1: one request, and a response read to its end (RFC 9112). The body is counted, never kept, and nothing is allocated
//! for a response once the memory of a split head is there.

mod chunk;
mod head;

use std::hash::{DefaultHasher, Hasher};
use std::mem::{self, MaybeUninit};
use std::sync::Arc;

use reprise_model::{FaultName, Location};

use self::chunk::Chunk;
use self::head::{content_length, could_be_http, end_of_head, is_final, is_token, items, unix_seconds};
use super::{Exchange, Reply};
use crate::fault::{Detail, Fault};

/// A head longer than this is none; neither is the line of a chunk, nor a trailer section.
pub const MAX_HEAD: usize = 64 * 1024;
/// A head with more fields than this is none.
pub const MAX_HEADERS: usize = 128;
/// So many bytes of the field Server are kept.
const MAX_SOFTWARE: usize = 100;
/// So much of what the peer said is kept in a [`Fault`].
const MAX_SAID: usize = 24;

/// One request, repeated on each connection and on one that is kept alive.
pub struct Http1 {
    request: Arc<[u8]>,
    is_head: bool,
    /// The part of a head that has come, where it did not come at once.
    head: Vec<u8>,
    /// Whether the final response has: interim ones come before it (RFC 9110 §15.2).
    has_begun: bool,
    state: State,
    status: Option<u16>,
    /// Bytes of the body so far, without what frames it.
    body: u64,
    location: Option<Location>,
    keeps_alive: bool,
    keeps_software: bool,
    software: Option<String>,
    date: Option<u64>,
    /// Of the body, where the software is kept.
    content: DefaultHasher,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// So many bytes of the body.
    Sized(u64),
    Chunked(Chunk),
    /// The body, which ends with the connection.
    UntilClose,
    Done,
}

impl Http1 {
    /// For connections that all send the same request; `is_head`: its method is HEAD, so that the response has no body.
    pub fn new(request: Arc<[u8]>, is_head: bool) -> Self {
        Self {
            request,
            is_head,
            head: Vec::new(),
            has_begun: false,
            state: State::Head,
            status: None,
            body: 0,
            location: None,
            keeps_alive: false,
            keeps_software: false,
            software: None,
            date: None,
            content: DefaultHasher::new(),
        }
    }

    /// The same, which keeps the fields Server and Date, and knows a body again.
    #[must_use]
    pub fn keeping_software(self) -> Self {
        Self { keeps_software: true, ..self }
    }

    fn reset(&mut self) {
        self.head.clear();
        self.has_begun = false;
        self.state = State::Head;
        (self.status, self.body, self.location) = (None, 0, None);
        self.keeps_alive = false;
        self.content = DefaultHasher::new();
    }

    fn reply(&self) -> Reply {
        match self.state {
            State::Done => Reply::Done,
            _ if self.has_begun => Reply::Begun,
            _ => Reply::Awaited,
        }
    }

    /// Takes a first part of `bytes`, and returns the rest.
    fn advance<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Fault> {
        match &mut self.state {
            State::Head => self.receive_head(bytes),
            State::Sized(left) => {
                let rest = take_data(left, bytes);
                if *left == 0 {
                    self.state = State::Done;
                }
                self.hear_body(bytes, rest);
                Ok(rest)
            }
            State::Chunked(Chunk::Data(left)) => {
                let rest = take_data(left, bytes);
                if *left == 0 {
                    self.state = State::Chunked(Chunk::DataReturn);
                }
                self.hear_body(bytes, rest);
                Ok(rest)
            }
            State::Chunked(chunk) => {
                let Some((&byte, rest)) = bytes.split_first() else { return Ok(bytes) };
                self.state = chunk.next(byte)?.map_or(State::Done, State::Chunked);
                Ok(rest)
            }
            State::UntilClose => {
                self.hear_body(bytes, &[]);
                Ok(&[])
            }
            State::Done => Err(Fault::new(FaultName::UnexpectedData)),
        }
    }

    /// What of these bytes is not left is of the body.
    fn hear_body(&mut self, bytes: &[u8], rest: &[u8]) {
        let count = bytes.len() - rest.len();
        self.body += count as u64;
        if self.keeps_software {
            self.content.write(bytes.get(..count).unwrap_or_default());
        }
    }

    /// A head that comes at once is read where it is, another in memory that is used again.
    fn receive_head<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Fault> {
        let before = self.head.len();
        let mut memory = mem::take(&mut self.head);
        let head = if before == 0 {
            bytes
        } else {
            memory.extend_from_slice(bytes);
            &memory
        };
        if !could_be_http(head) {
            return Err(not_http(head));
        }
        self.has_begun |= is_final(head);
        let end = match end_of_head(head, before) {
            Some(end) if end <= MAX_HEAD => end,
            None if head.len() <= MAX_HEAD => {
                if before == 0 {
                    memory.extend_from_slice(bytes);
                }
                self.head = memory;
                return Ok(&[]);
            }
            _ => return Err(Fault::new(FaultName::HeadTooLarge)),
        };
        let accepted = self.accept_head(head.get(..end).unwrap_or_default());
        memory.clear();
        self.head = memory;
        accepted.map(|()| bytes.get(end - before..).unwrap_or_default())
    }

    /// Reads the head, and how the body's end will be known (RFC 9112 §6.3).
    fn accept_head(&mut self, head: &[u8]) -> Result<(), Fault> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut []);
        match httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut parsed, head, &mut headers) {
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Err(Fault::new(FaultName::HeadTooLarge)),
            _ => return Err(not_http(head)),
        }
        let status = parsed.code.unwrap_or_default();
        match status {
            // No upgrade was asked for.
            101 => return Err(Fault::new(FaultName::ProtocolSwitched)),
            // Interim: the final response follows (RFC 9110 §15.2).
            100..=199 => return Ok(()),
            _ => self.status = Some(status),
        }
        let values = |name: &'static str| {
            parsed.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
        };
        if self.keeps_software {
            let server = values("server").next().map(|value| value.get(..value.len().min(MAX_SOFTWARE)).unwrap_or_default());
            self.software = server.map(|value| String::from_utf8_lossy(value).into_owned());
            // What comes from a cache has the date of another response (RFC 9111 §5.1).
            let is_fresh = values("age").next().is_none();
            self.date = values("date").next().filter(|_| is_fresh).and_then(unix_seconds);
        }
        self.location = values("location").next().map(Location::of);
        let says = |token: &str| values("connection").any(|value| items(value).any(|item| is_token(item, token)));
        let is_http11 = parsed.version == Some(1);
        self.keeps_alive = !says("close") && (is_http11 || says("keep-alive"));

        self.state = if self.is_head || matches!(status, 204 | 304) {
            State::Done
        } else if let Some(coding) = values("transfer-encoding").next_back() {
            // HTTP/1.0 knows no such field: the connection is of no further use (RFC 9112 §6.1).
            self.keeps_alive &= is_http11;
            if items(coding).last().is_some_and(|item| is_token(item, "chunked")) {
                State::Chunked(Chunk::Size(None))
            } else {
                State::UntilClose
            }
        } else {
            match content_length(values("content-length"))? {
                Some(0) => State::Done,
                Some(length) => State::Sized(length),
                None => State::UntilClose,
            }
        };
        self.keeps_alive &= self.state != State::UntilClose;
        Ok(())
    }
}

impl Exchange for Http1 {
    fn begin(&mut self, _: Option<&[u8]>) -> Result<(), Fault> {
        self.reset();
        Ok(())
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        self.reset();
        Ok(&self.request)
    }

    fn receive(&mut self, mut data: &[u8]) -> Result<Reply, Fault> {
        while !data.is_empty() {
            data = self.advance(data)?;
        }
        Ok(self.reply())
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        match self.state {
            State::Done => {}
            State::UntilClose => self.state = State::Done,
            State::Head if self.head.is_empty() => return Err(Fault::new(FaultName::NoResponse)),
            _ => return Err(Fault::new(FaultName::ResponseTruncated)),
        }
        Ok(self.reply())
    }

    fn status(&self) -> Option<u16> {
        self.status
    }

    fn body(&self) -> u64 {
        self.body
    }

    fn location(&self) -> Option<Location> {
        self.location
    }

    fn software(&self) -> Option<String> {
        self.software.clone()
    }

    fn date(&self) -> Option<u64> {
        self.date
    }

    fn content(&self) -> Option<u64> {
        (self.keeps_software && self.state == State::Done).then(|| self.content.finish())
    }

    fn keeps_alive(&self) -> bool {
        self.keeps_alive && self.state == State::Done
    }
}

/// Takes what belongs to a body of which `left` bytes are still to come, and returns the rest.
fn take_data<'b>(left: &mut u64, bytes: &'b [u8]) -> &'b [u8] {
    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    *left -= taken as u64;
    bytes.get(taken..).unwrap_or_default()
}

fn not_http(head: &[u8]) -> Fault {
    Fault::new(FaultName::NotHttp).with(said(head))
}

fn bad_framing() -> Fault {
    Fault::new(FaultName::BadFraming)
}

fn said(bytes: &[u8]) -> Detail {
    Detail::Said(bytes.iter().take(MAX_SAID).copied().collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An exchange that has asked.
    fn asked() -> Http1 {
        let mut exchange = Http1::new(Arc::from(*b"GET / HTTP/1.1\r\n\r\n"), false);
        exchange.begin(None).unwrap();
        assert_eq!(exchange.request(), Ok(&b"GET / HTTP/1.1\r\n\r\n"[..]));
        exchange
    }

    /// The result of receiving these parts of a response and then the end of the connection.
    fn meaning<'b>(parts: impl Iterator<Item = &'b [u8]>) -> (Result<Reply, FaultName>, Option<u16>, bool, bool) {
        let mut exchange = asked();
        let mut received = Ok(Reply::Awaited);
        for part in parts {
            received = exchange.receive(part);
            if received.is_err() {
                break;
            }
        }
        let was_done = received == Ok(Reply::Done);
        let ended = received.and_then(|_| exchange.receive_end()).map_err(|fault| fault.name);
        (ended, exchange.status(), exchange.keeps_alive(), was_done)
    }

    /// Receives a response, which means the same however it is cut.
    fn received(text: &str) -> (Http1, Reply) {
        let bytes = text.as_bytes();
        let mut exchange = asked();
        let reply = exchange.receive(bytes).unwrap();
        for step in 1..=bytes.len() {
            let mut piecewise = asked();
            let replies: Vec<Reply> = bytes.chunks(step).map(|part| piecewise.receive(part).unwrap()).collect();
            let (last, before) = replies.split_last().unwrap();
            // It begins once, and nothing comes between that and its end.
            assert!(before.is_sorted_by_key(|reply| *reply == Reply::Begun), "{text:?} by {step}");
            assert!(before.iter().all(|reply| *reply != Reply::Done), "{text:?} by {step}");
            assert_eq!((*last, piecewise.status()), (reply, exchange.status()), "{text:?} by {step}");
        }
        (exchange, reply)
    }

    fn ends_with_its_last_byte(text: &str) -> Http1 {
        let (exchange, reply) = received(text);
        assert_eq!(reply, Reply::Done, "{text:?}");
        let cut = received(&text[..text.len() - 1]).1;
        assert_eq!(cut, Reply::Begun, "{text:?}");
        exchange
    }

    #[test]
    fn a_response_has_the_date_that_it_was_made_at() {
        let date = |fields: &str| {
            let mut exchange = asked().keeping_software();
            exchange.receive(format!("HTTP/1.1 204 No Content\r\n{fields}\r\n").as_bytes()).unwrap();
            exchange.date()
        };
        assert_eq!(date("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), Some(784_111_777));
        assert_eq!(date("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nAge: 0\r\n"), None);
        assert_eq!(date("Date: yesterday\r\n"), None);
        assert_eq!(date(""), None);
    }

    fn refused(text: &str) -> FaultName {
        asked().receive(text.as_bytes()).unwrap_err().name
    }

    #[test]
    fn a_response_ends_where_its_framing_says() {
        assert!(ends_with_its_last_byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").keeps_alive());
        ends_with_its_last_byte("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        ends_with_its_last_byte("HTTP/1.1 204 No Content\r\n\r\n");
        ends_with_its_last_byte("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n");
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: ";
        ends_with_its_last_byte(&format!(
            "{chunked}chunked\r\n\r\n4\r\nWiki\r\n1A;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n"
        ));
        ends_with_its_last_byte(&format!("{chunked}chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nT: 1\r\n\r\n"));
        ends_with_its_last_byte(&format!("{chunked}chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n"));
        ends_with_its_last_byte(&format!("{chunked}gzip, Chunked\r\n\r\n0\r\n\r\n"));
    }

    #[test]
    fn interim_responses_are_passed_over() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        let last = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n";
        let whole = ends_with_its_last_byte(&format!("{interim}{last}"));
        assert_eq!((whole.status(), whole.keeps_alive()), (Some(404), false));
        let (mut exchange, reply) = received(interim);
        assert_eq!((reply, exchange.status()), (Reply::Awaited, None));
        assert_eq!(exchange.receive_end().unwrap_err().name, FaultName::NoResponse, "an interim response is no answer");
    }

    #[test]
    fn an_interim_response_is_not_the_beginning_of_the_final_one() {
        let mut exchange = asked();
        let mut hear = |bytes: &str| exchange.receive(bytes.as_bytes()).unwrap();
        assert_eq!(hear("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"), Reply::Awaited);
        assert_eq!(hear("\r\nHTTP/1.1"), Reply::Awaited, "which may be another");
        assert_eq!(hear(" 200 OK\r\n"), Reply::Begun);
        assert_eq!(hear("Content-Length: 0\r\n\r\n"), Reply::Done);
    }

    #[test]
    fn lines_may_end_without_carriage_returns() {
        let response = ends_with_its_last_byte("HTTP/1.1 200 OK\nContent-Length: 2\n\nok");
        assert_eq!((response.status(), response.keeps_alive()), (Some(200), true));
        ends_with_its_last_byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: 1\n\n");
    }

    #[test]
    fn the_response_to_head_has_no_body() {
        let mut exchange = Http1::new(Arc::from(*b"HEAD / HTTP/1.1\r\n\r\n"), true);
        exchange.request().unwrap();
        assert_eq!(exchange.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), Ok(Reply::Done));
        assert!(exchange.keeps_alive());
    }

    #[test]
    fn a_length_may_be_said_twice_and_not_two_of_them() {
        let with = |fields: &str| asked().receive(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nok").as_bytes());
        assert_eq!(with("Content-Length: 2, 2"), Ok(Reply::Done));
        assert_eq!(with("Content-Length: 2\r\nContent-Length: 2"), Ok(Reply::Done));
        for wrong in ["2, 3", "-1", "+2", "", "2,", "x", "99999999999999999999999"] {
            let fault = with(&format!("Content-Length: {wrong}")).unwrap_err();
            assert_eq!(fault.name, FaultName::BadFraming, "{wrong}");
        }
        let fault = with("Content-Length: 2\r\nContent-Length: 3").unwrap_err();
        assert_eq!(fault, Fault::new(FaultName::BadFraming).with(Detail::Said(b"3".to_vec())));
    }

    #[test]
    fn a_head_beyond_the_limits_is_not_called_another_protocol() {
        let many: String = (0..=MAX_HEADERS).map(|index| format!("X-{index}: 1\r\n")).collect();
        let long = format!("X: {}\r\n", "a".repeat(MAX_HEAD));
        for fields in [many, long] {
            assert_eq!(refused(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n")), FaultName::HeadTooLarge);
        }
        let most: String = (0..MAX_HEADERS).map(|index| format!("X-{index}: 1\r\n")).collect();
        assert_eq!(asked().receive(format!("HTTP/1.1 204 x\r\n{most}\r\n").as_bytes()), Ok(Reply::Done));
        let endless = [b"HTTP/1.1 200 OK\r\n".as_slice(), &[b'a'; MAX_HEAD]].concat();
        assert_eq!(meaning(endless.chunks(1000)).0, Err(FaultName::HeadTooLarge));
    }

    #[test]
    fn another_protocol_is_not_waited_for() {
        assert_eq!(refused("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), FaultName::ProtocolSwitched);
    }

    #[test]
    fn without_framing_the_end_of_the_connection_ends_it() {
        for fields in ["", "Transfer-Encoding: chunked, gzip\r\n"] {
            let (mut exchange, reply) = received(&format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n{fields}\r\nall"));
            assert_eq!(reply, Reply::Begun);
            assert_eq!(exchange.receive_end(), Ok(Reply::Done));
            assert_eq!((exchange.status(), exchange.keeps_alive()), (Some(200), false));
        }
    }

    #[test]
    fn http_1_0_keeps_a_connection_only_if_it_says_so() {
        let keeps = |head: &str| ends_with_its_last_byte(&format!("{head}Content-Length: 0\r\n\r\n")).keeps_alive();
        assert!(keeps("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"));
        assert!(!keeps("HTTP/1.0 200 OK\r\n"));
        assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: x, Close\r\n"));
        let chunked = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        assert!(!ends_with_its_last_byte(chunked).keeps_alive());
    }

    #[test]
    fn what_is_no_response_says_so() {
        let fault = asked().receive(b"220 mail.example.org ESMTP ready\r\n").unwrap_err();
        assert_eq!(fault, Fault::new(FaultName::NotHttp).with(Detail::Said(b"220 mail.example.org ESM".to_vec())));
        assert_eq!(refused("SSH-2.0-x\r\n"), FaultName::NotHttp);
        assert_eq!(asked().receive_end().unwrap_err().name, FaultName::NoResponse);
        let (mut cut, _) = received("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234");
        assert_eq!(cut.receive_end().unwrap_err().name, FaultName::ResponseTruncated);
    }

    #[test]
    fn what_follows_a_response_is_refused() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            "HTTP/1.1 204 No Content\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx",
        ] {
            assert_eq!(refused(text), FaultName::UnexpectedData, "{text:?}");
        }
        let mut exchange = asked();
        exchange.receive(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        assert_eq!(exchange.receive(b"x").unwrap_err().name, FaultName::UnexpectedData);
        exchange.request().unwrap();
        assert_eq!(exchange.receive(b"HTTP/1.1 204 No Content\r\n\r\n"), Ok(Reply::Done));
    }

    #[test]
    fn the_memory_of_a_split_head_is_used_again() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        let mut exchange = asked();
        exchange.receive(head).unwrap();
        assert_eq!(exchange.head.capacity(), 0, "a head that comes whole needs none");
        let mut split = || {
            exchange.request().unwrap();
            exchange.receive(&head[..9]).unwrap();
            assert_eq!(exchange.receive(&head[9..]), Ok(Reply::Done));
            (exchange.head.as_ptr(), exchange.head.capacity())
        };
        assert_eq!(split(), split());
    }

    #[test]
    fn a_chunk_is_framed_as_it_must_be() {
        let long = format!("1;{}\r\n", "x".repeat(MAX_HEAD + 1));
        let endless = format!("0\r\n{}", "X: 1\r\n".repeat(MAX_HEAD / 6 + 1));
        for body in
            ["x", "\r\n", ";x\r\n", "2x\r\n", "2\nok", "2;x\nok", "2\r\nokay", "2\r\nok\n", "0\r\n\rx", "fffffffffffffffff"]
                .into_iter()
                .chain([long.as_str(), endless.as_str()])
        {
            let fault = refused(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
            assert_eq!(fault, FaultName::BadFraming, "{:?}", body.get(..16));
        }
    }

    /// Pieces of responses, and what is none.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        const PIECES: &[&str] = &[
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 \n",
            "HTTP/1.1 103 x\r\n",
            "Content-Length: 3\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\n",
            "\r\n",
            "\n",
            "\r",
            "3\r\nabc\r\n",
            "2;e=f\r\nok\r\n",
            "0\r\n",
            "T: 1\r\n",
            "abc",
            "\0",
        ];
        let piece = prop::sample::select(PIECES);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn a_response_means_the_same_however_it_is_cut(text in text(), step in 1_usize..40) {
            let whole = meaning([text.as_slice()].into_iter());
            prop_assert_eq!(meaning(text.chunks(step)), whole);
            let mut framed = b"HTTP/1.1 200 OK\r\n".to_vec();
            framed.extend_from_slice(&text);
            prop_assert_eq!(meaning(framed.chunks(step)), meaning([framed.as_slice()].into_iter()));
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1_usize..40) {
            let chunked = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(), &bytes].concat();
            for text in [bytes, chunked] {
                prop_assert_eq!(meaning(text.chunks(step)), meaning([text.as_slice()].into_iter()));
            }
        }
    }
}

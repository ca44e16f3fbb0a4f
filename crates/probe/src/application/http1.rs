//! HTTP/1.1: one request, and a response read to its end. The body is counted, never kept.

use reprise_trace::Failure;

use super::Exchange;
use crate::failure;
use crate::options::{ConnectionReuse, Request};
use reprise_attempt::Target;

/// A response head longer than this is no response.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 128;

/// One request, repeated on a connection that is kept alive.
pub(crate) struct Http1 {
    request: Vec<u8>,
    response: Response,
    has_begun: bool,
}

impl Http1 {
    pub(crate) fn new(target: &Target, of: &Request, reuse: ConnectionReuse) -> Self {
        Self { request: request(target, of, reuse), response: Response::to(of), has_begun: false }
    }
}

impl Exchange for Http1 {
    fn ask(&mut self) -> Result<Vec<u8>, Failure> {
        let is_head_request = self.response.is_head_request;
        self.response = Response { is_head_request, ..Response::new() };
        self.has_begun = false;
        Ok(self.request.clone())
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.has_begun |= !bytes.is_empty();
        self.response.receive(bytes)
    }

    fn receive_end(&mut self) -> Result<(), Failure> {
        self.response.receive_end()
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn is_done(&self) -> bool {
        self.response.is_done()
    }

    fn status(&self) -> Option<u16> {
        self.response.status()
    }

    fn keeps_alive(&self) -> bool {
        self.response.keeps_alive()
    }
}

/// The request's bytes.
fn request(target: &Target, request: &Request, reuse: ConnectionReuse) -> Vec<u8> {
    let path = request.path.as_deref().unwrap_or(&target.path);
    let given = |name: &str| request.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let mut text = format!("{} {path} HTTP/1.1\r\n", request.method);
    if !given("host") {
        text += &format!("Host: {}\r\n", target.authority());
    }
    if !given("user-agent") {
        text += concat!("User-Agent: reprise/", env!("CARGO_PKG_VERSION"), "\r\n");
    }
    if !given("accept") {
        text += "Accept: */*\r\n";
    }
    if !given("content-length") && matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        text += "Content-Length: 0\r\n";
    }
    text += match reuse {
        ConnectionReuse::Close => "Connection: close\r\n",
        ConnectionReuse::KeepAlive => "Connection: keep-alive\r\n",
    };
    for (name, value) in &request.headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += "\r\n";
    text.into_bytes()
}

/// A response while it comes in (RFC 9112).
struct Response {
    is_head_request: bool,
    state: State,
    status: Option<u16>,
    keeps_alive: bool,
}

enum State {
    Head(Vec<u8>),
    /// Bytes of the body that are still to come.
    Sized(u64),
    ChunkHead(Vec<u8>),
    /// Bytes of the chunk that are still to come, its line end included.
    Chunk(u64),
    /// The current line of the trailer section.
    Trailer(Vec<u8>),
    /// The body ends with the connection.
    UntilClose,
    Done,
}

impl Response {
    fn to(request: &Request) -> Self {
        Self { is_head_request: request.method.eq_ignore_ascii_case("HEAD"), ..Self::new() }
    }

    fn new() -> Self {
        Self { is_head_request: false, state: State::Head(Vec::new()), status: None, keeps_alive: false }
    }

    /// The status, once the head is there.
    fn status(&self) -> Option<u16> {
        self.status
    }

    /// Whether the last byte has come.
    fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether the connection may carry another request.
    fn keeps_alive(&self) -> bool {
        self.keeps_alive && self.is_done()
    }

    /// Takes bytes that have come.
    fn receive(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() && !self.is_done() {
            bytes = self.advance(bytes)?;
        }
        Ok(())
    }

    /// The connection has ended.
    fn receive_end(&mut self) -> Result<(), Failure> {
        match self.state {
            State::Done => Ok(()),
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Head(ref head) if head.is_empty() => Err(failure::response(
                "no_response",
                "the server closed the connection without a response".to_owned(),
                Some("if the service is not HTTP, use --no-request"),
            )),
            _ => Err(failure::response(
                "response_truncated",
                "the server closed the connection in the middle of its response".to_owned(),
                None,
            )),
        }
    }

    /// Takes a first part of `bytes`, and returns the rest.
    fn advance<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Failure> {
        match &mut self.state {
            State::Head(head) => {
                let before = head.len();
                head.extend_from_slice(bytes);
                if !could_be_http(head) {
                    return Err(not_http(head));
                }
                let Some(end) = end_of_head(head, before).filter(|&end| end <= MAX_HEAD) else {
                    return if head.len() > MAX_HEAD { Err(head_too_large()) } else { Ok(&[]) };
                };
                let head = head[..end].to_vec();
                self.accept_head(&head)?;
                Ok(bytes.get(end - before..).unwrap_or_default())
            }
            State::Sized(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                if *left == 0 {
                    self.state = State::Done;
                }
                Ok(&bytes[taken..])
            }
            State::Chunk(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                if *left == 0 {
                    self.state = State::ChunkHead(Vec::new());
                }
                Ok(&bytes[taken..])
            }
            State::ChunkHead(line) => {
                let (complete, rest) = take_line(line, bytes)?;
                if complete {
                    self.state = match httparse::parse_chunk_size(line) {
                        Ok(httparse::Status::Complete((_, 0))) => State::Trailer(Vec::new()),
                        Ok(httparse::Status::Complete((_, size))) => State::Chunk(size.saturating_add(2)),
                        _ => return Err(bad_chunk()),
                    };
                }
                Ok(rest)
            }
            State::Trailer(line) => {
                let (complete, rest) = take_line(line, bytes)?;
                if complete {
                    self.state =
                        if matches!(line.as_slice(), b"\r\n" | b"\n") { State::Done } else { State::Trailer(Vec::new()) };
                }
                Ok(rest)
            }
            State::UntilClose => Ok(&[]),
            State::Done => Ok(bytes),
        }
    }

    /// Reads the head, and how the body's end will be known (RFC 9112 §6.3).
    fn accept_head(&mut self, head: &[u8]) -> Result<(), Failure> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        match parsed.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Err(head_too_large()),
            _ => return Err(not_http(head)),
        }
        let status = parsed.code.unwrap_or_default();
        if (100..200).contains(&status) && status != 101 {
            // An interim response: the true one follows.
            self.state = State::Head(Vec::new());
            return Ok(());
        }
        self.status = Some(status);
        let values = |name: &'static str| {
            parsed.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
        };
        let says = |name, token: &str| {
            values(name).any(|value| {
                value.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
            })
        };
        self.keeps_alive =
            if parsed.version == Some(1) { !says("connection", "close") } else { says("connection", "keep-alive") };

        self.state = if status == 101 {
            return Err(failure::response(
                "protocol_switched",
                "the server answers with 101 and another protocol, which was not asked for".to_owned(),
                Some("if the service is not HTTP, use --no-request"),
            ));
        } else if self.is_head_request || status == 204 || status == 304 {
            State::Done
        } else if says("transfer-encoding", "chunked") {
            State::ChunkHead(Vec::new())
        } else if let Some(length) = content_length(values("content-length"))? {
            if length == 0 { State::Done } else { State::Sized(length) }
        } else {
            self.keeps_alive = false;
            State::UntilClose
        };
        Ok(())
    }
}

/// Where a head ends whose first `known` bytes hold no end. A line may end without its carriage return (RFC 9112 §2.2).
fn end_of_head(head: &[u8], known: usize) -> Option<usize> {
    let feeds = (known.saturating_sub(2)..head.len()).filter(|&at| head.get(at) == Some(&b'\n'));
    feeds.map(|at| at + 1).find_map(|line| match head.get(line..) {
        Some([b'\n', ..]) => Some(line + 1),
        Some([b'\r', b'\n', ..]) => Some(line + 2),
        _ => None,
    })
}

/// One length, however often it is said; none is none, and others than digits or two lengths are an error (RFC 9110 §8.6).
fn content_length<'v>(values: impl Iterator<Item = &'v [u8]>) -> Result<Option<u64>, Failure> {
    let mut length = None;
    for text in values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii) {
        let digits = Some(text).filter(|text| text.iter().all(u8::is_ascii_digit));
        let number = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
        match number.filter(|number| length.is_none_or(|known| known == *number)) {
            Some(number) => length = Some(number),
            None => return Err(bad_length(text)),
        }
    }
    Ok(length)
}

/// Adds to `line` up to the next line feed. Returns whether it is whole, and what follows.
fn take_line<'b>(line: &mut Vec<u8>, bytes: &'b [u8]) -> Result<(bool, &'b [u8]), Failure> {
    let end = bytes.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
    let (taken, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    line.extend_from_slice(taken);
    if line.len() > MAX_HEAD {
        return Err(bad_chunk());
    }
    Ok((end.is_some(), rest))
}

fn could_be_http(head: &[u8]) -> bool {
    let prefix = b"HTTP/";
    head.iter().zip(prefix).all(|(a, b)| a == b)
}

fn not_http(head: &[u8]) -> Failure {
    let shown: String = String::from_utf8_lossy(head.get(..head.len().min(24)).unwrap_or_default()).escape_debug().collect();
    failure::response(
        "not_http",
        format!("the response is no HTTP/1.1: it begins with \"{shown}\""),
        Some("if the service is not HTTP, use --no-request"),
    )
}

fn head_too_large() -> Failure {
    let message = format!("the head of the response has more than {MAX_HEAD} bytes or {MAX_HEADERS} fields");
    failure::response(
        "head_too_large",
        message,
        Some("ask for another resource with --path, or for nothing with --no-request"),
    )
}

fn bad_length(value: &[u8]) -> Failure {
    let shown: String =
        String::from_utf8_lossy(value.get(..value.len().min(24)).unwrap_or_default()).escape_debug().collect();
    let message = format!("the response's Content-Length is no length, or not the only one: \"{shown}\"");
    failure::response("bad_length", message, None)
}

fn bad_chunk() -> Failure {
    failure::response("bad_chunk", "the chunked response is malformed".to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(text: &str) -> Response {
        let mut whole = Response::to(&Request::default());
        whole.receive(text.as_bytes()).unwrap();
        // However it is cut, it means the same.
        let mut piecewise = Response::to(&Request::default());
        text.as_bytes().chunks(1).for_each(|byte| piecewise.receive(byte).unwrap());
        assert_eq!((whole.status(), whole.is_done()), (piecewise.status(), piecewise.is_done()));
        whole
    }

    #[test]
    fn a_response_ends_where_its_framing_says() {
        assert!(received("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").keeps_alive());
        assert!(!received("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok").is_done());
        assert!(received("HTTP/1.1 204 No Content\r\n\r\n").is_done());
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nT: 1\r\n\r\n";
        assert!(received(chunked).is_done());
        assert!(!received(&chunked[..chunked.len() - 2]).is_done());
        let interim =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        assert_eq!(received(interim).status(), Some(404));
        assert!(!received(interim).keeps_alive());
    }

    #[test]
    fn lines_may_end_without_carriage_returns() {
        let response = received("HTTP/1.1 200 OK\nContent-Length: 2\n\nok");
        assert_eq!((response.status(), response.is_done(), response.keeps_alive()), (Some(200), true, true));
        assert!(received("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: 1\n\n").is_done());
    }

    #[test]
    fn a_length_may_be_said_twice_and_not_two_of_them() {
        let with = |fields: &str| {
            let mut response = Response::to(&Request::default());
            response.receive(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nok").as_bytes()).map(|()| response.is_done())
        };
        assert!(with("Content-Length: 2, 2").unwrap());
        assert!(with("Content-Length: 2\r\nContent-Length: 2").unwrap());
        for wrong in ["2, 3", "-1", "+2", "", "2,", "99999999999999999999999"] {
            let failure = with(&format!("Content-Length: {wrong}")).unwrap_err();
            assert_eq!(failure.name, "bad_length", "{wrong}");
        }
        assert_eq!(with("Content-Length: 2\r\nContent-Length: 3").unwrap_err().name, "bad_length");
    }

    #[test]
    fn a_head_beyond_the_limits_is_not_called_another_protocol() {
        let many: String = (0..=MAX_HEADERS).map(|index| format!("X-{index}: 1\r\n")).collect();
        let long = format!("X: {}\r\n", "a".repeat(MAX_HEAD));
        for fields in [many, long] {
            let mut response = Response::to(&Request::default());
            let failure = response.receive(format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes()).unwrap_err();
            assert_eq!(failure.name, "head_too_large");
        }
    }

    #[test]
    fn another_protocol_is_not_waited_for() {
        let mut response = Response::to(&Request::default());
        let failure = response.receive(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n").unwrap_err();
        assert_eq!(failure.name, "protocol_switched");
    }

    #[test]
    fn a_response_without_framing_ends_with_the_connection() {
        let mut response = received("HTTP/1.0 200 OK\r\n\r\nbody");
        assert!(!response.is_done());
        response.receive_end().unwrap();
        assert!(response.is_done());
    }

    #[test]
    fn what_is_no_response_says_so() {
        let mut response = Response::to(&Request::default());
        assert_eq!(response.receive(b"220 mail ESMTP\r\n").unwrap_err().name, "not_http");
        let mut empty = Response::to(&Request::default());
        assert_eq!(empty.receive_end().unwrap_err().name, "no_response");
        let mut cut = Response::to(&Request::default());
        cut.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").unwrap();
        assert_eq!(cut.receive_end().unwrap_err().name, "response_truncated");
    }

    #[test]
    fn given_headers_replace_the_usual_ones() {
        let options = Request { headers: vec![("Host".into(), "other".into())], ..Request::default() };
        let target = "example.org:8443/x".parse().unwrap();
        let text = String::from_utf8(request(&target, &options, ConnectionReuse::Close)).unwrap();
        assert!(text.starts_with("GET /x HTTP/1.1\r\n") && text.contains("Host: other\r\n"));
        assert_eq!(text.matches("Host:").count(), 1);
        assert!(text.contains("Connection: close\r\n") && text.ends_with("\r\n\r\n"));
    }
}

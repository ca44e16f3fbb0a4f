//! As much of HTTP/1.1 (RFC 9112) as a measuring client needs: bytes in, bytes out.

/// A request whose head is complete.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// How many bytes of the input the head took.
    pub(super) head_bytes: usize,
    /// How many bytes of body follow.
    pub(super) body_bytes: usize,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) expects_continue: bool,
    /// What the client calls itself, cut short.
    pub(crate) user_agent: Option<String>,
    /// Whether it shows that a proxy passes it on.
    pub(crate) is_passed_on: bool,
    method: Method,
    path: String,
    version: Version,
    closes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Http10,
    Http11,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Head,
    Post,
    Other,
}

/// What the input so far amounts to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// More is to come.
    Partial,
    /// A whole head.
    Request(Request),
    /// No request that could be served: send this and close.
    Refused(Response),
}

/// What is sent: `head`, then `filler_bytes` of [`FILLER`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    /// The status line, the fields, and the body as far as it is not filler.
    pub(super) head: Vec<u8>,
    /// How many bytes of filler complete the body.
    pub(super) filler_bytes: usize,
    /// Whether the connection ends with this answer.
    pub(super) closes: bool,
}

/// What long bodies consist of; a TLS record of the greatest size.
pub(super) const FILLER: &[u8] = &[b'x'; 16_384];

const MAX_HEAD_BYTES: usize = 65_536;
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
const MAX_FIELDS: usize = 64;
const MAX_AGENT_CHARS: usize = 120;
const BODY: &[u8] = b"Reprise lab\n";
const CHUNKED_BODY: &[u8] = b"8\r\nReprise \r\n4\r\nlab\n\r\n0\r\n\r\n";

/// Reads a request's head from the start of `input`.
pub(super) fn parse(input: &[u8]) -> Parsed {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    match head.parse(input) {
        Ok(httparse::Status::Complete(head_bytes)) if head_bytes <= MAX_HEAD_BYTES => {
            read_head(&head, head_bytes).map_or_else(Parsed::Refused, Parsed::Request)
        }
        Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD_BYTES => Parsed::Partial,
        Ok(_) | Err(httparse::Error::TooManyHeaders) => Parsed::Refused(Response::refusal(431)),
        Err(_) => Parsed::Refused(Response::refusal(400)),
    }
}

/// Answers a request by its path.
pub(super) fn answer(request: &Request) -> Response {
    if request.method == Method::Other {
        return Response::new(request, 405, "Allow: GET, HEAD, POST\r\n", BODY.len());
    }
    // RFC 9112, section 6.1: HTTP/1.0 knows no chunks.
    if request.path == "/chunked" && request.version == Version::Http11 {
        return Response::chunked(request);
    }
    if let Some(status) = request.path.strip_prefix("/status/") {
        return match status.parse() {
            Ok(status @ 200..=599) => Response::new(request, status, "", BODY.len()),
            _ => Response::new(request, 400, "", BODY.len()),
        };
    }
    if let Some(bytes) = request.path.strip_prefix("/bytes/") {
        return match bytes.parse() {
            Ok(bytes @ 0..=MAX_BODY_BYTES) => Response::new(request, 200, "", bytes),
            _ => Response::new(request, 400, "", BODY.len()),
        };
    }
    Response::new(request, 200, "", BODY.len())
}

impl Response {
    /// The interim response that lets a client send its body (RFC 9110, section 15.2.1).
    pub(super) fn continue_() -> Self {
        Self { head: b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), filler_bytes: 0, closes: false }
    }

    fn new(request: &Request, status: u16, field: &str, body_bytes: usize) -> Self {
        // RFC 9110, sections 15.3.5 and 15.4.5: these two end with the head, and 204 has no Content-Length.
        let bodiless = matches!(status, 204 | 304);
        let length = if bodiless { String::new() } else { format!("Content-Length: {body_bytes}\r\n") };
        let mut answer = Self {
            head: head(status, &format!("Content-Type: text/plain\r\n{length}{field}"), request.connection()),
            filler_bytes: 0,
            closes: request.closes,
        };
        if !bodiless && request.method != Method::Head {
            if body_bytes == BODY.len() {
                answer.head.extend_from_slice(BODY);
            } else {
                answer.filler_bytes = body_bytes;
            }
        }
        answer
    }

    fn chunked(request: &Request) -> Self {
        let mut head = head(200, "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n", request.connection());
        if request.method != Method::Head {
            head.extend_from_slice(CHUNKED_BODY);
        }
        Self { head, filler_bytes: 0, closes: request.closes }
    }

    fn refusal(status: u16) -> Self {
        Self { head: head(status, "Content-Length: 0\r\n", CLOSE), filler_bytes: 0, closes: true }
    }
}

/// Fields that a proxy adds to the requests that it passes on (RFC 9110, section 7.6.3; RFC 7239).
const OF_PROXIES: [&str; 5] = ["via", "forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"];

const CLOSE: &str = "Connection: close\r\n";

impl Request {
    /// What the answer says of the connection. A client of HTTP/1.0 that asked for more requests on it waits for the end unless
    /// told that it may (RFC 9112, appendix C.2.2).
    fn connection(&self) -> &'static str {
        match self.version {
            _ if self.closes => CLOSE,
            Version::Http10 => "Connection: keep-alive\r\n",
            Version::Http11 => "",
        }
    }
}

fn head(status: u16, fields: &str, connection: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} {}\r\n{fields}{connection}\r\n", reason(status)).into_bytes()
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Lab")
}

fn read_head(head: &httparse::Request<'_, '_>, head_bytes: usize) -> Result<Request, Response> {
    let target = head.path.unwrap_or("/");
    let mut request = Request {
        head_bytes,
        body_bytes: 0,
        expects_continue: false,
        user_agent: None,
        // Proxies speak it to the servers behind them; hardly a client does.
        is_passed_on: head.version == Some(0),
        method: match head.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            Some("POST") => Method::Post,
            _ => Method::Other,
        },
        path: target.split('?').next().unwrap_or_default().to_owned(),
        version: if head.version == Some(0) { Version::Http10 } else { Version::Http11 },
        // RFC 9112, section 9.3: HTTP/1.0 closes unless told otherwise.
        closes: head.version == Some(0),
    };
    for field in head.headers.iter() {
        let value = std::str::from_utf8(field.value).map_err(|_| Response::refusal(400))?.trim();
        if field.name.eq_ignore_ascii_case("content-length") {
            let bytes: usize = value.parse().map_err(|_| Response::refusal(400))?;
            if bytes > MAX_BODY_BYTES {
                return Err(Response::refusal(413));
            }
            request.body_bytes = bytes;
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            // RFC 9112, section 6.3 allows a server to ask for a length instead.
            return Err(Response::refusal(411));
        } else if field.name.eq_ignore_ascii_case("expect") {
            request.expects_continue = value.eq_ignore_ascii_case("100-continue");
        } else if field.name.eq_ignore_ascii_case("user-agent") {
            request.user_agent = Some(value.chars().filter(|c| !c.is_control()).take(MAX_AGENT_CHARS).collect());
        } else if OF_PROXIES.iter().any(|name| field.name.eq_ignore_ascii_case(name)) {
            request.is_passed_on = true;
        } else if field.name.eq_ignore_ascii_case("connection") {
            for option in value.split(',').map(str::trim) {
                if option.eq_ignore_ascii_case("close") {
                    request.closes = true;
                } else if option.eq_ignore_ascii_case("keep-alive") && head.version == Some(0) {
                    request.closes = false;
                }
            }
        }
    }
    Ok(request)
}

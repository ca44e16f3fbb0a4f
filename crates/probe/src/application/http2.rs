//! HTTP/2 (RFC 9113), where ALPN chose it. The `h2` crate speaks it, driven by hand: here it has no socket and no runtime,
//! only a buffer for each direction, and is polled when bytes have come.

use std::cell::RefCell;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Connection, ResponseFuture, SendRequest};
use http::{HeaderName, HeaderValue, Method, Uri, Version};
use reprise_trace::Failure;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Exchange;
use crate::failure;
use crate::options::Request;
use reprise_attempt::Target;

/// As ALPN names it (RFC 9113 §3.2).
pub(crate) const ALPN: &str = "h2";

/// A response head longer than this is none.
const MAX_HEAD: u32 = 64 * 1024;

pub(crate) struct Http2 {
    request: http::Request<()>,
    /// The preface and the first request, encoded before there is a connection.
    encoded: Option<Vec<u8>>,
    wire: Wire,
    sender: SendRequest<Bytes>,
    connection: Connection<Wire, Bytes>,
    /// The server has closed, or sent GOAWAY and done all that was asked.
    connection_is_over: bool,
    stage: Stage,
    status: Option<u16>,
}

/// How far the current request is.
enum Stage {
    Awaited(ResponseFuture),
    Begun(RecvStream),
    Done,
}

impl Http2 {
    pub(crate) fn new(target: &Target, of: &Request) -> Result<Self, Failure> {
        let request = request(target, of)?;
        let wire = Wire::default();
        let mut builder = h2::client::Builder::new();
        builder.enable_push(false).max_header_list_size(MAX_HEAD);
        let handshake = pin!(builder.handshake::<_, Bytes>(wire.clone()));
        // To write the preface waits for nobody: the buffer takes it.
        let Poll::Ready(begun) = handshake.poll(&mut context()) else { return Err(stuck()) };
        let (sender, connection) = begun.map_err(|error| broken(&error))?;
        let mut http2 = Self {
            request,
            encoded: None,
            wire,
            sender,
            connection,
            connection_is_over: false,
            stage: Stage::Done,
            status: None,
        };
        http2.encoded = Some(http2.encode()?);
        Ok(http2)
    }

    fn encode(&mut self) -> Result<Vec<u8>, Failure> {
        self.status = None;
        match self.sender.poll_ready(&mut context()) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Err(broken(&error)),
            Poll::Pending => return Err(stuck()),
        }
        let (response, _) = self.sender.send_request(self.request.clone(), true).map_err(|error| broken(&error))?;
        self.stage = Stage::Awaited(response);
        self.drive()?;
        Ok(self.wire.take_outgoing())
    }

    /// Polls until nothing moves any more. Nobody wakes anybody: everything is polled again when bytes have come.
    fn drive(&mut self) -> Result<(), Failure> {
        loop {
            let ended = self.drive_connection();
            let moved = self.drive_response();
            match (moved, ended) {
                (Err(failure), _) => return Err(failure),
                // What was asked is answered; how the connection ends concerns nobody.
                (Ok(false), _) if matches!(self.stage, Stage::Done) => return Ok(()),
                (Ok(false), ended) => return ended,
                (Ok(true), _) => {}
            }
        }
    }

    fn drive_connection(&mut self) -> Result<(), Failure> {
        if self.connection_is_over {
            return Ok(());
        }
        match Pin::new(&mut self.connection).poll(&mut context()) {
            Poll::Pending => Ok(()),
            Poll::Ready(result) => {
                self.connection_is_over = true;
                result.map_err(|error| broken(&error))
            }
        }
    }

    /// Returns whether anything was new.
    fn drive_response(&mut self) -> Result<bool, Failure> {
        match &mut self.stage {
            Stage::Awaited(response) => match Pin::new(response).poll(&mut context()) {
                Poll::Pending => Ok(false),
                Poll::Ready(response) => {
                    let response = response.map_err(|error| broken(&error))?;
                    self.status = Some(response.status().as_u16());
                    self.stage = Stage::Begun(response.into_body());
                    Ok(true)
                }
            },
            Stage::Begun(body) => match body.poll_data(&mut context()) {
                Poll::Pending => Ok(false),
                // What was read makes room for more (RFC 9113 §5.2).
                Poll::Ready(Some(data)) => {
                    let count = data.map_err(|error| broken(&error))?.len();
                    body.flow_control().release_capacity(count).map_err(|error| broken(&error))?;
                    Ok(true)
                }
                Poll::Ready(None) => match body.poll_trailers(&mut context()) {
                    Poll::Pending => Ok(false),
                    Poll::Ready(trailers) => {
                        trailers.map_err(|error| broken(&error))?;
                        self.stage = Stage::Done;
                        Ok(true)
                    }
                },
            },
            Stage::Done => Ok(false),
        }
    }
}

impl Exchange for Http2 {
    fn ask(&mut self) -> Result<Vec<u8>, Failure> {
        self.encoded.take().map_or_else(|| self.encode(), Ok)
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.wire.0.borrow_mut().incoming.extend_from_slice(bytes);
        self.drive()
    }

    fn receive_end(&mut self) -> Result<(), Failure> {
        self.wire.0.borrow_mut().has_ended = true;
        let driven = self.drive();
        match &self.stage {
            Stage::Done => Ok(()),
            Stage::Awaited(_) => driven.and(Err(failure::response(
                "no_response",
                "the server closed the connection without a response".to_owned(),
                Some("if the service is not HTTP, use --no-request"),
            ))),
            Stage::Begun(_) => Err(failure::response(
                "response_truncated",
                "the server closed the connection in the middle of its response".to_owned(),
                None,
            )),
        }
    }

    /// Settings to be acknowledged, pings to be answered, room for more.
    fn outgoing(&mut self) -> Vec<u8> {
        self.wire.take_outgoing()
    }

    /// With the head of the response. The server's settings come before, without regard to the request.
    fn has_begun(&self) -> bool {
        self.status.is_some()
    }

    fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    fn status(&self) -> Option<u16> {
        self.status
    }

    fn keeps_alive(&self) -> bool {
        self.is_done() && !self.connection_is_over
    }
}

/// The request with its pseudo-header fields (RFC 9113 §8.3.1); a Host field that was given is its authority.
fn request(target: &Target, of: &Request) -> Result<http::Request<()>, Failure> {
    let unfit = |what: &str| failure::response("unfit_request", format!("{what} cannot be sent by HTTP/2"), None);
    let host = of.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = host.map_or_else(|| target.authority(), |(_, value)| value.clone());
    let path = of.path.as_deref().unwrap_or(&target.path);
    let uri = Uri::builder().scheme("https").authority(authority.as_str()).path_and_query(path).build();
    let method = Method::from_bytes(of.method.as_bytes()).map_err(|_| unfit("the method"))?;
    let mut request = http::Request::new(());
    *request.uri_mut() = uri.map_err(|_| unfit("the host or the path"))?;
    *request.method_mut() = method;
    *request.version_mut() = Version::HTTP_2;
    let headers = request.headers_mut();
    headers.insert(http::header::USER_AGENT, HeaderValue::from_static(concat!("reprise/", env!("CARGO_PKG_VERSION"))));
    headers.insert(http::header::ACCEPT, HeaderValue::from_static("*/*"));
    let given = |name: &str| of.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    for name in [http::header::USER_AGENT, http::header::ACCEPT].iter().filter(|name| given(name.as_str())) {
        headers.remove(name);
    }
    for (name, value) in of.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        let field = || unfit(&format!("the header field '{name}'"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| field())?;
        headers.append(name, HeaderValue::from_str(value).map_err(|_| field())?);
    }
    Ok(request)
}

fn broken(error: &h2::Error) -> Failure {
    let hint = "--alpn http/1.1 asks by HTTP/1.1; if the service is not HTTP, use --no-request";
    failure::response("http2_error", format!("HTTP/2 came to no response: {error}"), Some(hint))
}

/// The server allows no further request, which its settings may say.
fn stuck() -> Failure {
    failure::response("http2_blocked", "the server's settings allow no request by HTTP/2".to_owned(), None)
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Both directions of a connection that somebody else moves.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<Buffers>>);

#[derive(Default)]
struct Buffers {
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// Nothing more will come in.
    has_ended: bool,
}

impl Wire {
    fn take_outgoing(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.borrow_mut().outgoing)
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffers = self.0.borrow_mut();
        if buffers.incoming.is_empty() && !buffers.has_ended {
            return Poll::Pending;
        }
        let count = buffers.incoming.len().min(buffer.remaining());
        let taken: Vec<u8> = buffers.incoming.drain(..count).collect();
        buffer.put_slice(&taken);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().outgoing.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SETTINGS without any, HEADERS with `:status` 200 from the static table, DATA "ok" that ends stream 1.
    const RESPONSE: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\x01\0\0\0\x01ok";

    fn asked() -> Http2 {
        let mut http2 = Http2::new(&"example.org/x".parse().unwrap(), &Request::default()).unwrap();
        let bytes = http2.ask().unwrap();
        assert!(bytes.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        http2
    }

    #[test]
    fn a_response_begins_with_its_head_and_not_with_the_settings() {
        let mut http2 = asked();
        http2.receive(&RESPONSE[..9]).unwrap();
        assert!(!http2.has_begun());
        // The settings are acknowledged.
        assert_eq!(http2.outgoing(), b"\0\0\0\x04\x01\0\0\0\0");
        http2.receive(&RESPONSE[9..19]).unwrap();
        assert!(http2.has_begun() && !http2.is_done());
        http2.receive(&RESPONSE[19..]).unwrap();
        assert_eq!((http2.is_done(), http2.status(), http2.keeps_alive()), (true, Some(200), true));
    }

    #[test]
    fn however_it_is_cut_it_means_the_same() {
        let mut http2 = asked();
        RESPONSE.chunks(1).for_each(|byte| http2.receive(byte).unwrap());
        assert_eq!((http2.is_done(), http2.status()), (true, Some(200)));
        http2.outgoing();
        let again = http2.ask().unwrap();
        assert_eq!(again.get(3), Some(&1), "HEADERS, without another preface");
    }

    #[test]
    fn what_is_no_response_says_so() {
        assert_eq!(asked().receive(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap_err().name, "http2_error");
        for cut in 0..RESPONSE.len() {
            let mut http2 = asked();
            http2.receive(&RESPONSE[..cut]).unwrap();
            assert!(http2.receive_end().is_err(), "{cut}");
        }
    }
}

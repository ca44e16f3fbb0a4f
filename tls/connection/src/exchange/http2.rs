//! HTTP/2 (RFC 9113), where ALPN chose it. The `h2` crate speaks it, driven by hand: here it has no socket and no runtime,
//! only a buffer for each direction, and is polled when bytes have come.

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Connection, ResponseFuture, SendRequest};
use http::{HeaderName, HeaderValue, Method, Uri, Version};
use reprise_model::{FaultName, Location};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::http::{Request, USER_AGENT};
use super::{Exchange, Reply};
use crate::fault::{Detail, Fault, RequestPart};
use crate::target::Target;

/// As ALPN names it (RFC 9113 §3.2).
pub const ALPN: &[u8] = b"h2";

/// What a peer may make us answer while nothing of it is taken: it could send pings without end.
const MAX_OUTGOING: usize = 1024 * 1024;

/// A response head longer than this is none.
const MAX_HEAD: u32 = 64 * 1024;

/// One request, repeated on each connection and on one that is kept alive. Nothing is built before it begins.
pub struct Http2 {
    target: Arc<Target>,
    of: Arc<Request>,
    current: Option<Current>,
    encoded: Vec<u8>,
}

/// A connection.
struct Current {
    request: http::Request<()>,
    wire: Wire,
    sender: SendRequest<Bytes>,
    connection: Connection<Wire, Bytes>,
    /// The server has closed, or sent GOAWAY and done all that was asked.
    is_over: bool,
    stage: Stage,
    status: Option<u16>,
    body: u64,
    location: Option<Location>,
}

/// How far the current request is.
enum Stage {
    Awaited(ResponseFuture),
    Begun(RecvStream),
    Done,
}

impl Http2 {
    /// For connections that all send the same request.
    pub fn new(target: Arc<Target>, of: Arc<Request>) -> Self {
        Self { target, of, current: None, encoded: Vec::new() }
    }

    fn current(&mut self) -> Result<&mut Current, Fault> {
        self.current.as_mut().ok_or(Fault::new(FaultName::Closed))
    }
}

impl Exchange for Http2 {
    fn begin(&mut self, _: Option<&[u8]>) -> Result<(), Fault> {
        self.current = None;
        self.current = Some(Current::new(request(&self.target, &self.of)?)?);
        Ok(())
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        self.encoded = self.current()?.encode()?;
        Ok(&self.encoded)
    }

    fn receive(&mut self, data: &[u8]) -> Result<Reply, Fault> {
        let current = self.current()?;
        if current.is_over && matches!(current.stage, Stage::Done) {
            // Nobody would read it.
            return Ok(current.reply());
        }
        current.wire.buffers().incoming.extend_from_slice(data);
        current.drive()?;
        Ok(current.reply())
    }

    /// Settings to be acknowledged, pings to be answered, room for more.
    fn take_outgoing(&mut self) -> Vec<u8> {
        self.current.as_ref().map(|current| current.wire.take_outgoing()).unwrap_or_default()
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        let current = self.current()?;
        current.wire.buffers().has_ended = true;
        let driven = current.drive();
        match &current.stage {
            Stage::Done => Ok(Reply::Done),
            Stage::Awaited(_) => driven.and(Err(Fault::new(FaultName::NoResponse))),
            Stage::Begun(_) => Err(Fault::new(FaultName::ResponseTruncated)),
        }
    }

    fn status(&self) -> Option<u16> {
        self.current.as_ref()?.status
    }

    fn body(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.body)
    }

    fn location(&self) -> Option<Location> {
        self.current.as_ref()?.location
    }

    fn keeps_alive(&self) -> bool {
        self.current.as_ref().is_some_and(|current| matches!(current.stage, Stage::Done) && !current.is_over)
    }
}

impl Current {
    fn new(request: http::Request<()>) -> Result<Self, Fault> {
        let wire = Wire::default();
        let mut builder = h2::client::Builder::new();
        builder.enable_push(false).max_header_list_size(MAX_HEAD);
        let handshake = pin!(builder.handshake::<_, Bytes>(wire.clone()));
        // To write the preface waits for nobody: the buffer takes it.
        let Poll::Ready(begun) = handshake.poll(&mut context()) else { return Err(blocked()) };
        let (sender, connection) = begun.map_err(|error| broken(&error))?;
        Ok(Self {
            request,
            wire,
            sender,
            connection,
            is_over: false,
            stage: Stage::Done,
            status: None,
            body: 0,
            location: None,
        })
    }

    /// A request begins with the head of its response. The server's settings come before, without regard to the request.
    fn reply(&self) -> Reply {
        match (&self.stage, self.status) {
            (Stage::Done, _) => Reply::Done,
            (_, Some(_)) => Reply::Begun,
            (_, None) => Reply::Awaited,
        }
    }

    fn encode(&mut self) -> Result<Vec<u8>, Fault> {
        (self.status, self.body, self.location) = (None, 0, None);
        match self.sender.poll_ready(&mut context()) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Err(broken(&error)),
            Poll::Pending => return Err(blocked()),
        }
        let (response, _) = self.sender.send_request(self.request.clone(), true).map_err(|error| broken(&error))?;
        self.stage = Stage::Awaited(response);
        self.drive()?;
        Ok(self.wire.take_outgoing())
    }

    /// Polls until nothing moves any more. Nobody wakes anybody: everything is polled again when bytes have come.
    fn drive(&mut self) -> Result<(), Fault> {
        loop {
            let ended = self.drive_connection();
            let moved = self.drive_response();
            match (moved, ended) {
                (Err(fault), _) => return Err(fault),
                // What was asked is answered; how the connection ends concerns nobody.
                (Ok(false), _) if matches!(self.stage, Stage::Done) => return Ok(()),
                (Ok(false), ended) => return ended,
                (Ok(true), _) => {}
            }
        }
    }

    fn drive_connection(&mut self) -> Result<(), Fault> {
        if self.is_over {
            return Ok(());
        }
        match Pin::new(&mut self.connection).poll(&mut context()) {
            Poll::Pending => Ok(()),
            Poll::Ready(result) => {
                self.is_over = true;
                result.map_err(|error| broken(&error))
            }
        }
    }

    /// Returns whether anything was new.
    fn drive_response(&mut self) -> Result<bool, Fault> {
        match &mut self.stage {
            Stage::Awaited(response) => match Pin::new(response).poll(&mut context()) {
                Poll::Pending => Ok(false),
                Poll::Ready(response) => {
                    let response = response.map_err(|error| broken(&error))?;
                    self.status = Some(response.status().as_u16());
                    let location = response.headers().get(http::header::LOCATION);
                    self.location = location.map(|value| Location::of(value.as_bytes()));
                    self.stage = Stage::Begun(response.into_body());
                    Ok(true)
                }
            },
            Stage::Begun(body) => match body.poll_data(&mut context()) {
                Poll::Pending => Ok(false),
                // What was read makes room for more (RFC 9113 §5.2).
                Poll::Ready(Some(data)) => {
                    let count = data.map_err(|error| broken(&error))?.len();
                    self.body += count as u64;
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

/// The request with its pseudo-header fields (RFC 9113 §8.3.1); a Host field that was given is its authority.
fn request(target: &Target, of: &Request) -> Result<http::Request<()>, Fault> {
    let unfit = |part| Fault::new(FaultName::UnfitRequest).with(Detail::Unfit(part));
    let host = of.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = host.map_or_else(|| target.authority(), |(_, value)| value.clone());
    let path = of.path(target);
    let uri = Uri::builder().scheme("https").authority(authority.as_str()).path_and_query(path).build();
    let method = Method::from_bytes(of.method.as_bytes()).map_err(|_| unfit(RequestPart::Method))?;
    let mut request = http::Request::new(());
    *request.uri_mut() = uri.map_err(|_| unfit(RequestPart::HostOrPath))?;
    *request.method_mut() = method;
    *request.version_mut() = Version::HTTP_2;
    let headers = request.headers_mut();
    for (name, value) in [(http::header::USER_AGENT, USER_AGENT), (http::header::ACCEPT, "*/*")] {
        if !of.has(name.as_str()) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    for (name, value) in of.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        let field = || unfit(RequestPart::Field(name.clone()));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| field())?;
        headers.append(name, HeaderValue::from_str(value).map_err(|_| field())?);
    }
    Ok(request)
}

fn broken(error: &h2::Error) -> Fault {
    Fault::new(FaultName::Http2Error).with(Detail::Said(error.to_string().into_bytes()))
}

/// The server allows no further request, which its settings may say.
fn blocked() -> Fault {
    Fault::new(FaultName::Http2Blocked)
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Both directions of a connection that somebody else moves. Nobody else holds the lock: it is there for places that move to
/// another thread, as those of a load do.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Buffers>>);

#[derive(Default)]
struct Buffers {
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// Nothing more will come in.
    has_ended: bool,
}

impl Wire {
    fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_outgoing(&self) -> Vec<u8> {
        std::mem::take(&mut self.buffers().outgoing)
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffers = self.buffers();
        if buffers.incoming.is_empty() && !buffers.has_ended {
            return Poll::Pending;
        }
        let count = buffers.incoming.len().min(buffer.remaining());
        buffer.put_slice(buffers.incoming.get(..count).unwrap_or_default());
        drop(buffers.incoming.drain(..count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut buffers = self.buffers();
        if buffers.outgoing.len() > MAX_OUTGOING {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        buffers.outgoing.extend_from_slice(bytes);
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
    use proptest::prelude::*;

    use super::*;

    /// SETTINGS without any, HEADERS with `:status` 200 from the static table, DATA "ok" that ends stream 1.
    const RESPONSE: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\x01\0\0\0\x01ok";

    fn asked() -> Http2 {
        let mut http2 = Http2::new(Arc::new("example.org/x".parse().unwrap()), Arc::new(Request::default()));
        begin(&mut http2);
        http2
    }

    fn begin(http2: &mut Http2) {
        http2.begin(Some(ALPN)).unwrap();
        assert!(http2.request().unwrap().starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    }

    #[test]
    fn a_response_begins_with_its_head_and_not_with_the_settings() {
        let mut http2 = asked();
        assert_eq!(http2.receive(&RESPONSE[..9]), Ok(Reply::Awaited));
        // The settings are acknowledged.
        assert_eq!(http2.take_outgoing(), b"\0\0\0\x04\x01\0\0\0\0");
        assert_eq!(http2.receive(&RESPONSE[9..19]), Ok(Reply::Begun));
        assert_eq!(http2.receive(&RESPONSE[19..]), Ok(Reply::Done));
        assert_eq!((http2.status(), http2.keeps_alive()), (Some(200), true));
    }

    #[test]
    fn however_it_is_cut_it_means_the_same() {
        let mut http2 = asked();
        let replies: Vec<Reply> = RESPONSE.chunks(1).map(|byte| http2.receive(byte).unwrap()).collect();
        assert_eq!((replies.last(), http2.status()), (Some(&Reply::Done), Some(200)));
        http2.take_outgoing();
        assert_eq!(http2.request().unwrap().get(3), Some(&1), "HEADERS, without another preface");
    }

    #[test]
    fn each_connection_begins_anew() {
        let mut http2 = asked();
        http2.receive(&RESPONSE[..20]).unwrap();
        begin(&mut http2);
        assert_eq!(http2.status(), None);
        assert_eq!(http2.receive(RESPONSE), Ok(Reply::Done));
        let mut unbegun = Http2::new(Arc::new("example.org/x".parse().unwrap()), Arc::new(Request::default()));
        assert_eq!(unbegun.request().unwrap_err().name, FaultName::Closed);
    }

    #[test]
    fn what_is_no_response_says_so() {
        assert_eq!(asked().receive(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap_err().name, FaultName::Http2Error);
        for cut in 0..RESPONSE.len() {
            let mut http2 = asked();
            http2.receive(&RESPONSE[..cut]).unwrap();
            assert!(http2.receive_end().is_err(), "{cut}");
        }
    }

    #[test]
    fn a_peer_cannot_fill_memory_after_its_response() {
        const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\x0012345678";
        let mut http2 = asked();
        assert_eq!(http2.receive(RESPONSE), Ok(Reply::Done));
        // As long as nobody takes the answers.
        let pings = PING.repeat(1000);
        for _ in 0..200 {
            assert_eq!(http2.receive(&pings), Ok(Reply::Done));
        }
        let buffers = http2.current.as_ref().unwrap().wire.buffers();
        assert!(buffers.outgoing.len() < 2 * MAX_OUTGOING, "{} bytes to send", buffers.outgoing.len());
        assert!(buffers.incoming.len() < 2 * pings.len(), "{} bytes unread", buffers.incoming.len());
    }

    #[test]
    fn a_field_that_http2_has_no_place_for_is_named() {
        let request = Request { headers: vec![("a b".into(), "1".into())], ..Request::default() };
        let fault = Http2::new(Arc::new("example.org/x".parse().unwrap()), Arc::new(request)).begin(None).unwrap_err();
        assert_eq!(fault, Fault::new(FaultName::UnfitRequest).with(Detail::Unfit(RequestPart::Field("a b".to_owned()))));
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200), known in 0..=RESPONSE.len()) {
            let mut http2 = asked();
            let text = [&RESPONSE[..known], &bytes].concat();
            if http2.receive(&text).is_ok() {
                let _ = http2.receive_end();
            }
        }
    }
}

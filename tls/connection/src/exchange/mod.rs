//! What is said once the handshake is done: a request by the HTTP version that ALPN chose, the question of a protocol that
//! began in the clear, or of DNS over TLS, or nothing.

mod application;
mod dns;
mod http;
mod http1;
mod http2;
mod question;
mod silent;

use std::net::SocketAddr;

pub use application::{Application, HttpApplication, Negotiated};
pub use dns::ALPN as DNS_ALPN;
pub use http::{ConnectionReuse, Request};
pub use http1::{Http1, MAX_HEAD, MAX_HEADERS};
pub use http2::{ALPN as HTTP2_ALPN, Http2};
pub use question::Question;
pub use silent::Silent;

use reprise_model::Location;

use crate::fault::Fault;

/// Requests and their responses over one connection after the other, without any input or output.
pub trait Exchange {
    /// The transport is established, from this address of the client's: told where a prologue comes before TLS, since the
    /// protocols that begin in the clear have the client introduce itself.
    fn connected(&mut self, _client: SocketAddr) {}

    /// Begins on a new connection, on which ALPN chose this protocol. Early data begins it with the protocol of the connection
    /// that gave the ticket; where it was rejected, it is begun anew.
    ///
    /// # Errors
    /// If the request cannot be sent by that protocol.
    fn begin(&mut self, alpn: Option<&[u8]>) -> Result<(), Fault>;

    /// The bytes of the next request; none where nothing is asked.
    ///
    /// # Errors
    /// If the connection takes no further request.
    fn request(&mut self) -> Result<&[u8], Fault>;

    /// Takes bytes that have come.
    ///
    /// # Errors
    /// If they are no response, or more than one.
    fn receive(&mut self, data: &[u8]) -> Result<Reply, Fault>;

    /// What the protocol wants to be said to them, apart from the next request; each byte is given once.
    fn take_outgoing(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// The connection has ended: [`Reply::Done`] if that ends the response as it should.
    ///
    /// # Errors
    /// If the response is not whole.
    fn receive_end(&mut self) -> Result<Reply, Fault>;

    /// The status of the current response, once its head is there.
    fn status(&self) -> Option<u16> {
        None
    }

    /// Bytes of the body of the response, or of the whole answer of a service that is not HTTP.
    fn body(&self) -> u64 {
        0
    }

    /// Where the response sends the client.
    fn location(&self) -> Option<Location> {
        None
    }

    /// What the response says that the server is, where that is kept.
    fn software(&self) -> Option<String> {
        None
    }

    /// The time that the response says it was made at, in seconds since 1970, where software is kept.
    fn date(&self) -> Option<u64> {
        None
    }

    /// A number by which the body of the response is known, where software is kept.
    fn content(&self) -> Option<u64> {
        None
    }

    /// Whether the connection may carry another request, once this one is answered.
    fn keeps_alive(&self) -> bool;

    /// What is said before closing; may be empty.
    fn farewell(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

/// How far the response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Its first byte has not come; an interim response before it may have.
    Awaited,
    /// Its first byte has come, of HTTP/1.1 with as many as tell it from an interim one.
    Begun,
    /// Its last byte has come.
    Done,
}

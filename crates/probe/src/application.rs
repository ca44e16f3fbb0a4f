//! What is said once the handshake is done: a request by the HTTP version that ALPN chose, the question of a protocol
//! that began in the clear, or nothing.

mod http1;
mod http2;
mod question;

use std::net::IpAddr;

use reprise_trace::Failure;

use crate::options::{ConnectionReuse, Options, Request};
use crate::starttls::{Introduction, StartTls};
use reprise_attempt::Target;

/// What every connection to one target says.
pub(crate) enum Application {
    /// Nothing: handshake, wait for tickets, close.
    Silent,
    /// An HTTP request.
    Http(Target, Request, ConnectionReuse),
    /// The question of a protocol with STARTTLS, to this host.
    Starttls(StartTls, String),
}

/// What one connection will say, made ready before it is known what ALPN chooses.
pub(crate) enum Prepared {
    Silent,
    Http { http1: Box<http1::Http1>, http2: Option<Result<Box<http2::Http2>, Failure>> },
    Starttls(StartTls, String),
}

/// Requests and their responses over one connection, without any input or output.
pub(crate) trait Exchange {
    /// The bytes of the next request.
    fn ask(&mut self) -> Result<Vec<u8>, Failure>;

    /// Takes bytes that have come.
    fn receive(&mut self, bytes: &[u8]) -> Result<(), Failure>;

    /// What the protocol wants to be said to them, apart from the next request.
    fn outgoing(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// The connection has ended.
    fn receive_end(&mut self) -> Result<(), Failure>;

    /// Whether the first byte of the response has come.
    fn has_begun(&self) -> bool;

    /// Whether the last byte has come.
    fn is_done(&self) -> bool;

    /// The status, where there is one and its head is there.
    fn status(&self) -> Option<u16> {
        None
    }

    /// Whether the connection may carry another request, once this one is done.
    fn keeps_alive(&self) -> bool;

    /// What is said before closing.
    fn farewell(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

impl Application {
    pub(crate) fn new(target: &Target, options: &Options) -> Self {
        match (&options.request, options.starttls) {
            (None, _) => Self::Silent,
            (Some(request), None) => Self::Http(target.clone(), request.clone(), options.connections),
            (Some(_), Some(starttls)) => Self::Starttls(starttls, target.host.clone()),
        }
    }

    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Silent)
    }

    /// How many bytes of early data a request would be, by whichever protocol takes more; `None` where nothing may be sent
    /// early.
    pub(crate) fn early_data(&self) -> Option<usize> {
        match self {
            Self::Http(_, request, _) if request.may_be_replayed() => {
                let Prepared::Http { mut http1, http2 } = self.prepare(&[http2::ALPN.as_bytes().to_vec()]) else {
                    return None;
                };
                let http2 = http2.and_then(Result::ok).and_then(|mut http2| http2.ask().ok());
                Some(http1.ask().ok()?.len().max(http2.map_or(0, |request| request.len())))
            }
            _ => None,
        }
    }

    /// Makes ready what can be, for each of the protocols that `alpn` offers: it is part of no phase.
    pub(crate) fn prepare(&self, alpn: &[Vec<u8>]) -> Prepared {
        match self {
            Self::Silent => Prepared::Silent,
            Self::Http(target, request, reuse) => {
                let offers_http2 = alpn.iter().any(|protocol| protocol == http2::ALPN.as_bytes());
                Prepared::Http {
                    http1: Box::new(http1::Http1::new(target, request, *reuse)),
                    http2: offers_http2.then(|| http2::Http2::new(target, request).map(Box::new)),
                }
            }
            Self::Starttls(starttls, host) => Prepared::Starttls(*starttls, host.clone()),
        }
    }
}

impl Prepared {
    /// What is said from `client` where ALPN chose `alpn`; `None` for nothing.
    pub(crate) fn choose(self, alpn: Option<&str>, client: IpAddr) -> Result<Option<Box<dyn Exchange>>, Failure> {
        Ok(match self {
            Self::Silent => None,
            Self::Http { http2: Some(http2), .. } if alpn == Some(http2::ALPN) => Some(http2?),
            Self::Http { http1, .. } => Some(http1),
            Self::Starttls(starttls, host) => {
                let introduction = Introduction { host, client };
                Some(Box::new(question::Question::new(starttls.protocol(), &introduction)))
            }
        })
    }
}

//! What every connection to one target says, by whichever protocol ALPN chooses.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use reprise_model::Location;

use super::http::{ConnectionReuse, Request};
use super::http1::Http1;
use super::http2::{self, Http2};
use super::question::Question;
use super::silent::Silent;
use super::{Exchange, Reply};
use crate::fault::Fault;
use crate::prologue::StartTls;
use crate::target::Target;

/// What every connection to one target says.
#[derive(Clone)]
pub enum Application {
    /// Nothing: handshake, wait for tickets, close.
    Silent,
    /// An HTTP request.
    Http(HttpApplication),
    /// An HTTP/1.1 request by its bytes, whatever ALPN chooses.
    Http1 {
        /// From the request line to the end of its head, and its body if it has one.
        request: Arc<[u8]>,
        /// Whether its method is HEAD: the response has no body, whatever its head says.
        is_head: bool,
    },
    /// The question of a protocol that began in the clear, to this host.
    Question(StartTls, String),
    /// A question of DNS over TLS.
    Dns,
}

/// An HTTP request to one target, made ready once for all connections.
#[derive(Clone)]
pub struct HttpApplication {
    target: Arc<Target>,
    request: Arc<Request>,
    http1: Arc<[u8]>,
    early_length: OnceLock<usize>,
}

/// The exchange of an [`Application`]: it picks its protocol when it begins.
pub struct Negotiated(Choice);

enum Choice {
    One(Box<dyn Exchange + Send>),
    Http { http1: Box<Http1>, http2: Box<Http2>, by_http2: bool },
}

impl Application {
    /// This request to this target; `reuse`: what HTTP/1.1 says of the connection ([`Request::text`]).
    pub fn http(target: Target, request: Request, reuse: Option<ConnectionReuse>) -> Self {
        let http1 = request.text(&target, reuse);
        let (target, request) = (Arc::new(target), Arc::new(request));
        Self::Http(HttpApplication { target, request, http1, early_length: OnceLock::new() })
    }

    /// The same over connections that the server leaves open until the client ends them, where its protocol has a word for that.
    pub fn kept_open(&self) -> Self {
        match self {
            Self::Http(http) => Self::http((*http.target).clone(), (*http.request).clone(), None),
            other => other.clone(),
        }
    }

    /// The method of the HTTP request; `None` where there is none.
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::Http(http) => Some(&http.request.method),
            Self::Http1 { request, .. } => str::from_utf8(request.split(|byte| *byte == b' ').next()?).ok(),
            Self::Silent | Self::Question(..) | Self::Dns => None,
        }
    }

    /// Whether nothing is asked.
    pub fn is_silent(&self) -> bool {
        matches!(self, Self::Silent)
    }

    /// An exchange for one connection after the other; `keeps_software`: it keeps what the response says that the server is.
    pub fn exchange(&self, keeps_software: bool) -> Negotiated {
        Negotiated(match self {
            Self::Silent => Choice::One(Box::new(Silent)),
            Self::Http(http) => {
                let http1 = if keeps_software { http.http1().keeping_software() } else { http.http1() };
                let (http1, http2) = (Box::new(http1), Box::new(http.http2()));
                Choice::Http { http1, http2, by_http2: false }
            }
            Self::Http1 { request, is_head } => Choice::One(Box::new(Http1::new(Arc::clone(request), *is_head))),
            Self::Dns => Choice::One(Box::new(Question::of_dns())),
            Self::Question(protocol, host) => Choice::One(Box::new(Question::new(*protocol, host.clone()))),
        })
    }

    /// How many bytes of early data the request would be, by whichever protocol takes more; `None` where nothing may be sent
    /// early.
    pub fn early_request_length(&self) -> Option<usize> {
        match self {
            Self::Http(http) if http.request.may_be_replayed() => Some(http.early_length()),
            _ => None,
        }
    }
}

impl HttpApplication {
    fn http1(&self) -> Http1 {
        Http1::new(Arc::clone(&self.http1), self.request.is_head())
    }

    fn http2(&self) -> Http2 {
        Http2::new(Arc::clone(&self.target), Arc::clone(&self.request))
    }

    fn early_length(&self) -> usize {
        *self.early_length.get_or_init(|| {
            let mut http2 = self.http2();
            let begun = http2.begin(Some(http2::ALPN));
            let length = begun.and_then(|()| http2.request().map(<[u8]>::len));
            // A request that HTTP/2 cannot carry goes by HTTP/1.1, or not at all.
            self.http1.len().max(length.unwrap_or_default())
        })
    }
}

impl Negotiated {
    fn chosen(&self) -> &dyn Exchange {
        match &self.0 {
            Choice::One(exchange) => exchange.as_ref(),
            Choice::Http { http2, by_http2: true, .. } => http2.as_ref(),
            Choice::Http { http1, .. } => http1.as_ref(),
        }
    }

    fn chosen_mut(&mut self) -> &mut dyn Exchange {
        match &mut self.0 {
            Choice::One(exchange) => exchange.as_mut(),
            Choice::Http { http2, by_http2: true, .. } => http2.as_mut(),
            Choice::Http { http1, .. } => http1.as_mut(),
        }
    }
}

impl Exchange for Negotiated {
    fn connected(&mut self, client: SocketAddr) {
        self.chosen_mut().connected(client);
    }

    fn begin(&mut self, alpn: Option<&[u8]>) -> Result<(), Fault> {
        if let Choice::Http { by_http2, .. } = &mut self.0 {
            *by_http2 = alpn == Some(http2::ALPN);
        }
        self.chosen_mut().begin(alpn)
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        self.chosen_mut().request()
    }

    fn receive(&mut self, data: &[u8]) -> Result<Reply, Fault> {
        self.chosen_mut().receive(data)
    }

    fn take_outgoing(&mut self) -> Vec<u8> {
        self.chosen_mut().take_outgoing()
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        self.chosen_mut().receive_end()
    }

    fn status(&self) -> Option<u16> {
        self.chosen().status()
    }

    fn body(&self) -> u64 {
        self.chosen().body()
    }

    fn location(&self) -> Option<Location> {
        self.chosen().location()
    }

    fn software(&self) -> Option<String> {
        self.chosen().software()
    }

    fn date(&self) -> Option<u64> {
        self.chosen().date()
    }

    fn content(&self) -> Option<u64> {
        self.chosen().content()
    }

    fn keeps_alive(&self) -> bool {
        self.chosen().keeps_alive()
    }

    fn farewell(&mut self) -> Vec<u8> {
        self.chosen_mut().farewell()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn application(method: &str) -> Application {
        let request = Request { method: method.to_owned(), ..Request::default() };
        Application::http("example.org/x".parse().unwrap(), request, Some(ConnectionReuse::Close))
    }

    #[test]
    fn alpn_chooses_what_is_spoken_on_each_connection() {
        let mut exchange = application("GET").exchange(false);
        let mut first_bytes = |alpn: Option<&[u8]>| {
            exchange.begin(alpn).unwrap();
            exchange.request().unwrap()[..5].to_vec()
        };
        assert_eq!(first_bytes(Some(b"h2")), b"PRI *");
        assert_eq!(first_bytes(None), b"GET /");
        assert_eq!(first_bytes(Some(b"h2")), b"PRI *");
        assert_eq!(first_bytes(Some(b"http/1.1")), b"GET /");
    }

    #[test]
    fn early_data_has_room_for_the_longer_request() {
        let get = application("GET");
        let mut exchange = get.exchange(false);
        let lengths = [None, Some(http2::ALPN)].map(|alpn| {
            exchange.begin(alpn).unwrap();
            exchange.request().unwrap().len()
        });
        assert_eq!(get.early_request_length(), lengths.into_iter().max());
        assert_eq!(application("POST").early_request_length(), None, "it may not be replayed");
        assert_eq!(Application::Silent.early_request_length(), None);
    }

    #[test]
    fn a_question_may_name_the_client() {
        let question = Application::Question(StartTls::Smtp, "a.example".to_owned());
        let mut exchange = question.exchange(false);
        exchange.connected(([192, 0, 2, 1], 1).into());
        exchange.begin(None).unwrap();
        assert_eq!(exchange.request(), Ok(&b"EHLO [192.0.2.1]\r\n"[..]));
        assert_eq!((question.early_request_length(), question.is_silent()), (None, false));
    }

    #[test]
    fn silence_asks_nothing() {
        let mut exchange = Application::Silent.exchange(false);
        exchange.begin(None).unwrap();
        assert_eq!(exchange.request(), Ok(&[][..]));
        assert_eq!(exchange.receive(b"220 ready\r\n"), Ok(Reply::Awaited));
        assert_eq!(exchange.receive_end(), Ok(Reply::Done));
    }
}

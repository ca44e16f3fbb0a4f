//! A question of DNS over TLS (RFC 7858), and its answer.

use super::{Exchange, Reply};
use crate::fault::Fault;
use crate::prologue::{ClearTextFault, Message, Peer, Problem};

/// What names DNS over TLS in ALPN (IANA, TLS ALPN Protocol IDs). Most servers choose no protocol, and answer all the same.
pub const ALPN: &[u8] = b"dot";

/// The address of `localhost`, behind the length of the message: a resolver answers it by itself (RFC 6761 §6.3).
const QUERY: [u8; 29] = *b"\0\x1b\x72\x70\x01\0\0\x01\0\0\0\0\0\0\x09localhost\0\0\x01\0\x01";

/// A length, and a header (RFC 1035 §4.1.1).
const LEAST_ANSWER: usize = 2 + 12;

/// The first bit of the flags: a response.
const IS_RESPONSE: u8 = 0x80;

/// The same question on each connection, as often as it is asked. Any response code will do.
#[derive(Default)]
pub struct Dns {
    heard: Vec<u8>,
    is_done: bool,
}

impl Dns {
    fn fault(&self, problem: Problem) -> Fault {
        ClearTextFault { peer: Peer::Resolver, message: Message::Answer, problem }.into()
    }

    /// Whether what has come is the whole answer; nothing if it is none.
    fn is_whole(&self) -> Option<bool> {
        let [high, low, rest @ ..] = self.heard.as_slice() else { return Some(false) };
        let length = 2 + usize::from(u16::from_be_bytes([*high, *low]));
        let is_response = rest.get(2).is_none_or(|flags| flags & IS_RESPONSE != 0);
        let is_ours = rest.iter().zip(&QUERY[2..4]).all(|(it, ours)| it == ours);
        (length >= LEAST_ANSWER && is_ours && is_response).then_some(self.heard.len() >= length)
    }
}

impl Exchange for Dns {
    fn begin(&mut self, _alpn: Option<&[u8]>) -> Result<(), Fault> {
        *self = Self::default();
        Ok(())
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        self.begin(None)?;
        Ok(&QUERY)
    }

    fn receive(&mut self, data: &[u8]) -> Result<Reply, Fault> {
        if !self.is_done {
            self.heard.extend_from_slice(data);
            self.is_done = self.is_whole().ok_or_else(|| self.fault(Problem::Unexpected(self.heard.clone())))?;
        }
        Ok(match (self.is_done, self.heard.is_empty()) {
            (true, _) => Reply::Done,
            (false, false) => Reply::Begun,
            (false, true) => Reply::Awaited,
        })
    }

    fn body(&self) -> u64 {
        self.heard.len() as u64
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        if self.is_done { Ok(Reply::Done) } else { Err(self.fault(Problem::Closed)) }
    }

    fn keeps_alive(&self) -> bool {
        self.is_done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reprise_model::FaultName;

    use super::*;

    fn asked() -> Dns {
        let mut dns = Dns::default();
        dns.begin(Some(ALPN)).unwrap();
        assert_eq!(usize::from(u16::from_be_bytes([QUERY[0], QUERY[1]])), dns.request().unwrap().len() - 2);
        dns
    }

    /// As long as a header, refused.
    const REFUSED: &[u8] = b"\0\x0c\x72\x70\x81\x05\0\0\0\0\0\0\0\0";

    #[test]
    fn an_answer_is_done_with_its_last_byte() {
        let mut dns = asked();
        let (last, before) = REFUSED.split_last().unwrap();
        assert_eq!(dns.receive(b""), Ok(Reply::Awaited));
        for byte in before {
            assert_eq!(dns.receive(&[*byte]), Ok(Reply::Begun));
        }
        assert!(!dns.keeps_alive());
        assert_eq!((dns.receive(&[*last]), dns.body()), (Ok(Reply::Done), 14));
        assert!(dns.keeps_alive());
        dns.request().unwrap();
        assert_eq!(dns.receive(REFUSED), Ok(Reply::Done), "the second of one connection");
    }

    #[test]
    fn what_is_no_answer_has_a_name() {
        for bytes in [&b"HTTP/1.1 400"[..], b"\0\x0b", &QUERY, b"\0\x0c\x72\x71"] {
            assert_eq!(asked().receive(bytes).unwrap_err().name, FaultName::AnswerUnexpected, "{bytes:?}");
        }
        assert_eq!(asked().receive_end().unwrap_err().name, FaultName::NoAnswer);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut dns = asked();
            let _ = parts.iter().try_for_each(|part| dns.receive(part).map(drop));
        }
    }
}

//! The question of a protocol that began in the clear, or of DNS, and its answer.

use std::net::{Ipv4Addr, SocketAddr};

use super::dns::Dns;
use super::{Exchange, Reply};
use crate::fault::Fault;
use crate::prologue::{ClearTextFault, Introduction, Message, Peer, Problem, Service, StartTls, Unexpected};

/// An answer longer than this is none: the longest of DNS, behind its length.
const MAX_ANSWER: usize = 2 + 0xffff;

/// Something harmless that a protocol with STARTTLS answers under TLS: EHLO, NOOP, CAPA, a search for nothing, a login that
/// fails, a stream.
pub struct Question {
    peer: Peer,
    host: String,
    service: Box<dyn Service>,
    question: Vec<u8>,
    heard: Vec<u8>,
    is_done: bool,
}

impl Question {
    /// The question to the host that a client has connected to, whose own address [`Exchange::connected`] tells.
    pub fn new(protocol: StartTls, host: String) -> Self {
        let client = Ipv4Addr::UNSPECIFIED.into();
        let service = protocol.service(Introduction { host: host.clone(), client });
        Self::to(Peer::Service(protocol), host, service)
    }

    /// The question to a server of DNS over TLS (RFC 7858): the address of `localhost`.
    pub fn of_dns() -> Self {
        Self::to(Peer::Resolver, String::new(), Box::new(Dns))
    }

    fn to(peer: Peer, host: String, service: Box<dyn Service>) -> Self {
        Self { peer, host, question: service.question(), service, heard: Vec::new(), is_done: false }
    }

    fn fault(&self, problem: Problem) -> Fault {
        ClearTextFault { peer: self.peer, message: Message::Answer, problem }.into()
    }

    fn reply(&self) -> Reply {
        match (self.is_done, self.heard.is_empty()) {
            (true, _) => Reply::Done,
            (false, false) => Reply::Begun,
            (false, true) => Reply::Awaited,
        }
    }
}

impl Exchange for Question {
    fn begin(&mut self, _alpn: Option<&[u8]>) -> Result<(), Fault> {
        self.heard.clear();
        self.is_done = false;
        Ok(())
    }

    fn connected(&mut self, client: SocketAddr) {
        if let Peer::Service(protocol) = self.peer {
            self.service = protocol.service(Introduction { host: self.host.clone(), client: client.ip() });
            self.question = self.service.question();
        }
    }

    fn request(&mut self) -> Result<&[u8], Fault> {
        self.begin(None)?;
        Ok(&self.question)
    }

    fn receive(&mut self, data: &[u8]) -> Result<Reply, Fault> {
        if !self.is_done {
            self.heard.extend_from_slice(data);
            match self.service.length(Message::Answer, &self.heard) {
                Ok(Some(_)) => self.is_done = true,
                Ok(None) if self.heard.len() <= MAX_ANSWER => {}
                Ok(None) => return Err(self.fault(Problem::TooLong(MAX_ANSWER))),
                Err(Unexpected) => return Err(self.fault(Problem::Unexpected(self.heard.clone()))),
            }
        }
        Ok(self.reply())
    }

    fn body(&self) -> u64 {
        self.heard.len() as u64
    }

    fn receive_end(&mut self) -> Result<Reply, Fault> {
        if self.is_done { Ok(Reply::Done) } else { Err(self.fault(Problem::Closed)) }
    }

    /// The server waits for another command; [`Exchange::farewell`] tells it that none follows.
    fn keeps_alive(&self) -> bool {
        self.is_done
    }

    fn farewell(&mut self) -> Vec<u8> {
        self.service.farewell(&self.heard)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reprise_model::FaultName;

    use super::*;

    fn ask(protocol: StartTls) -> Question {
        let mut question = Question::new(protocol, "a.example".to_owned());
        question.begin(None).unwrap();
        assert!(!question.request().unwrap().is_empty());
        question
    }

    #[test]
    fn an_answer_is_done_with_its_last_byte() {
        let cases: &[(StartTls, &[u8], &[u8])] = &[
            (StartTls::Smtp, b"250-a\r\n250 b\r\n", b"QUIT\r\n"),
            (StartTls::Smtp, b"220\r\n", b"QUIT\r\n"),
            (StartTls::Imap, b"* x\r\nb OK\r\n", b"c LOGOUT\r\n"),
            (StartTls::Imap, b"* CAPABILITY IMAP4rev1\r\n* 1 EXISTS\r\nb OK done\r\n", b"c LOGOUT\r\n"),
            (StartTls::Pop3, b"+OK\r\nUSER\r\n.\r\n", b"QUIT\r\n"),
            (StartTls::Pop3, b"-ERR no\r\n", b"QUIT\r\n"),
            (StartTls::Ftp, b"200-a\r\n200 b\r\n", b"QUIT\r\n"),
            // Between the first and the last line stands whatever it likes.
            (StartTls::Ftp, b"211-Features:\r\n AUTH TLS\r\n211 End\r\n", b"QUIT\r\n"),
            (StartTls::Ldap, b"\x30\x0c\x02\x01\x02\x65\x07\x0a\x01\0\x04\0\x04\0", b"\x30\x05\x02\x01\x03\x42\0"),
            // An entry before the result.
            (
                StartTls::Ldap,
                b"\x30\x09\x02\x01\x02\x64\x04\x04\0\x30\0\x30\x0c\x02\x01\x02\x65\x07\x0a\x01\0\x04\0\x04\0",
                b"\x30\x05\x02\x01\x03\x42\0",
            ),
            (StartTls::Postgres, b"R\0\0\0\x08\0\0\0\x05", b""),
            // A message about versions before the answer.
            (StartTls::Postgres, b"v\0\0\0\x0c\0\0\0\0\0\0\0\0R\0\0\0\x08\0\0\0\x05", b""),
            // Who asks for another proof is given an empty one.
            (StartTls::MySql, b"\x02\0\0\x03\xfex", b"\0\0\0\x04"),
            (StartTls::MySql, b"\x02\0\0\x03\xff\x01", b""),
            (StartTls::Xmpp, b"<stream:stream><stream:features/>", b"</stream:stream>"),
        ];
        for (protocol, answer, farewell) in cases {
            let mut question = ask(*protocol);
            assert_eq!(question.receive(&[]).unwrap(), Reply::Awaited);
            let (last, before) = answer.split_last().unwrap();
            for byte in before {
                assert_eq!(question.receive(&[*byte]).unwrap(), Reply::Begun, "{protocol}");
                assert!(!question.keeps_alive());
            }
            assert_eq!(question.receive(&[*last]).unwrap(), Reply::Done, "{protocol}");
            // What comes after is of no interest.
            assert_eq!(question.receive(b"\x07").unwrap(), Reply::Done);
            assert_eq!(question.receive_end().unwrap(), Reply::Done);
            assert_eq!((question.keeps_alive(), question.farewell().as_slice()), (true, *farewell), "{protocol}");
            question.request().unwrap();
            assert_eq!(question.receive(&[]).unwrap(), Reply::Awaited);
        }
    }

    #[test]
    fn what_is_no_answer_has_a_name() {
        for protocol in StartTls::ALL {
            let name = ask(protocol).receive(&[7; 5]).unwrap_err().name;
            assert_eq!(name, FaultName::AnswerUnexpected, "{protocol}");
            assert_eq!(ask(protocol).receive_end().unwrap_err().name, FaultName::NoAnswer, "{protocol}");
        }
        let wrong: [(StartTls, &[&[u8]]); 6] = [
            (StartTls::Smtp, &[b"HTTP/1.1 400", b"\x16\x03\x01", b"* OK", b"2x", b"2200", b"\n", b"999 "]),
            (StartTls::Imap, &[b"a OK\r\n", b"+ go on\r\n", b"\x16\x03", b"* OK\r\nx"]),
            (StartTls::Pop3, &[b"220 x"]),
            (StartTls::Ldap, &[b"HTTP", b"\x30\x80", b"\x30\x84\xff\xff\xff\xff", b"\x30\0", b"\x30\x03\x02\x01\x02"]),
            (StartTls::Postgres, &[b"HTTP", b"R\0\0\0\0", b"E\xff\xff\xff\xff", b"S"]),
            (StartTls::MySql, &[b"HTTP/1.1"]),
        ];
        for (protocol, all) in wrong {
            for bytes in all {
                assert_eq!(ask(protocol).receive(bytes).unwrap_err().name, FaultName::AnswerUnexpected, "{bytes:?}");
            }
        }
        let startup = ask(StartTls::Postgres).question;
        assert_eq!(startup[..4], (startup.len() as u32).to_be_bytes(), "it counts its own length");
        let endless = b"250-more\r\n".repeat(MAX_ANSWER / 10 + 1);
        assert_eq!(ask(StartTls::Smtp).receive(&endless).unwrap_err().name, FaultName::AnswerTooLong);
    }

    #[test]
    fn dns_answers_as_often_as_it_is_asked() {
        let mut question = Question::of_dns();
        for _ in 0..2 {
            assert_eq!(question.request().unwrap().len(), 29);
            assert_eq!(question.receive(b"\0\x0c\x72\x70\x81"), Ok(Reply::Begun));
            assert_eq!(question.receive(b"\x05\0\0\0\0\0\0\0\0"), Ok(Reply::Done));
            assert_eq!((question.keeps_alive(), question.body(), question.farewell()), (true, 14, Vec::new()));
        }
        assert_eq!(Question::of_dns().receive(b"HTTP/1.1 400").unwrap_err().name, FaultName::AnswerUnexpected);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(which in 0..9_usize, parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut question = StartTls::ALL.get(which).map_or_else(Question::of_dns, |protocol| ask(*protocol));
            for part in parts {
                if question.receive(&part).is_err() {
                    break;
                }
            }
            question.farewell();
        }
    }
}

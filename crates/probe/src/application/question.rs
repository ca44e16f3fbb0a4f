//! The question of a protocol that began in the clear, and its answer.

use reprise_trace::Failure;

use super::Exchange;
use crate::dialogue::{Unexpected, quoted};
use crate::failure;
use crate::starttls::{Introduction, Protocol};

/// An answer longer than this is none.
const MAX_ANSWER: usize = 64 * 1024;

pub(crate) struct Question {
    protocol: &'static dyn Protocol,
    question: Vec<u8>,
    heard: Vec<u8>,
    is_done: bool,
}

impl Question {
    pub(crate) fn new(protocol: &'static dyn Protocol, introduction: &Introduction) -> Self {
        Self { protocol, question: protocol.question(introduction), heard: Vec::new(), is_done: false }
    }
}

impl Exchange for Question {
    fn ask(&mut self) -> Result<Vec<u8>, Failure> {
        Ok(self.question.clone())
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.is_done {
            return Ok(());
        }
        self.heard.extend_from_slice(bytes);
        match self.protocol.answer(&self.heard) {
            Ok(Some(_)) => self.is_done = true,
            Ok(None) if self.heard.len() <= MAX_ANSWER => {}
            Ok(None) => {
                let message = format!("the server's answer under TLS goes on after {MAX_ANSWER} bytes");
                return Err(failure::response("answer_too_long", message, None));
            }
            Err(Unexpected) => {
                let message = format!("the server's answer under TLS is none: {}", quoted(&self.heard));
                return Err(failure::response("answer_unexpected", message, None));
            }
        }
        Ok(())
    }

    fn receive_end(&mut self) -> Result<(), Failure> {
        let message = "the server closed the connection under TLS without an answer".to_owned();
        let hint = "--no-request asks nothing, and only waits for tickets";
        if self.is_done { Ok(()) } else { Err(failure::response("no_answer", message, Some(hint))) }
    }

    fn has_begun(&self) -> bool {
        !self.heard.is_empty()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    /// The server waits for more; that this client will not send it, it is told by [`Exchange::farewell`].
    fn keeps_alive(&self) -> bool {
        self.is_done
    }

    fn farewell(&mut self) -> Vec<u8> {
        self.protocol.farewell(&self.heard)
    }
}

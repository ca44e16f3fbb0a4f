//! POP3: STLS (RFC 2595 §4) and CAPA (RFC 2449 §5).

use reprise_trace::Failure;

use super::{Introduction, Protocol, line_length};
use crate::dialogue::{Dialogue, Heard, Unexpected, quoted};

pub(super) struct Pop3;

impl Protocol for Pop3 {
    fn preamble(&self, dialogue: &mut Dialogue<'_>, _introduction: &Introduction) -> Result<(), Failure> {
        let greeting = dialogue.hear("greeting", status_line)?;
        if !greeting.starts_with(OK) {
            return Err(dialogue.refusal("refused", &format!("does not greet but says {}", quoted(&greeting)), None));
        }
        dialogue.say(b"STLS\r\n")?;
        let consent = dialogue.hear("response to STLS", status_line)?;
        if consent.starts_with(OK) {
            Ok(())
        } else {
            Err(dialogue.refusal("refused", &format!("refuses STLS: {}", quoted(&consent)), None))
        }
    }

    fn question(&self, _introduction: &Introduction) -> Vec<u8> {
        b"CAPA\r\n".to_vec()
    }

    /// What is affirmed goes on to a line with a point alone.
    fn answer(&self, heard: &[u8]) -> Heard {
        if heard.starts_with(OK) {
            Ok(heard.windows(5).position(|window| window == b"\r\n.\r\n").map(|at| at + 5))
        } else {
            status_line(heard)
        }
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"QUIT\r\n".to_vec()
    }
}

const OK: &[u8] = b"+OK";

fn status_line(heard: &[u8]) -> Heard {
    let begins = |with: &[u8]| heard.iter().zip(with).all(|(given, expected)| given == expected);
    if begins(OK) || begins(b"-ERR") { line_length(heard) } else { Err(Unexpected) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_capabilities_ends_with_a_point() {
        let answer = b"+OK here they are\r\nSASL PLAIN\r\n.\r\n";
        assert_eq!(Pop3.answer(answer), Ok(Some(answer.len())));
        assert!((0..answer.len()).all(|cut| Pop3.answer(&answer[..cut]) == Ok(None)));
        assert_eq!(Pop3.answer(b"-ERR no\r\n"), Ok(Some(9)));
        assert_eq!(Pop3.answer(b"220 x"), Err(Unexpected));
    }
}

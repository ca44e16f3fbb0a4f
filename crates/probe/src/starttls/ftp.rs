//! FTP: AUTH TLS and NOOP (RFC 4217 §4, RFC 959 §4.1.3).

use reprise_trace::Failure;

use super::{Introduction, Protocol, reply};
use crate::dialogue::{Dialogue, Heard, quoted};

pub(super) struct Ftp;

impl Protocol for Ftp {
    fn preamble(&self, dialogue: &mut Dialogue<'_>, _introduction: &Introduction) -> Result<(), Failure> {
        let greeting = loop {
            let greeting = dialogue.hear("greeting", reply::length)?;
            // RFC 959 §5.4: 120 promises the true one for later.
            if reply::code(&greeting) != Some(120) {
                break greeting;
            }
        };
        if reply::code(&greeting) != Some(220) {
            return Err(dialogue.refusal("refused", &format!("does not greet but says {}", quoted(&greeting)), None));
        }
        dialogue.say(b"AUTH TLS\r\n")?;
        let consent = dialogue.hear("reply to AUTH TLS", reply::length)?;
        match reply::code(&consent) {
            Some(234) => Ok(()),
            _ => Err(dialogue.refusal("refused", &format!("refuses AUTH TLS: {}", quoted(&consent)), None)),
        }
    }

    fn question(&self, _introduction: &Introduction) -> Vec<u8> {
        b"NOOP\r\n".to_vec()
    }

    fn answer(&self, heard: &[u8]) -> Heard {
        reply::length(heard)
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"QUIT\r\n".to_vec()
    }
}

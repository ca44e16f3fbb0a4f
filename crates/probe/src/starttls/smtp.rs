//! SMTP: EHLO, STARTTLS, and EHLO once more (RFC 3207).

use std::net::IpAddr;

use reprise_trace::Failure;

use super::{Introduction, Protocol, reply};
use crate::dialogue::{Dialogue, Heard, quoted};

pub(super) struct Smtp;

impl Protocol for Smtp {
    fn preamble(&self, dialogue: &mut Dialogue<'_>, introduction: &Introduction) -> Result<(), Failure> {
        let greeting = dialogue.hear("greeting", reply::length)?;
        if reply::code(&greeting) != Some(220) {
            return Err(dialogue.refusal("refused", &format!("does not greet but says {}", quoted(&greeting)), None));
        }
        dialogue.say(&self.question(introduction))?;
        let capabilities = dialogue.hear("reply to EHLO", reply::length)?;
        if reply::code(&capabilities) != Some(250) {
            return Err(dialogue.refusal("refused", &format!("answers EHLO with {}", quoted(&capabilities)), None));
        }
        if !reply::lists(&capabilities, "STARTTLS") {
            let hint = "it may offer it on another port (587), to other clients, or not at all";
            return Err(dialogue.refusal("not_offered", "does not offer STARTTLS", Some(hint)));
        }
        dialogue.say(b"STARTTLS\r\n")?;
        let consent = dialogue.hear("reply to STARTTLS", reply::length)?;
        match reply::code(&consent) {
            Some(220) => Ok(()),
            _ => Err(dialogue.refusal("refused", &format!("refuses STARTTLS: {}", quoted(&consent)), None)),
        }
    }

    /// Under TLS the client introduces itself anew (RFC 3207 §4.2). A client without a name gives its address (RFC 5321
    /// §4.1.3).
    fn question(&self, introduction: &Introduction) -> Vec<u8> {
        let literal = match introduction.client.to_canonical() {
            IpAddr::V4(address) => format!("[{address}]"),
            IpAddr::V6(address) => format!("[IPv6:{address}]"),
        };
        format!("EHLO {literal}\r\n").into_bytes()
    }

    fn answer(&self, heard: &[u8]) -> Heard {
        reply::length(heard)
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"QUIT\r\n".to_vec()
    }
}

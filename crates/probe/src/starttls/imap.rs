//! IMAP: STARTTLS and NOOP (RFC 9051 §6.2.1, §6.1.2).

use reprise_trace::Failure;

use super::{Introduction, Protocol, line_length};
use crate::dialogue::{Dialogue, Heard, Unexpected, quoted};

pub(super) struct Imap;

impl Protocol for Imap {
    fn preamble(&self, dialogue: &mut Dialogue<'_>, _introduction: &Introduction) -> Result<(), Failure> {
        let greeting = dialogue.hear("greeting", untagged)?;
        if !greeting.to_ascii_uppercase().starts_with(b"* OK") {
            return Err(dialogue.refusal("refused", &format!("does not greet but says {}", quoted(&greeting)), None));
        }
        dialogue.say(b"a STARTTLS\r\n")?;
        let consent = dialogue.hear("response to STARTTLS", |heard| tagged(b"a", heard))?;
        let last = last_line(&consent);
        if last.to_ascii_uppercase().starts_with(b"A OK") {
            Ok(())
        } else {
            Err(dialogue.refusal("refused", &format!("refuses STARTTLS: {}", quoted(last)), None))
        }
    }

    fn question(&self, _introduction: &Introduction) -> Vec<u8> {
        b"b NOOP\r\n".to_vec()
    }

    fn answer(&self, heard: &[u8]) -> Heard {
        tagged(b"b", heard)
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"c LOGOUT\r\n".to_vec()
    }
}

fn untagged(heard: &[u8]) -> Heard {
    if heard.iter().zip(b"* ").all(|(given, expected)| given == expected) { line_length(heard) } else { Err(Unexpected) }
}

/// Untagged responses, and the tagged one that completes the command.
fn tagged(tag: &[u8], heard: &[u8]) -> Heard {
    let mut length = 0;
    for line in heard.split_inclusive(|&byte| byte == b'\n') {
        let begins = |with: &[u8]| line.iter().zip(with).all(|(given, expected)| given == expected);
        let completes = begins(&[tag, b" "].concat());
        if !completes && !begins(b"* ") {
            return Err(Unexpected);
        }
        length += line.len();
        if completes && line.ends_with(b"\n") {
            return Ok(Some(length));
        }
    }
    Ok(None)
}

fn last_line(response: &[u8]) -> &[u8] {
    response.split_inclusive(|&byte| byte == b'\n').next_back().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_ends_with_its_tag() {
        let response = b"* CAPABILITY IMAP4rev1\r\n* 1 EXISTS\r\na OK done\r\n";
        assert_eq!(tagged(b"a", response), Ok(Some(response.len())));
        assert!((0..response.len()).all(|cut| tagged(b"a", &response[..cut]) == Ok(None)));
        for wrong in [&b"b OK\r\n"[..], b"+ go on\r\n", b"\x16\x03", b"* OK\r\nx"] {
            assert_eq!(tagged(b"a", wrong), Err(Unexpected), "{wrong:?}");
        }
    }
}

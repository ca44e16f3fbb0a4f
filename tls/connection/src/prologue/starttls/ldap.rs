//! LDAP: the extended operation StartTLS (RFC 4511 §4.14), and a search that asks the root for no attribute.

use super::{Protocol, Service};
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected};
use crate::prologue::server_side::ServerSide;
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol = Protocol { name: "ldap", port: 389, new: |_| Box::new(Ldap), server: &SERVER };

struct Ldap;

/// Message 1: ExtendedRequest 1.3.6.1.4.1.1466.20037.
const START_TLS: &[u8] = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";

/// Message 2: SearchRequest, base object "", scope base, no limits, objectClass present, attribute "1.1" (none, RFC 4511
/// §4.5.1.8). Every server lets everyone ask this.
const SEARCH: &[u8] = b"\x30\x2a\x02\x01\x02\x63\x25\x04\x00\x0a\x01\x00\x0a\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00\
    \x87\x0bobjectClass\x30\x05\x04\x031.1";

/// Message 3: UnbindRequest.
const UNBIND: &[u8] = b"\x30\x05\x02\x01\x03\x42\x00";

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const ENUMERATED: u8 = 0x0a;
const EXTENDED_RESPONSE: u8 = 0x78;
const SEARCH_RESULT_ENTRY: u8 = 0x64;
const SEARCH_RESULT_REFERENCE: u8 = 0x73;
const SEARCH_RESULT_DONE: u8 = 0x65;

const SEARCH_REQUEST: u8 = 0x63;
const EXTENDED_REQUEST: u8 = 0x77;
const UNBIND_REQUEST: u8 = 0x42;
const ABANDON_REQUEST: u8 = 0x50;
const CONSTRUCTED: u8 = 0x20;
const START_TLS_NAME: &[u8] = b"1.3.6.1.4.1.1466.20037";

/// Results (RFC 4511 §4.1.9).
const SUCCESS: u8 = 0;
const CONFIDENTIALITY_REQUIRED: u8 = 13;
const UNWILLING_TO_PERFORM: u8 = 53;

const MAX_MESSAGE: usize = 16 * 1024;

impl Dialogue for Ldap {
    fn opening(&self) -> (Vec<u8>, Message) {
        (START_TLS.to_vec(), Message::ExtendedResponse)
    }

    fn length(&self, due: Message, heard: &[u8]) -> Length {
        if due == Message::Answer { search_result_length(heard) } else { Ok(element(heard, SEQUENCE)?.map(|it| it.length)) }
    }

    fn answer(&self, _due: Message, message: &[u8]) -> Turn {
        match result_code(message) {
            Some(0) => Turn::Done,
            Some(code) => Turn::Fail(Problem::Refused { code: Some(code.into()), said: Vec::new() }),
            None => Turn::Fail(Problem::Unexpected(message.to_vec())),
        }
    }
}

impl Service for Ldap {
    fn question(&self) -> Vec<u8> {
        SEARCH.to_vec()
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        UNBIND.to_vec()
    }
}

const SERVER: ServerSide = ServerSide {
    greeting: b"",
    length: |heard| Ok(element(heard, SEQUENCE)?.map(|it| it.length)),
    in_the_clear: |message| match request(message) {
        Some((number, EXTENDED_REQUEST)) if holds(message, START_TLS_NAME) => {
            ServerReply::StartTls(result(number, EXTENDED_RESPONSE, SUCCESS))
        }
        _ => refusal(message, CONFIDENTIALITY_REQUIRED),
    },
    under_tls: |message| refusal(message, UNWILLING_TO_PERFORM),
};

fn refusal(message: &[u8], code: u8) -> ServerReply {
    match request(message) {
        Some((_, ABANDON_REQUEST)) => ServerReply::say(b""),
        None | Some((_, UNBIND_REQUEST)) => ServerReply::close(b""),
        Some((number, SEARCH_REQUEST)) => ServerReply::Say(result(number, SEARCH_RESULT_DONE, code)),
        // Each other response has the number after its request's, and is constructed.
        Some((number, tag)) => ServerReply::Say(result(number, (tag | CONSTRUCTED).wrapping_add(1), code)),
    }
}

/// The number of a client's message, as it stands there, and the tag of its operation.
fn request(message: &[u8]) -> Option<(&[u8], u8)> {
    let message = element(message, SEQUENCE).ok()??.contents;
    let number = message.get(..element(message, INTEGER).ok()??.length)?;
    Some((number, operation(message)?.0))
}

/// A result of this kind with no words (RFC 4511 §4.1.9).
fn result(number: &[u8], tag: u8, code: u8) -> Vec<u8> {
    let contents = [ENUMERATED, 1, code, 4, 0, 4, 0];
    let length = |it: &[u8]| u8::try_from(it.len()).unwrap_or_default();
    let operation = [&[tag, length(&contents)][..], &contents].concat();
    let message = [number, &operation].concat();
    [&[SEQUENCE, length(&message)][..], &message].concat()
}

fn holds(message: &[u8], what: &[u8]) -> bool {
    message.windows(what.len()).any(|window| window == what)
}

/// Entries, and the message that ends them.
fn search_result_length(heard: &[u8]) -> Length {
    let mut length = 0;
    while let Some(message) = element(heard.get(length..).unwrap_or_default(), SEQUENCE)? {
        length += message.length;
        match operation(message.contents).map(|(tag, _)| tag) {
            Some(SEARCH_RESULT_ENTRY | SEARCH_RESULT_REFERENCE) => {}
            // A notice of disconnection is an answer as well.
            Some(SEARCH_RESULT_DONE | EXTENDED_RESPONSE) => return Ok(Some(length)),
            _ => return Err(Unexpected),
        }
    }
    Ok(None)
}

/// A tag, a definite length, contents (X.690 §8.1): all that LDAP uses (RFC 4511 §5.1).
struct Element<'b> {
    contents: &'b [u8],
    /// Of the whole, tag and length included.
    length: usize,
}

/// The element that these bytes begin with, once it is whole.
fn element(bytes: &[u8], tag: u8) -> Result<Option<Element<'_>>, Unexpected> {
    let (size, header) = match *bytes {
        [] => return Ok(None),
        [given, ..] if given != tag => return Err(Unexpected),
        [_] => return Ok(None),
        [_, short @ 0..=0x7f, ..] => (usize::from(short), 2),
        [_, long @ 0x81..=0x84, ..] => {
            let count = usize::from(long - 0x80);
            let Some(digits) = bytes.get(2..2 + count) else { return Ok(None) };
            (digits.iter().fold(0_usize, |size, &digit| (size << 8) | usize::from(digit)), 2 + count)
        }
        _ => return Err(Unexpected),
    };
    if size > MAX_MESSAGE {
        return Err(Unexpected);
    }
    let contents = bytes.get(header..header + size);
    Ok(contents.map(|contents| Element { contents, length: header + size }))
}

/// The tag and the contents of the operation within a message: what follows its number.
fn operation(message: &[u8]) -> Option<(u8, &[u8])> {
    let number = element(message, INTEGER).ok()??;
    let rest = message.get(number.length..)?;
    let tag = *rest.first()?;
    Some((tag, element(rest, tag).ok()??.contents))
}

fn result_code(response: &[u8]) -> Option<u8> {
    let message = element(response, SEQUENCE).ok()??;
    let (EXTENDED_RESPONSE, contents) = operation(message.contents)? else { return None };
    element(contents, ENUMERATED).ok()??.contents.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_whole() {
        for message in [START_TLS, SEARCH, UNBIND] {
            assert_eq!(element(message, SEQUENCE).unwrap().unwrap().length, message.len());
        }
        assert_eq!(operation(element(SEARCH, SEQUENCE).unwrap().unwrap().contents).unwrap().0, 0x63);
    }
}

//! XMPP, client to server: STARTTLS and a new stream (RFC 6120 §5.4).
//!
//! Tags are looked for as text. Prefixes other than `stream:` are no concern: RFC 6120 §4.8.5 lets servers refuse them.

use super::{Protocol, Service};
use crate::prologue::dialogue::{Dialogue, Length, Turn, Unexpected};
use crate::prologue::server_side::ServerSide;
use crate::prologue::{Message, Problem, ServerReply};

pub(super) static PROTOCOL: Protocol =
    Protocol { name: "xmpp", port: 5222, new: |it| Box::new(Xmpp { host: it.host }), server: &SERVER };

struct Xmpp {
    /// As it was given: a host name holds nothing that would have to be escaped.
    host: String,
}

const FEATURES_END: &[&[u8]] = &[b"</stream:features>", b"<stream:features/>", b"</stream:stream>"];
const VERDICT_END: &[&[u8]] = &[b"/>", b"</proceed>", b"</failure>", b"</stream:stream>"];

impl Dialogue for Xmpp {
    fn opening(&self) -> (Vec<u8>, Message) {
        (self.question(), Message::StreamFeatures)
    }

    fn length(&self, due: Message, heard: &[u8]) -> Length {
        to_the_end(heard, if due == Message::StartTlsVerdict { VERDICT_END } else { FEATURES_END })
    }

    fn answer(&self, due: Message, message: &[u8]) -> Turn {
        match due {
            Message::StreamFeatures => match stream_error(message) {
                Some(error) => Turn::Fail(error),
                None if contains(message, b"urn:ietf:params:xml:ns:xmpp-tls") => {
                    let request = b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>";
                    Turn::Say(request.to_vec(), Message::StartTlsVerdict)
                }
                None => Turn::Fail(Problem::NotOffered),
            },
            _ if contains(message, b"<proceed") => Turn::Done,
            _ => Turn::Fail(Problem::Refused { code: None, said: message.to_vec() }),
        }
    }
}

impl Service for Xmpp {
    /// Under TLS the stream begins anew (RFC 6120 §5.4.3.3).
    fn question(&self) -> Vec<u8> {
        let host = &self.host;
        format!(
            "<?xml version='1.0'?><stream:stream to='{host}' version='1.0' xmlns='jabber:client' \
             xmlns:stream='http://etherx.jabber.org/streams'>"
        )
        .into_bytes()
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"</stream:stream>".to_vec()
    }
}

/// Tag by tag: what stands between them is of no concern.
const SERVER: ServerSide = ServerSide {
    greeting: b"",
    length: |heard| to_the_end(heard, &[b">"]),
    in_the_clear: |message| served(message, "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>"),
    under_tls: |message| {
        served(message, "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>")
    },
};

fn served(tag: &[u8], feature: &str) -> ServerReply {
    let tag = tag.trim_ascii_start();
    if tag.starts_with(b"<starttls") {
        ServerReply::start_tls(b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
    } else if tag.starts_with(b"<stream:stream") {
        let words = format!(
            "<?xml version='1.0'?><stream:stream id='1' version='1.0' xml:lang='en' xmlns='jabber:client' \
             xmlns:stream='http://etherx.jabber.org/streams'><stream:features>{feature}</stream:features>"
        );
        ServerReply::Say(words.into_bytes())
    } else if tag.starts_with(b"<auth") {
        ServerReply::close(b"<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure></stream:stream>")
    } else if tag.starts_with(b"</stream:stream") {
        ServerReply::close(b"</stream:stream>")
    } else {
        ServerReply::say(b"")
    }
}

/// Up to the first of these ends.
fn to_the_end(heard: &[u8], ends: &[&[u8]]) -> Length {
    if heard.trim_ascii_start().first().is_some_and(|&first| first != b'<') {
        return Err(Unexpected);
    }
    let end_of = |end: &&[u8]| heard.windows(end.len()).position(|window| window == *end).map(|at| at + end.len());
    Ok(ends.iter().filter_map(end_of).min())
}

fn contains(heard: &[u8], what: &[u8]) -> bool {
    heard.windows(what.len()).any(|window| window == what)
}

/// Why a server ends a stream (RFC 6120 §4.9.2).
fn stream_error(heard: &[u8]) -> Option<Problem> {
    let heard = String::from_utf8_lossy(heard);
    let (_, error) = heard.split_once("<stream:error")?;
    // What begins an element; the first is what follows the name of `stream:error` itself.
    let mut elements = error.split('<').skip(1);
    let name_of =
        |element: &str| element.split(|end: char| end.is_whitespace() || "/>".contains(end)).next().map(str::to_owned);
    let condition = elements.next().and_then(name_of).unwrap_or_default();
    let text = elements.find(|element| name_of(element).as_deref() == Some("text"));
    let text = text.and_then(|element| element.split_once('>')).map(|(_, text)| text.to_owned());
    Some(Problem::StreamError { condition, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_error_is_told_by_its_condition_and_text() {
        let told = |error: &str| stream_error(error.as_bytes());
        let error = |condition: &str, text: Option<&str>| {
            Some(Problem::StreamError { condition: condition.to_owned(), text: text.map(str::to_owned) })
        };
        let unknown =
            "<stream:stream><stream:error><host-unknown xmlns='a'/><text xmlns='a'>No x here</text></stream:error>";
        assert_eq!(told(unknown), error("host-unknown", Some("No x here")));
        let undefined = "<stream:error>\n <undefined-condition/></stream:error>";
        assert_eq!(told(undefined), error("undefined-condition", None));
        for cut in ["<stream:error", "<stream:error><", "<stream:error><a/><text", "<stream:error></stream:error>"] {
            assert!(told(cut).is_some(), "{cut}");
        }
        assert_eq!(told("<stream:features/>"), None);
    }
}

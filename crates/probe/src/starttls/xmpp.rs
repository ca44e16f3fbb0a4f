//! XMPP, client to server: STARTTLS and a new stream (RFC 6120 §5.4).
//!
//! Tags are looked for as text. Prefixes other than `stream:` are no concern: RFC 6120 §4.8.5 lets servers refuse them.

use std::fmt;

use reprise_trace::Failure;

use super::{Introduction, Protocol};
use crate::dialogue::{Dialogue, Heard, Unexpected, quoted};

pub(super) struct Xmpp;

const FEATURES_END: &[&[u8]] = &[b"</stream:features>", b"<stream:features/>", b"</stream:stream>"];
const VERDICT_END: &[&[u8]] = &[b"/>", b"</proceed>", b"</failure>", b"</stream:stream>"];

impl Protocol for Xmpp {
    fn preamble(&self, dialogue: &mut Dialogue<'_>, introduction: &Introduction) -> Result<(), Failure> {
        dialogue.say(&self.question(introduction))?;
        let features = dialogue.hear("stream features", |heard| to_the_end(heard, FEATURES_END))?;
        if let Some(error) = StreamError::within(&features) {
            return Err(dialogue.refusal("refused", &format!("ends the stream: {error}"), error.hint()));
        }
        if !contains(&features, b"urn:ietf:params:xml:ns:xmpp-tls") {
            return Err(dialogue.refusal("not_offered", "does not offer STARTTLS", None));
        }
        dialogue.say(b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")?;
        let verdict = dialogue.hear("answer to starttls", |heard| to_the_end(heard, VERDICT_END))?;
        if contains(&verdict, b"<proceed") {
            Ok(())
        } else {
            Err(dialogue.refusal("refused", &format!("refuses STARTTLS: {}", quoted(&verdict)), None))
        }
    }

    /// Under TLS the stream begins anew (RFC 6120 §5.4.3.3). A host name holds nothing that would have to be escaped.
    fn question(&self, introduction: &Introduction) -> Vec<u8> {
        let host = &introduction.host;
        format!(
            "<?xml version='1.0'?><stream:stream to='{host}' version='1.0' xmlns='jabber:client' \
             xmlns:stream='http://etherx.jabber.org/streams'>"
        )
        .into_bytes()
    }

    fn answer(&self, heard: &[u8]) -> Heard {
        to_the_end(heard, FEATURES_END)
    }

    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"</stream:stream>".to_vec()
    }
}

const NAME: &str = "it serves names: the target must be one of them, and --resolve ADDRESS says where it is";

/// Up to the first of these ends.
fn to_the_end(heard: &[u8], ends: &[&[u8]]) -> Heard {
    if heard.first().is_some_and(|&first| first != b'<') {
        return Err(Unexpected);
    }
    let end_of = |end: &&[u8]| heard.windows(end.len()).position(|window| window == *end).map(|at| at + end.len());
    Ok(ends.iter().filter_map(end_of).min())
}

fn contains(heard: &[u8], what: &[u8]) -> bool {
    heard.windows(what.len()).any(|window| window == what)
}

/// Why a server ends a stream (RFC 6120 §4.9.2).
struct StreamError {
    /// The name of an element: `host-unknown`.
    condition: String,
    /// What the server has to say about it.
    text: Option<String>,
}

impl StreamError {
    fn within(heard: &[u8]) -> Option<Self> {
        let heard = String::from_utf8_lossy(heard);
        let (_, error) = heard.split_once("<stream:error")?;
        // What begins an element; the first is what follows the name of `stream:error` itself.
        let mut elements = error.split('<').skip(1);
        let name_of =
            |element: &str| element.split(|end: char| end.is_whitespace() || "/>".contains(end)).next().map(str::to_owned);
        let condition = elements.next().and_then(name_of).unwrap_or_default();
        let text = elements.find(|element| name_of(element).as_deref() == Some("text"));
        let text = text.and_then(|element| element.split_once('>')).map(|(_, text)| text.to_owned());
        Some(Self { condition, text })
    }

    fn hint(&self) -> Option<&'static str> {
        ["host-unknown", "host-gone", "improper-addressing"].contains(&self.condition.as_str()).then_some(NAME)
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.condition.as_bytes()))?;
        self.text.as_ref().map_or(Ok(()), |text| write!(f, ", {}", quoted(text.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_end_where_their_element_does() {
        let features = b"<?xml version='1.0'?><stream:stream id='1'><stream:features><a/></stream:features>";
        assert_eq!(Xmpp.answer(features), Ok(Some(features.len())));
        assert!((0..features.len()).all(|cut| Xmpp.answer(&features[..cut]) == Ok(None)));
        assert_eq!(Xmpp.answer(b"220 mail"), Err(Unexpected));
    }

    #[test]
    fn a_stream_error_is_told_by_its_condition_and_text() {
        let told = |error: &str| StreamError::within(error.as_bytes()).map(|error| (error.to_string(), error.hint()));
        let unknown =
            "<stream:stream><stream:error><host-unknown xmlns='a'/><text xmlns='a'>No x here</text></stream:error>";
        assert_eq!(told(unknown), Some(("\"host-unknown\", \"No x here\"".to_owned(), Some(NAME))));
        let undefined = "<stream:error>\n <undefined-condition/></stream:error>";
        assert_eq!(told(undefined), Some(("\"undefined-condition\"".to_owned(), None)));
        for cut in ["<stream:error", "<stream:error><", "<stream:error><a/><text", "<stream:error></stream:error>"] {
            assert!(told(cut).is_some(), "{cut}");
        }
        assert_eq!(told("<stream:features/>"), None);
    }
}

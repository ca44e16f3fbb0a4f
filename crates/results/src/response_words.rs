//! In words: why the request came to no response.

use reprise_connection::exchange::{MAX_HEAD, MAX_HEADERS};
use reprise_connection::{Detail, Fault, RequestPart};
use reprise_model::FaultName;

const NOT_HTTP_HINT: &str = "if the service is not HTTP, use --no-request";

/// A message, and what to do next; `None` for a fault of another kind.
pub(crate) fn words(fault: &Fault) -> Option<(String, Option<String>)> {
    let said = match fault.detail.as_deref() {
        Some(Detail::Said(bytes)) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    };
    let quoted = said.as_ref().map(|said| said.escape_debug());
    let (message, hint) = match (fault.name, quoted) {
        (FaultName::UnfitRequest, _) => {
            let what = match fault.detail.as_deref() {
                Some(Detail::Unfit(RequestPart::Method)) => "the method".to_owned(),
                Some(Detail::Unfit(RequestPart::HostOrPath)) => "the host or the path".to_owned(),
                Some(Detail::Unfit(RequestPart::Field(name))) => format!("the header field '{name}'"),
                _ => "the request".to_owned(),
            };
            (format!("{what} cannot be sent by HTTP/2"), None)
        }
        (FaultName::NoResponse, _) => {
            ("the server closed the connection without a response".to_owned(), Some(NOT_HTTP_HINT))
        }
        (FaultName::ResponseTruncated, _) => {
            ("the server closed the connection in the middle of its response".to_owned(), None)
        }
        (FaultName::NotHttp, Some(quoted)) => {
            (format!("the response is not HTTP/1.1: it starts with \"{quoted}\""), Some(NOT_HTTP_HINT))
        }
        (FaultName::NotHttp, None) => ("the response is not HTTP/1.1".to_owned(), Some(NOT_HTTP_HINT)),
        (FaultName::HeadTooLarge, _) => (
            format!("the head of the response has more than {MAX_HEAD} bytes or {MAX_HEADERS} fields"),
            Some("request another resource with --path, or none with --no-request"),
        ),
        (FaultName::BadFraming, Some(quoted)) => {
            (format!("the response's Content-Length is invalid or repeated: \"{quoted}\""), None)
        }
        (FaultName::BadFraming, None) => ("the chunked response is malformed".to_owned(), None),
        (FaultName::UnexpectedData, _) => ("the server sent more than the response".to_owned(), None),
        (FaultName::ProtocolSwitched, _) => {
            ("the server answers with 101 and switches to another protocol".to_owned(), Some(NOT_HTTP_HINT))
        }
        (FaultName::Http2Error, _) => (
            format!("no response over HTTP/2: {}", said.unwrap_or_default()),
            Some("try --alpn http/1.1; if the service is not HTTP, use --no-request"),
        ),
        (FaultName::Http2Blocked, _) => ("the server's settings allow no request by HTTP/2".to_owned(), None),
        _ => return None,
    };
    Some((message, hint.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_peer_said_is_quoted_and_escaped() {
        let said = |name, bytes: &[u8]| words(&Fault::new(name).with(Detail::Said(bytes.to_vec()))).unwrap();
        let (message, hint) = said(FaultName::NotHttp, b"220 \"mail\"\r\n");
        assert_eq!(message, r#"the response is not HTTP/1.1: it starts with "220 \"mail\"\r\n""#);
        assert_eq!(hint.as_deref(), Some(NOT_HTTP_HINT));
        let (message, hint) = said(FaultName::BadFraming, b"-1");
        assert_eq!(message, "the response's Content-Length is invalid or repeated: \"-1\"");
        assert_eq!(hint, None);
        assert_eq!(said(FaultName::Http2Error, b"reset").0, "no response over HTTP/2: reset");
    }

    #[test]
    fn without_a_quotation_the_name_is_worded() {
        assert_eq!(words(&Fault::new(FaultName::BadFraming)).unwrap().0, "the chunked response is malformed");
        assert_eq!(words(&Fault::new(FaultName::NotTls)), None);
    }
}

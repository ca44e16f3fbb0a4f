//! Peers that speak something else, or nothing.

use reprise_engine::Error;
use reprise_model::Version;

use crate::script::{NOW, alert_of};
use crate::{begun, tls13_greeted};

fn said(answer: &[u8]) -> Error {
    let mut client = begun(Version::Tls13);
    let error = client.receive(NOW, answer).unwrap_err();
    // There is nobody to tell.
    assert_eq!(alert_of(&mut client), None);
    error
}

#[test]
fn text_is_shown_as_text() {
    let answers: [(&[u8], &str); 4] = [
        (b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n", "\"HTTP/1.1 400 Bad Request\""),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "\"SSH-2.0-OpenSSH_9.6\""),
        (b"220 mail.example.com ESMTP\r\n", "\"220 mail.example.com ESMTP\""),
        (b"* OK IMAP4rev1", "\"* OK IMAP4rev1\""),
    ];
    for (answer, shown) in answers {
        let error = said(answer);
        assert!(matches!(&error, Error::NotTls(bytes) if answer.starts_with(bytes)), "{error:?}");
        assert_eq!(error.to_string(), format!("the peer does not speak TLS: its first bytes are {shown}"));
    }
}

#[test]
fn what_is_no_text_is_shown_as_bytes() {
    assert_eq!(said(&[0, 0, 0x18, 4]).to_string(), "the peer does not speak TLS: its first bytes are 00 00 18 04");
    assert!(said(b"\r\n").to_string().ends_with("0d 0a"));
    // Never more than is worth showing, whatever comes.
    let Error::NotTls(bytes) = said(&[b'x'; 5000]) else { panic!() };
    assert_eq!(bytes.len(), 64);
}

#[test]
fn garbage_that_begins_like_tls_is_found_out_by_its_header() {
    for answer in [&[22, 2][..], &[22, 3, 1, 0xff, 0xff], &[19], &[25, 3, 3]] {
        assert_eq!(said(answer), Error::NotTls(answer.to_vec()));
    }
}

#[test]
fn after_tls_was_spoken_garbage_is_a_malformed_record() {
    let (mut client, _server) = tls13_greeted();
    let error = client.receive(NOW, b"HTTP/1.1 400 Bad Request").unwrap_err();
    assert!(matches!(error, Error::Malformed { message: "record", .. }), "{error}");
}

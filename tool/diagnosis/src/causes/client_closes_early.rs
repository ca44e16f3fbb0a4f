//! `client-closes-early`: the client closes before it reads the tickets that follow the handshake of TLS 1.3.
//!
//! Either it had left before they were sent; or its socket was closed with unread bytes in it, which its system answers with
//! a reset (RFC 2525, section 2.17), and before a response those bytes are tickets. A client that merely finished without a
//! response may have read them: then both are possible.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Version, WatchedConnection, WatchedEnd};

use super::{Cause, Rule, client_fix};
use crate::client::case::{ClientCase, named, waited_until, wants_another_protocol};

pub(super) static CAUSE: Cause = Cause {
    slug: "client-closes-early",
    title: "The client closes before it has read the tickets",
    happens: "\
TLS 1.3 sends tickets after the handshake (RFC 9846 §4.7.1). A client that writes, closes and never reads, or whose
library hands sessions over only while reading, has nothing to offer next time. `openssl s_time -reuse` and many
load tools are such clients.",
    seen: "\
No connection brings a response, none offers a session, and two or more end after the handshake: by a reset, with which
a system answers unread bytes (RFC 2525 §2.17), or before the tickets were sent. Two resets are certain, what left before is likely; an
end by FIN or close_notify may have read them, and is possible only. A client that asks for other protocols than http/1.1 by ALPN, as gRPC's
do, leaves because it does not get them, and one that ends with an alert says why itself: neither is meant. With a server that waits, or under TLS 1.2, the same
client resumes.",
    confirm: "\
`s_client` that does not wait saves nothing where the tickets are still on their way; with a wait it does:

```sh
openssl s_client -connect HOST:443 -tls1_3 -sess_out early.pem \\
  < /dev/null > /dev/null 2>&1; ls -l early.pem
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 \\
  -sess_out late.pem > /dev/null 2>&1; ls -l late.pem
```",
    costs: "Every connection is a full handshake, though both sides support resumption.",
    advice: "Read until the response is complete, or at least once, before closing, since under TLS 1.3 the tickets follow the handshake, before the first response:",
    fixes: &[
        client_fix("OpenSSL API", "SSL_write(ssl, request, strlen(request)); SSL_read(ssl, buffer, sizeof buffer);", "SSL_read reads the tickets: call it before SSL_get1_session and SSL_shutdown. s_client -reconnect reads nothing under TLS 1.3"),
        client_fix("Python ssl", "connection.sendall(request); connection.recv(1)", "the tickets come before the response: read before connection.session is taken and the connection closed"),
        client_fix("Node", "socket.on('session', (session) => { saved = session; socket.destroy(); });", "instead of getSession() after secureConnect: the socket stays open until the session came"),
        client_fix("Go", "conn.Write(request); conn.Read(make([]byte, 1))", "at least once before Close, where a tls.Conn is used: Read fills the cache. net/http reads by itself"),
        client_fix("Java", "socket.getOutputStream().write(request); socket.getInputStream().read();", "at least once before close()"),
        client_fix(".NET", "", "read from the SslStream at least once before it is disposed"),
        client_fix("rustls", "conn.read_tls(&mut socket)?; conn.process_new_packets()?;", "after the handshake, before the socket is closed: the response or the tickets come"),
    ],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    watched: Some(Rule { rank: 2, find: of_client }),
    ..Cause::BLANK
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    if case.offers_any() || !case.chances().is_empty() {
        return None;
    }
    let unread: Vec<(&WatchedConnection, WatchedEnd)> = case
        .completed()
        .filter(|(it, _, agreed)| agreed.version == Version::Tls13 && it.sessions_given > 0 && it.first_response.is_none())
        .filter(|(it, _, agreed)| waited_until(it, agreed).is_none())
        // Why these left is another matter.
        .filter(|(it, offer, _)| it.alert.is_none() && !wants_another_protocol(offer))
        .filter_map(|(it, _, _)| Some((it, it.end?.1)))
        .filter(|(_, end)| matches!(end, WatchedEnd::Reset | WatchedEnd::Fin | WatchedEnd::CloseNotify))
        .collect();
    // The last connection's tickets are of use to nobody.
    if unread.len() < 2 || case.completed().any(|(it, _, _)| it.first_response.is_some()) {
        return None;
    }
    // On a busy server a client that waits for a while may have left before tickets that were late.
    let resets = unread.iter().filter(|(it, end)| !it.left_before_tickets && *end == WatchedEnd::Reset).count();
    let left = unread.iter().filter(|(it, _)| it.left_before_tickets).count();
    let confidence = match (resets, left) {
        (2.., _) => Confidence::Certain,
        (0, 0) => Confidence::Possible,
        _ => Confidence::Likely,
    };
    let severity = if resets + left > 0 { Severity::Fault } else { Severity::Risk };
    let title = match resets + left {
        0 => format!("{} connections ended right after the handshake, perhaps before their tickets were read", unread.len()),
        _ => "The client closes before it reads its tickets".to_owned(),
    };
    let line = |(connection, end): &(&WatchedConnection, WatchedEnd)| {
        let how = match end {
            _ if connection.left_before_tickets => "it had closed before they arrived",
            WatchedEnd::Reset => "reset, so with its tickets unread",
            _ => "closed without a request",
        };
        format!("{}: {} tickets sent, {how}", named(connection), connection.sessions_given)
    };
    case.found_in(&CAUSE, severity, confidence, title, unread.iter().map(line))
}

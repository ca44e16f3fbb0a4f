//! `alpn-differs`: the client offers a session with other application protocols than it was given with.
//!
//! It resumes all the same, but early data is only accepted under the protocol of the session (RFC 9846 §4.3.10).

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule, client_fix};
use crate::client::case::{ClientCase, Offered, named};

pub(super) static CAUSE: Cause = Cause {
    slug: "alpn-differs",
    title: "The client changes its application protocols between the connections of one session",
    happens: "\
A session resumes whatever protocols the client offers by ALPN, but early data is only accepted under the protocol of
the session (RFC 9846 §4.3.10). A program that offers h2 on some connections and http/1.1 on others from one store of
sessions does this.",
    seen: "\
Of a client that connects to `--listen`: the list of protocols in the ClientHello that offers a session is not that of
the session's own connection. It is a note.",
    confirm: "\
Offer a session with another list of protocols:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -alpn http/1.1 \\
  -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -alpn http/1.1,h2 -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "Nothing where the session resumes all the same; early data, and so a round trip, where it was to be sent.",
    advice: "Let all connections that share sessions offer the same protocols:",
    fixes: &[
        client_fix(
            "OpenSSL API",
            "SSL_CTX_set_alpn_protos(ctx, protocols, length);",
            "on the SSL_CTX, for all its connections",
        ),
        client_fix(
            "Python ssl",
            "context.set_alpn_protocols([\"h2\", \"http/1.1\"])",
            "on the SSLContext, for all its connections",
        ),
        client_fix("Go", "config.NextProtos = []string{\"h2\", \"http/1.1\"}", "a ClientSessionCache for each list"),
        client_fix("rustls", "", "the same alpn_protocols in all ClientConfigs that share a Resumption store"),
    ],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    watched: Some(Rule { rank: 9, find: of_client }),
    ..Cause::BLANK
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let list = |alpn: &[String]| if alpn.is_empty() { "none".to_owned() } else { alpn.join(", ") };
    let line = |it: Offered<'_>| {
        let (before, now) = (&it.source.offer.as_ref()?.alpn, &it.offer.alpn);
        let differs =
            || format!("{}: {}, and {} in the connection of the session", named(it.connection), list(now), list(before));
        (before != now).then(differs)
    };
    let title = "The client changes its application protocols between the connections of one session";
    case.found_in(&CAUSE, Severity::Note, Confidence::Certain, title, case.offered().filter_map(line))
}

//! `client-reuses-ticket`: the client offers one ticket of TLS 1.3 again and again.
//!
//! RFC 9846 §C.4: clients should not. Servers that use a ticket once refuse it, and whoever watches the network can
//! join the connections.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{GivenSession, Version, WatchedConnection};

use super::{Cause, Rule, client_fix};
use crate::client::case::{ClientCase, first_lines, named, outcome};

pub(super) static CAUSE: Cause = Cause {
    slug: "client-reuses-ticket",
    title: "The client offers one ticket more than once",
    happens: "\
RFC 9846 appendix C.4: a client should not use a ticket twice, since whoever watches can link the connections, and
servers with replay protection refuse the second use (`single-use`). A client that keeps one session per server and
does not replace it does so.",
    seen: "\
Two completed connections of one client bring the same TLS 1.3 ticket in pre_shared_key. A second attempt with the ticket of
one that failed is not meant.",
    confirm: "\
`openssl s_client -sess_in` offers the same file as often as it is run: look for equal identities in a capture:

```sh
tshark -r capture.pcapng -Y tls.handshake.extensions.psk.identity.identity -T fields -e tls.handshake.extensions.psk.identity.identity
```",
    costs: "Full handshakes at servers that take each ticket once, and linkable connections elsewhere.",
    advice: "Take the newest ticket, and forget it when it has been offered:",
    fixes: &[
        client_fix("OpenSSL API", "session = SSL_get1_session(ssl);", "after each response, in place of the one that was offered. SSL_CTX_sess_set_new_cb brings all tickets of a connection: offer each once"),
        client_fix("OpenSSL API", "openssl s_client -sess_in FILE -sess_out FILE", "it writes the new session"),
        client_fix("Python ssl", "saved = connection.session", "from each connection after its first response; offer each once"),
        client_fix("Node", "socket.on('session', (session) => { saved = session; });", "the newest takes the place of the last; offer each once"),
        client_fix("Node", "const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });", "an agent offers one session on all connections that begin at once: let requests share connections, or use HTTP/2, which needs one"),
        client_fix("Go", "transport.MaxConnsPerHost = 1", "its cache offers one session on all connections that begin at once: let requests share connections, or use HTTP/2, which needs one; or write a ClientSessionCache that returns each session once"),
        client_fix("Java", "", "before 24 it holds one session per host; from 24 on it holds up to ten tickets"),
        client_fix("rustls", "", "takes each ticket once by itself"),
    ],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain],
    watched: Some(Rule { rank: 5, find: of_client }),
    ..Cause::BLANK
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let mut uses: BTreeMap<GivenSession, Vec<&WatchedConnection>> = BTreeMap::new();
    // A client may try again with the ticket of an attempt that failed.
    let completed = case.offered().filter(|it| it.connection.agreed().is_some() && it.session.version == Version::Tls13);
    for offered in completed {
        if let Some(given) = offered.session.given {
            uses.entry(given).or_default().push(offered.connection);
        }
    }
    let again = || uses.values().filter(|connections| connections.len() > 1);
    let tickets = again().count();
    if tickets == 0 {
        return None;
    }
    let offers: usize = again().map(Vec::len).sum();
    let refused = again().flatten().filter(|it| outcome(it) != "resumed").count();
    let title = match tickets {
        1 => format!("The client offers one ticket {offers} times: servers that use a ticket once refuse it"),
        _ => format!("The client offers {tickets} tickets {offers} times: servers that use a ticket once refuse them"),
    };
    let lines = again().flatten().map(|connection| format!("{}: {}", named(connection), outcome(connection)));
    let mut evidence = first_lines(lines);
    evidence.push(format!("This server takes each ticket once: {refused} of the {offers} offers did not resume"));
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title, evidence))
}

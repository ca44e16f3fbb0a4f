use super::Cause;
use super::FoundBy::{Diagnose, Listen};
use super::shared::MORE_TICKETS;

pub(super) const CAUSE: Cause = Cause {
    slug: "tickets-run-out",
    title: "One client has more connections at once than tickets",
    happens: "\
Under TLS 1.3 each ticket should serve once (RFC 8446 appendix C.4), and a server gives one or two for each
connection. A client that opens many connections at once has none left for most of them. A public benchmark of 2026
shows 100, 100, 52 and 37 % resumed at 1, 8, 64 and 128 concurrent handshakes over sockets. TLS 1.2 stays at 100 %:
its sessions serve any number. Some clients hold a single session per host: Java before 24, Go's LRU cache.",
    seen: "\
Of a server: after one full handshake a burst of connections is made at once. Where each that held a ticket resumed and the others
had none left, that the server gives fewer tickets than the burst has connections is a note; where sessions that were offered
at once are refused though each alone resumes, it is a risk. Of a client that connects to `--listen`: a connection offers
nothing beside others, begun within half a second, that did.",
    confirm: "\
Count the tickets of one connection:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null | grep -c NewSessionTicket
```",
    costs: "\
Full handshakes for all connections of a burst beyond the tickets held, exactly when there are many.",
    found_by: &[Diagnose, Listen],
    advice: "Keep connections open and share them (HTTP/2 needs one), let the client hold more tickets, or give more for each full handshake, which a client can ask for with ticket_request (RFC 9149):",
    fixes: MORE_TICKETS,
};

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
A burst of N connections at once, with T tickets held: fewer than min(T, N) resumed counts against the server; that
T is smaller than the client's concurrency is this cause, and a note. Of a client, `--listen` counts the connections
at once and those that offered a ticket.",
    confirm: "\
Count the tickets of one connection:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null | grep -c NewSessionTicket
```",
    costs: "\
Full handshakes for all connections of a burst beyond the tickets held, exactly when there are many.",
    found_by: &[Diagnose, Listen],
    advice: "Give more tickets for each full handshake, keep more of them in the client, or keep connections open (HTTP/2 needs one):",
    fixes: MORE_TICKETS,
};

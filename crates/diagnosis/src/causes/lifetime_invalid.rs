use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "lifetime-invalid",
    title: "The lifetime of tickets breaks the RFC",
    happens: "\
A NewSessionTicket says for how many seconds it may be used. Under TLS 1.3 a lifetime of 0 tells the client to
discard the ticket at once, and more than 604800 s, seven days, is forbidden (RFC 8446 §4.6.1). Under TLS 1.2 a hint
of 0 only means that none is given (RFC 5077 §3.3) and is no finding.",
    seen: "\
Reprise reads ticket_lifetime from each NewSessionTicket. A TLS 1.3 lifetime of 0 or above 604800 is found with
certainty, since the number itself stands on the wire. Clients treat it in their own ways: some cap it, some refuse
the ticket, some end the connection with illegal_parameter.",
    confirm: "\
The lifetime stands in what `s_client` prints of each ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 2> /dev/null | grep 'lifetime hint'
```",
    costs: "\
With 0 no client that follows the RFC ever resumes: each connection is a full handshake. Above seven days, strict
clients fail.",
    found_by: &[Diagnose],
    advice: "Keep the lifetime between 1 s and 604800 s.",
    fixes: &[fix("rustls", "fn lifetime(&self) -> u32 { 86400 }", "in your own ProducesTickets")],
};

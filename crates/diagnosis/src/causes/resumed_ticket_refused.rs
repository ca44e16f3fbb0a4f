use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "resumed-ticket-refused",
    title: "Tickets of resumed connections are refused",
    happens: "\
What a full handshake gives is accepted, and what a resumed connection gives is not; or only the last of several
tickets is. A server that keeps only one session for each connection, and sends a ticket that names none, does this.",
    seen: "\
Acceptance follows where a ticket came from, exactly: of a full handshake, the last of its connection, or both.
Neither the node (its key name) nor the distance explains it.",
    confirm: "\
Resume with the ticket of a resumed connection:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out one.pem > /dev/null 2>&1
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_in one.pem -sess_out two.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in two.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "Every second connection of a client is a full handshake, or more.",
    found_by: &[Measure, Diagnose],
    advice: "Let the server keep, or be able to decrypt, what it gives on resumption:",
    fixes: &[
        fix("stunnel", "options = -NO_TICKET", ""),
        fix(
            "OpenSSL API",
            "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);",
            "or a session cache whose callbacks keep sessions of resumed connections too",
        ),
    ],
};

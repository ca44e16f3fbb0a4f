use super::{Cause, fix};

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-needs-tickets",
    title: "Early data is on, and the library needs tickets for it",
    happens: "\
AWS-LC and BoringSSL take early data with sealed tickets alone, and their cache is never used for TLS 1.3. A server
that allows early data and has tickets switched off gives TLS 1.3 nothing at all. OpenSSL is the other way round:
its replay protection uses the cache.",
    seen: "\
Not from outside: that early data is allowed stands in the configuration and not on the wire, and a server that gives no TLS 1.3
ticket is found as `not-offered`. It is likely where TLS 1.2 resumes by session ID, TLS 1.3 gets no ticket, and the server is
built on AWS-LC or BoringSSL: look for early data in its configuration, and for tickets that are switched off.",
    confirm: "\
No ticket after a whole response:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null \\
  | grep -c NewSessionTicket
```",
    costs: "Each TLS 1.3 connection is a full handshake, and no early data is ever sent.",
    advice: "Switch tickets on, or early data off:",
    fixes: &[
        fix("nginx", "ssl_session_tickets on;", "in the http block, or in the first server block of the listener"),
        fix("HAProxy", "", "take no-tls-tickets out of the bind line that has allow-0rtt"),
        fix("OpenSSL API", "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);", "of AWS-LC and BoringSSL"),
    ],
    ..Cause::BLANK
};

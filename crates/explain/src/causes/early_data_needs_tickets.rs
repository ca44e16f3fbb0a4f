use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-needs-tickets",
    title: "Early data is on, and the library needs tickets for it",
    happens: "\
AWS-LC and BoringSSL take early data with sealed tickets alone, and their cache is never used for TLS 1.3. A server
that allows early data and has tickets switched off gives TLS 1.3 nothing at all. OpenSSL is the other way round:
its replay protection uses the cache.",
    seen: "\
TLS 1.2 resumes by session ID, and under TLS 1.3 no ticket comes. That early data is allowed in the configuration is
not on the wire: so it is said beside `not-offered` and `no-tls13-resumption`, as possible.",
    confirm: "\
No ticket after a whole response:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -msg 2> /dev/null | grep -c NewSessionTicket
```",
    costs: "Each TLS 1.3 connection is a full handshake, and no early data is ever sent.",
    found_by: &[Diagnose],
    advice: "",
    fixes: &[
        fix("nginx", "ssl_session_tickets on;", ""),
        fix("HAProxy", "", "take no-tls-tickets out of the bind line that has allow-0rtt"),
        fix("OpenSSL API", "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);", "of AWS-LC and BoringSSL"),
    ],
};

use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "offer-breaks-connection",
    title: "The connection fails only where a session is offered",
    happens: "\
A server, or a middlebox on the path, fails on an offer that it should ignore. Known in the field: an alert at the
session's deadline instead of a full handshake, a large mTLS ticket that fragments the ClientHello, a balancer that
waits for more. RFC 8446 §4.2.11 and RFC 5077 §3.4 ask for a full handshake where a session is not accepted.",
    seen: "\
Connections without a session complete, before and after, and those that offer one end in an alert, a close or silence: three,
and each that was made, are certain. A target that went down altogether is not meant. Where sessions resume in plain
connections, unusual ones are tried as well: a ClientHello split over records or segments, many PSK identities, no SNI, no
ALPN, no key share. The finding names the offer that fails.",
    confirm: "\
Offer a session, and then none:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2>&1 | grep -E '^(New|Reused)|alert|:error:'
openssl s_client -connect HOST:443 -tls1_3 < /dev/null 2>&1 | grep -E '^(New|Reused)|alert|:error:'
```",
    costs: "\
A failed connection for each client that comes back, and one more attempt where the client tries again without.",
    found_by: &[Diagnose],
    advice: "Upgrade the server or what stands before it. Until then make tickets smaller (session IDs of a cache, a shorter client chain), or give none:",
    fixes: &[
        fix("nginx", "ssl_session_tickets off;", "with a shared cache: tickets become short"),
        fix("Apache", "SSLSessionTickets off", "with SSLSessionCache: tickets become short"),
        fix("HAProxy", "no-tls-tickets", "on the bind line: tickets become short"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);",
            "sessions stay in the cache, tickets become short",
        ),
        fix("curl", "", "with --no-sessionid the client offers nothing"),
        fix("Java", "", "new SSLContext for each connection: the client offers nothing"),
    ],
};

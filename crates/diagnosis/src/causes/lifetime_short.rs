use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "lifetime-short",
    title: "Sessions expire within minutes",
    happens: "\
The server accepts a session for a short time only: nginx and HAProxy for 300 s by default, as does Apache. Clients that connect less often than that never resume. It is a choice, not a fault: whoever steals a
ticket key can read the sessions of that time (RFC 8446 §8.1, appendix C.4 on tickets).",
    seen: "\
Two numbers are reported. A ticket that states less than 300 s is a note, with certainty, since the number stands on the wire. With
`--patience` a session is offered at once and again after the wait: accepted first and refused then, before the lifetime
that its ticket states was over, it is possible that it expired; keys that were changed meanwhile look the same. A session
that is refused at once has another cause.",
    confirm: "\
Resume, wait, and resume the same session again (TLS 1.2, so that a ticket may be used twice):

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
sleep 310
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "Each connection of a client that comes back later than that is a full handshake.",
    found_by: &[Diagnose],
    advice: "Where clients come back less often than every few minutes, raise it:",
    fixes: &[
        fix("nginx", "ssl_session_timeout 4h;", "default 5m"),
        fix("Apache", "SSLSessionCacheTimeout 14400", "default 300; applies to tickets too"),
        fix("HAProxy", "tune.ssl.lifetime 14400", "in the global section, default 300"),
        fix("Envoy", "session_timeout: 14400s", "in the DownstreamTlsContext, default 7200s; of TLS 1.2 alone"),
        fix("OpenSSL API", "SSL_CTX_set_timeout(ctx, 14400);", "default 7200 under OpenSSL 3"),
        fix("GnuTLS", "gnutls_db_set_cache_expiration(session, 14400);", ""),
        fix("Java", "-Djdk.tls.server.sessionTicketTimeout=14400", "default 86400; in a program SSLSessionContext.setSessionTimeout"),
        fix("Postfix", "smtpd_tls_session_cache_timeout = 14400s", "default 3600s"),
    ],
};

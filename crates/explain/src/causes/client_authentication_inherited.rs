use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-authentication-inherited",
    title: "A resumed handshake sends no client certificate",
    happens: "\
RFC 8446 §4.3.2 forbids a CertificateRequest beside a PSK, and an abbreviated TLS 1.2 handshake has no room for one
(RFC 5246 §7.3): the client's identity is the one that the session was made with.",
    seen: "\
The server asks for a certificate in full handshakes, gets it, and asks for none in those that resume.",
    confirm: "\
Count the requests in a trace:

```sh
reprise trace HOST --cert cert.pem --key key.pem
```",
    costs: "\
No time. Whoever holds the session is that client until it expires, even if the certificate is revoked.",
    found_by: &[Measure, Diagnose],
    advice: "Keep the lifetime of sessions short, or check revocation when a session is resumed:",
    fixes: &[
        fix("nginx", "ssl_session_timeout 5m;", ""),
        fix("Apache", "SSLSessionCacheTimeout 300", ""),
        fix("HAProxy", "tune.ssl.lifetime 300", "in the global section"),
        fix("OpenSSL API", "SSL_get0_verified_chain(ssl)", "and check it again when SSL_session_reused(ssl) is 1"),
        fix("Go", "config.VerifyConnection = check", "it runs for resumed connections too, VerifyPeerCertificate does not"),
    ],
};

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
        fix("nginx", "", "ssl_session_timeout says how long sessions live"),
        fix("Apache", "", "SSLSessionCacheTimeout says how long sessions live"),
        fix("HAProxy", "", "tune.ssl.lifetime says how long sessions live"),
        fix("OpenSSL API", "", "check SSL_get0_verified_chain again where SSL_session_reused is 1"),
        fix("Go", "", "check in VerifyConnection: it runs for resumed connections too, VerifyPeerCertificate does not"),
    ],
};

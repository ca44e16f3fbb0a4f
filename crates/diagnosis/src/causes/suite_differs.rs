use super::Cause;
use super::FoundBy::{Diagnose, Listen};

pub(super) const CAUSE: Cause = Cause {
    slug: "suite-differs",
    title: "A session needs the suite that made it",
    happens: "\
A TLS 1.2 session is bound to its cipher suite, which the client must offer again (RFC 5246 §7.4.1.2) and the server
must be willing to choose. TLS 1.3 needs only a suite with the same hash (RFC 8446 §4.2.11).",
    seen: "\
Of a server: a session that was made without the suite that the server prefers is refused where that suite is offered again
(under TLS 1.3 one of another hash). That is as the RFC allows, and a note; a server that ends the connection instead is
`offer-breaks-connection`. Of a client that connects to `--listen`: it offers a session and not its suite, or under TLS 1.3
none of its hash, which is a risk.",
    confirm: "\
Offer the session with another hash:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256 -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "A full handshake for clients that change their suites between connections.",
    found_by: &[Diagnose, Listen],
    advice: "Let a client offer the same suites in all connections to a server, and all nodes of a service choose in the same order.",
    fixes: &[],
};

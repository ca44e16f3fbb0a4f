use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "large-client-hello",
    title: "Sessions are refused where the ClientHello is large",
    happens: "\
A post-quantum key share of X25519MLKEM768 adds 1216 bytes, a large ticket some thousand more: the ClientHello no
longer fits into one packet. Balancers that look for the session ID or name in the first packet, and servers that
look sessions up only in small ClientHellos, then miss it.",
    seen: "\
A session that always resumes in a small ClientHello is refused in one of more than 1600 bytes, or its connection fails. Where
the large ClientHello fails without any session too, the finding says so: then it is not about resumption. One that is
split over records or TCP segments is tried by itself, and is `offer-breaks-connection`.",
    confirm: "\
Compare one with a post-quantum key share (OpenSSL from 3.5) and one without:

```sh
openssl s_client -connect HOST:443 -tls1_3 -groups X25519MLKEM768:X25519 < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
openssl s_client -connect HOST:443 -tls1_3 -groups X25519 < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
A full handshake, or a failure, for all clients with post-quantum key exchange: current browsers among them.",
    found_by: &[Diagnose],
    advice: "Upgrade what reads only the first packet, and let it read whole handshake messages (RFC 8446 §5.1). Until then keep tickets small: session IDs of a cache are 32 bytes.",
    fixes: &[fix("HAProxy", "", "tcp-request inspect-delay with tcp-request content accept if { req.ssl_hello_type 1 } waits for the whole ClientHello"),],
};

use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "ticket-dearer-than-signature",
    title: "Resuming costs more than the full handshake",
    happens: "\
Resumption is work too: the server decrypts the ticket, or asks a cache, perhaps over the network. With an ECDSA key
a signature takes some tens of microseconds; a remote session store takes a round trip to it, and slow AEAD without
hardware help takes long for large tickets.",
    seen: "\
The resumed handshakes of this target take longer than the full ones, by an interval (95 %) that lies wholly on that side. \
Reprise does not report where the time goes: `reprise trace HOST` shows which message waits.",
    confirm: "\
Measure both interleaved:

```sh
reprise measure HOST --kinds full,ticket
```",
    costs: "What the finding says: time of each resumed connection.",
    found_by: &[Diagnose],
    advice: "Use tickets instead of a remote store, keep tickets small (no client chain in them), or let the cache stand on the same node:",
    fixes: &[
        fix("nginx", "", "ssl_session_tickets on"),
        fix("Apache", "", "SSLSessionCache shmcb instead of memcache or redis"),
        fix("HAProxy", "", "tickets, so without no-tls-tickets"),
        fix(
            "OpenSSL API",
            "",
            "in the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb, an AES that the processor has instructions for",
        ),
        fix("rustls", "", "a ticketer instead of a remote session_storage"),
    ],
};

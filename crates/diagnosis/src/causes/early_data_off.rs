use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-off",
    title: "Tickets do not allow early data",
    happens: "\
A ticket says how many bytes of early data the server would take (RFC 8446 §4.2.10). Without that extension, or with
0, none may be sent. It is off by default nearly everywhere, for good reason: early data can be replayed
(`early-data-replayable`).",
    seen: "\
Tickets arrive, and max_early_data_size is absent or 0 in each of them. It is by design, and a note.",
    confirm: "\
The size stands in what `s_client` prints of each ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 2> /dev/null | grep 'Max Early Data'
```",
    costs: "One round trip in each resumed connection, which early data would save.",
    found_by: &[Measure, Diagnose],
    advice: "If requests that may be replayed are to save a round trip:",
    fixes: &[
        fix("nginx", "ssl_early_data on;", "from 1.15.3"),
        fix("HAProxy", "allow-0rtt", "on the bind line"),
        fix("OpenSSL API", "SSL_CTX_set_max_early_data(ctx, 16384);", "and SSL_read_early_data before SSL_accept"),
        fix(
            "GnuTLS",
            "gnutls_init(&session, GNUTLS_SERVER | GNUTLS_ENABLE_EARLY_DATA);",
            "with gnutls_record_set_max_early_data_size and gnutls_anti_replay_enable",
        ),
        fix(
            "rustls",
            "config.max_early_data_size = 16384;",
            "with a session_storage and no ticketer: it takes early data with stateful tickets alone",
        ),
        fix("Apache", "", "has none"),
        fix("Envoy", "", "takes none over TCP"),
        fix("Go", "", "takes none over TCP"),
        fix("Node", "", "takes none"),
        fix("Java", "", "takes none"),
    ],
};

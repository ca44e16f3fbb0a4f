use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-too-early",
    title: "The service answers early data with 425 Too Early",
    happens: "\
TLS accepts the early data, and what stands behind it will not risk that the request is a replay (RFC 8470 §5.2).
That is right for requests that change something.",
    seen: "Early data was accepted, and the response has status 425.",
    confirm: "\
See the status of a request that is sent early (curl from 8.11 with GnuTLS, from 8.13 with OpenSSL):

```sh
curl --tls-earlydata -so /dev/null -w '%{http_code}\\n' https://HOST/ https://HOST/
```",
    costs: "A round trip more than without early data: the request must be sent again after the handshake.",
    found_by: &[Measure, Diagnose],
    advice: "Ask for a path that may be replayed with --path, or allow no early data where none may:",
    fixes: &[
        fix("nginx", "", "take ssl_early_data out of the configuration"),
        fix("HAProxy", "", "take allow-0rtt out of the bind line"),
    ],
};

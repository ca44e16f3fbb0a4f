use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-replayable",
    title: "Early data is accepted, and whoever records it can send it again",
    happens: "\
Nothing in TLS prevents that early data is sent again on another connection (RFC 8446 §8), and it has no forward
secrecy (§2.3). A service behind TLS must know which requests came so, and answer 425 where one must not be replayed
(RFC 8470).",
    seen: "\
Early data was accepted. Whether the service guards itself is not on the wire; a 425 is `early-data-too-early`.",
    confirm: "\
Send the same early data twice with one saved session: a server without replay protection takes both.

```sh
for i in 1 2; do (sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem -early_data early.txt 2> /dev/null | grep 'Early data was'; done
```",
    costs: "No time: a risk for requests that change something.",
    found_by: &[Measure, Diagnose],
    advice: "Let the service see which requests came early and answer 425 where one must not be replayed (RFC 8470):",
    fixes: &[fix("nginx", "", "proxy_set_header Early-Data $ssl_early_data tells the service which requests came early"),
fix("HAProxy", "", "http-request wait-for-handshake where a request must not be replayed; it sends Early-Data: 1 to servers by itself"),],
};

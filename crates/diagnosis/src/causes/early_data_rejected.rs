use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-rejected",
    title: "Tickets allow early data, and the server rejects it",
    happens: "\
A server rejects early data that its replay protection does not know (RFC 8446 §8): sent with a ticket that was used
before, that another node gave, or that is older than its window; or because ALPN or the suite differ from those of
the session (§4.2.10).",
    seen: "\
Tickets state a max_early_data_size above 0, early data was sent, no HelloRetryRequest came, and EncryptedExtensions
had no early_data.",
    confirm: "\
Send early data with a fresh ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
printf 'GET / HTTP/1.1\\r\\nHost: HOST\\r\\n\\r\\n' > early.txt
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem -early_data early.txt 2> /dev/null | grep 'Early data was'
```",
    costs: "The bytes of the request are sent twice, and no round trip is saved.",
    found_by: &[Measure, Diagnose],
    advice: "Let the nodes share their replay protection, or allow no early data:",
    fixes: &[fix("nginx", "", "take ssl_early_data out of the configuration"),
fix("HAProxy", "", "take allow-0rtt out of the bind line"),
fix("rustls", "", "leave max_early_data_size at 0, its default"),
fix("OpenSSL API", "", "leave SSL_CTX_set_max_early_data at 0, its default"),],
};

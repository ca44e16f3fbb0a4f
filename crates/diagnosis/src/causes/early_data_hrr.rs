use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "early-data-hrr",
    title: "A HelloRetryRequest rejects early data",
    happens: "\
A client sends a key share of the group that it guesses. If the server wants another, it asks again with a
HelloRetryRequest, and early data is then rejected, whatever the server would have done with it (RFC 8446 §4.2.10).",
    seen: "\
Early data was sent, a HelloRetryRequest came, and the early data was rejected. Rejection without one is
`early-data-rejected`.",
    confirm: "\
See which group the server takes without asking again:

```sh
openssl s_client -connect HOST:443 -tls1_3 -groups X25519 -msg < /dev/null 2> /dev/null | grep -cE '<<<.*ServerHello'
```

Two ServerHellos mean a HelloRetryRequest.",
    costs: "One round trip, and the bytes of early data twice.",
    found_by: &[Measure, Diagnose],
    advice: "Offer the key share of the group that the server takes first (here: --groups), or let the server take what its clients offer first:",
    fixes: &[
        fix("nginx", "ssl_ecdh_curve X25519:prime256v1:secp384r1;", ""),
        fix("HAProxy", "curves X25519:P-256:P-384", "on the bind line"),
        fix("OpenSSL API", "SSL_CTX_set1_groups_list(ctx, \"X25519:P-256:P-384\");", ""),
    ],
};

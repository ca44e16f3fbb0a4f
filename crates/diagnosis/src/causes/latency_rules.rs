use super::FoundBy::{Diagnose, Measure};
use super::{Cause, client_fix, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "latency-rules",
    title: "Round trips rule, and resumption saves none",
    happens: "\
A full TLS 1.3 handshake takes one round trip before the request, and so does a resumed one (RFC 8446 §2.2). Where
the network's delay is most of a connection, resumption cannot be felt. TLS 1.2 is different: an abbreviated
handshake saves one of two.",
    seen: "\
The time to connect is one round trip and nothing else. Multiplied by the round trips of a connection it makes up
most of the total, even at the ends of the intervals that speak most against it, and the resumed connection needs as
many as the full one.",
    confirm: "\
Time the parts of one request:

```sh
curl -so /dev/null -w 'tcp %{time_connect} tls %{time_appconnect} all %{time_total}\\n' https://HOST/
```",
    costs: "\
The finding gives the share of a whole request that the handshake is, and what a kept connection would save.",
    found_by: &[Measure, Diagnose],
    advice: "Keep connections alive: the next request waits for one round trip alone. Early data saves one, for requests that may be replayed.",
    fixes: &[
        fix(
            "nginx",
            "",
            "keepalive_timeout above 0, as by default; towards upstreams a keepalive directive; ssl_early_data on for requests that may be replayed",
        ),
        fix("Apache", "", "KeepAlive On, as by default, and a KeepAliveTimeout longer than its 5 s"),
        fix("HAProxy", "", "a longer timeout http-keep-alive"),
        client_fix("requests", "", "one requests.Session() for all requests"),
        client_fix("httpx", "", "one httpx.Client() for all requests"),
        client_fix("Node", "", "an https.Agent with keepAlive: true, as the global agent is from 19"),
        client_fix("Go", "", "read each response body to its end, or the connection is not kept"),
    ],
};

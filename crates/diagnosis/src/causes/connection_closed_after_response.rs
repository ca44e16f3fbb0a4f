use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "connection-closed-after-response",
    title: "The server ends each connection with the first response",
    happens: "\
A second request on the same connection was wanted, and the server closed after the first, by `Connection: close` or
a limit on requests.",
    seen: "The response was complete and the connection ended before the next request could be sent.",
    confirm: "\
Two requests, one connection: the second must say that it re-uses it:

```sh
curl -sv -o /dev/null -o /dev/null https://HOST/ https://HOST/ 2>&1 | grep -i 're-us'
```",
    costs: "Each request pays for a connection and a handshake of its own.",
    found_by: &[Measure, Diagnose],
    advice: "If that is not wanted, keep connections open:",
    fixes: &[
        fix("nginx", "keepalive_timeout 75s;", "its default"),
        fix("Apache", "KeepAlive On", "its default"),
        fix("HAProxy", "", "option http-keep-alive, its default, and no option httpclose"),
        fix("Node", "", "a server.keepAliveTimeout above 0; its default is 5000"),
        fix("Go", "", "no server.SetKeepAlivesEnabled(false)"),
    ],
};

use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "vhost-directives",
    title: "Session settings stand in a virtual host that the library does not ask",
    happens: "\
Virtual hosts share one listener, and parts of TLS are settled before the name is known. Cache and tickets that are
set for one of several names may not apply: with nginx on OpenSSL the session cache and the ticket keys of the
listener's default server are used, whatever the server of the name says.",
    seen: "\
Sessions are refused or never given with the name, and resume where neither connection sends SNI: the default server has what
the name's own lacks. Other names are targets of their own: `reprise diagnose NAME1 NAME2` shows those that resume and those
that do not.",
    confirm: "\
Compare the name with none at all:

```sh
openssl s_client -connect HOST:443 -servername HOST -tls1_2 -reconnect < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
openssl s_client -connect HOST:443 -noservername -tls1_2 -reconnect < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "What the full handshakes of that name cost.",
    found_by: &[Diagnose],
    advice: "Set session cache, timeout and tickets once for the whole listener:",
    fixes: &[
        fix(
            "nginx",
            "ssl_session_cache shared:SSL:10m; ssl_session_tickets on;",
            "both in the http block, and neither in a server block",
        ),
        fix(
            "Apache",
            "",
            "SSLSessionCache holds for the whole server; SSLSessionTickets belongs in the first virtual host of the address",
        ),
        fix("HAProxy", "", "settings of sessions are global; those of tickets belong to the bind line"),
    ],
};

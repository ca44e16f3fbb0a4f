use super::Cause;

pub(super) static CAUSE: Cause = Cause {
    slug: "isolated-by-design",
    title: "Sessions are bound to certificate, name and client CA by design",
    happens: "\
CVE-2025-23419 (nginx) and CVE-2025-23048 (Apache) let a client certificate that was checked for one virtual host
resume at another. Fixed versions, and newer HAProxy, bind each session to the context that made it.",
    seen: "\
A session resumes under the name that made it and is refused under another name of the same address, on a server that asks for client
certificates. That is protection, and no finding: `reprise diagnose --isolation NAME1 NAME2` counts such refusals, and finds sessions
that are accepted where they must not be (`isolation-broken`). A session that is refused without SNI is `sni-differs`.",
    confirm: "\
Offer a session of one name to another:

```sh
openssl s_client -connect HOST:443 -servername NAME1 -tls1_3 -sess_out session.pem \\
  < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -servername NAME2 -tls1_3 -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "One full handshake for each name.",
    advice: "Nothing needs to be fixed. A client keeps its sessions by server name.",
    ..Cause::BLANK
};

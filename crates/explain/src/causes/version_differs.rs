use super::Cause;
use super::FoundBy::Diagnose;

pub(super) const CAUSE: Cause = Cause {
    slug: "version-differs",
    title: "A session needs the version that made it",
    happens: "\
A session of TLS 1.2 does not resume under TLS 1.3, nor the other way round (RFC 8446 §4.6.1, §4.1.2). A client that
falls back to another version, or nodes of different versions, lose it.",
    seen: "\
The session resumes under its own version and not under the other, which is as it should be: a note. Where the
*server* chooses another version from time to time it is `node-protocol-differs`.",
    confirm: "\
Offer a TLS 1.2 session under TLS 1.3, which must say `New`:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "A full handshake at each change of version.",
    found_by: &[Diagnose],
    advice: "Let client and nodes settle on one version: the newest that all of them have.",
    fixes: &[],
};

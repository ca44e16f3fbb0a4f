use super::Cause;
use super::FoundBy::Listen;

pub(super) const CAUSE: Cause = Cause {
    slug: "version-differs",
    title: "A session needs the version that made it",
    happens: "\
A session of TLS 1.2 does not resume under TLS 1.3, nor the other way round (RFC 8446 §4.6.1, §4.1.2). A client that
falls back to another version, or nodes of different versions, lose it.",
    seen: "\
Of a client that connects to `--listen`: it was given a session of one version, and a later ClientHello to the same name does not
speak that version and offers none. For a server it is not visible from outside, since Reprise asks for each version by itself
and offers each session under its own; where the *server* chooses differently from time to time, look at its log for the
versions of full handshakes, or connect often with `openssl s_client` and neither -tls1_2 nor -tls1_3. By hand the commands
below show the rule.",
    confirm: "\
Offer a TLS 1.2 session under TLS 1.3, which must say `New`:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "A full handshake at each change of version.",
    found_by: &[Listen],
    advice: "Let client and nodes settle on one range of versions for all connections: the newest that all of them have.",
    fixes: &[],
};

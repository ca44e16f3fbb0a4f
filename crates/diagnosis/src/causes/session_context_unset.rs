use super::FoundBy::Diagnose;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "session-context-unset",
    title: "A client certificate is asked for, and no session id context is set",
    happens: "\
An OpenSSL server that asks for client certificates must name a session id context, so that a session is not taken
over from a place with weaker checks. Without one OpenSSL refuses to resume: it ends the connection with an internal
error (\"session id context uninitialized\") instead of going on with a full handshake.",
    seen: "\
The server asks for a certificate in full handshakes, and every connection that offers a session ends with the alert
internal_error (80). An alert without a request for a certificate is `offer-breaks-connection`.",
    confirm: "\
The second of these connections fails:

```sh
openssl s_client -connect HOST:443 -tls1_2 -cert cert.pem -key key.pem -reconnect < /dev/null 2>&1 | grep -E '^(New|Reused)|alert|:error:'
```",
    costs: "\
Each client that resumes fails at its second connection; those that try again without a session pay two attempts.",
    found_by: &[Diagnose],
    advice: "",
    fixes: &[fix("OpenSSL API", "SSL_CTX_set_session_id_context(ctx, (const unsigned char *)\"app\", 3);", "any fixed bytes, at most 32, one value for each policy"),
fix("Node", "sessionIdContext: 'app'", "among the options of tls.createServer; set from the arguments by default"),],
};

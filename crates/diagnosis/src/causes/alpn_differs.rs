use super::FoundBy::Listen;
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "alpn-differs",
    title: "The client changes its application protocols between the connections of one session",
    happens: "\
A session resumes whatever protocols the client offers by ALPN, but early data is only accepted under the protocol of
the session (RFC 8446 §4.2.10). A program that offers h2 on some connections and http/1.1 on others from one store of
sessions does this.",
    seen: "\
Of a client that connects to `--listen`: the list of protocols in the ClientHello that offers a session is not that of
the session's own connection. It is a note.",
    confirm: "\
Offer a session with another list of protocols:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -alpn http/1.1 -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -alpn http/1.1,h2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "Nothing where the session resumes all the same; early data, and so a round trip, where it was to be sent.",
    found_by: &[Listen],
    advice: "Let all connections that share sessions offer the same protocols:",
    fixes: &[
        client_fix("OpenSSL API", "SSL_CTX_set_alpn_protos(ctx, protocols, length);", "on the SSL_CTX, for all its connections"),
        client_fix("Python ssl", "context.set_alpn_protocols([\"h2\", \"http/1.1\"])", "on the SSLContext, for all its connections"),
        client_fix("Go", "config.NextProtos = []string{\"h2\", \"http/1.1\"}", "a ClientSessionCache for each list"),
        client_fix("rustls", "", "the same alpn_protocols in all ClientConfigs that share a Resumption store"),
    ],
};

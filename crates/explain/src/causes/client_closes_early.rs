use super::FoundBy::Listen;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-closes-early",
    title: "The client closes before it has read the tickets",
    happens: "\
TLS 1.3 sends tickets after the handshake (RFC 8446 §4.6.1). A client that writes, closes and never reads, or whose
library hands sessions over only while reading, has nothing to offer next time. `openssl s_time -reuse` and many
load tools are such clients.",
    seen: "\
Connections end before the client has acknowledged what follows the handshake, or within a round trip of it, and
none offers a session; with a server that waits, or under TLS 1.2, the same client resumes.",
    confirm: "\
`s_client` that does not wait saves nothing where the tickets are still on their way; with a wait it does:

```sh
openssl s_client -connect HOST:443 -tls1_3 -sess_out early.pem < /dev/null > /dev/null 2>&1; ls -l early.pem
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out late.pem > /dev/null 2>&1; ls -l late.pem
```",
    costs: "Every connection is a full handshake, though both sides support resumption.",
    found_by: &[Listen],
    advice: "Read until the response is complete, or at least once, before closing:",
    fixes: &[
        fix(
            "OpenSSL API",
            "SSL_CTX_sess_set_new_cb(ctx, keep_session);",
            "keep the session in the callback, which SSL_read calls; SSL_get1_session right after SSL_connect has none under TLS 1.3",
        ),
        fix("Python ssl", "session = sock.session", "after the first recv(), and not after the handshake"),
        fix("Node", "socket.on('session', keep)", "instead of getSession() after secureConnect"),
        fix("Go", "io.Copy(io.Discard, resp.Body); resp.Body.Close()", "tickets are taken while reading"),
        fix("rustls", "conn.process_new_packets()?;", "after a read that follows the handshake"),
        fix("Java", "socket.getInputStream().read()", "at least once before close()"),
        fix(".NET", "await stream.ReadAsync(buffer);", "at least once before disposing"),
    ],
};

use super::FoundBy::Listen;
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-closes-early",
    title: "The client closes before it has read the tickets",
    happens: "\
TLS 1.3 sends tickets after the handshake (RFC 8446 §4.6.1). A client that writes, closes and never reads, or whose
library hands sessions over only while reading, has nothing to offer next time. `openssl s_time -reuse` and many
load tools are such clients.",
    seen: "\
No connection brings a response, none offers a session, and two or more end after the handshake: by a reset, with which
a system answers unread bytes (RFC 2525 §2.17), or before the tickets were sent. Two resets are certain, what left before is likely; an
end by FIN or close_notify may have read them, and is possible only. With a server that waits, or under TLS 1.2, the same
client resumes.",
    confirm: "\
`s_client` that does not wait saves nothing where the tickets are still on their way; with a wait it does:

```sh
openssl s_client -connect HOST:443 -tls1_3 -sess_out early.pem < /dev/null > /dev/null 2>&1; ls -l early.pem
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out late.pem > /dev/null 2>&1; ls -l late.pem
```",
    costs: "Every connection is a full handshake, though both sides support resumption.",
    found_by: &[Listen],
    advice: "Read until the response is complete, or at least once, before closing, since under TLS 1.3 the tickets follow the handshake, before the first response:",
    fixes: &[
        client_fix(
            "OpenSSL API",
            "SSL_CTX_sess_set_new_cb(ctx, keep_session);",
            "SSL_read calls it: read once before SSL_shutdown, and close the socket only when SSL_shutdown returned 1; SSL_get1_session right after SSL_connect has none under TLS 1.3",
        ),
        client_fix(
            "OpenSSL API",
            "openssl s_client -sess_out FILE",
            "then -sess_in FILE, with a request: -reconnect reads nothing under TLS 1.3",
        ),
        client_fix(
            "Python ssl",
            "saved = connection.session",
            "after the response, or at least connection.recv(1), and before connection.close()",
        ),
        client_fix(
            "Node",
            "socket.on('session', keep)",
            "instead of getSession() after secureConnect; destroy the socket only after this event",
        ),
        client_fix(
            "Go",
            "io.Copy(io.Discard, resp.Body); resp.Body.Close()",
            "the cache is filled by Read: read from a tls.Conn before Close",
        ),
        client_fix("Java", "socket.getInputStream().read()", "at least once before close()"),
        client_fix(".NET", "await stream.ReadAsync(buffer);", "at least once before disposing"),
        client_fix(
            "rustls",
            "conn.process_new_packets()?;",
            "after a read_tls that follows the handshake, before the socket is closed",
        ),
    ],
};

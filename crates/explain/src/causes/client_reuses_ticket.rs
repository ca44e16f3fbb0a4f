use super::FoundBy::Listen;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-reuses-ticket",
    title: "The client offers one ticket more than once",
    happens: "\
RFC 8446 appendix C.4: a client should not use a ticket twice, since whoever watches can link the connections, and
servers with replay protection refuse the second use (`single-use`). A client that keeps one session per server and
does not replace it does so.",
    seen: "\
Two connections of one client bring the same TLS 1.3 identity in pre_shared_key, though a newer ticket was given.",
    confirm: "\
`openssl s_client -sess_in` offers the same file as often as it is run: look for equal identities in a capture:

```sh
tshark -r capture.pcapng -Y tls.handshake.extensions.psk.identity.identity -T fields -e tls.handshake.extensions.psk.identity.identity
```",
    costs: "Full handshakes at servers that take each ticket once, and linkable connections elsewhere.",
    found_by: &[Listen],
    advice: "Take the newest ticket, and forget it when it has been offered:",
    fixes: &[fix("OpenSSL API", "SSL_CTX_sess_set_new_cb(ctx, keep_session);", "several are given per connection: keep a queue and remove what was offered"),
fix("Python ssl", "session = sock.session", "take it anew from every connection, after reading"),
fix("Node", "socket.on('session', (session) => { newest = session; })", "for each connection anew"),
fix("Go", "", "its LRU cache holds one session per server: ten connections at once offer one ticket; write a ClientSessionCache that returns each once"),
fix("Java", "", "before 24 it holds one session per host; from 24 on it holds up to ten tickets"),
fix("rustls", "", "takes each ticket once by itself"),],
};

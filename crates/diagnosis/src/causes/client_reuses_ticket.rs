use super::FoundBy::Listen;
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-reuses-ticket",
    title: "The client offers one ticket more than once",
    happens: "\
RFC 8446 appendix C.4: a client should not use a ticket twice, since whoever watches can link the connections, and
servers with replay protection refuse the second use (`single-use`). A client that keeps one session per server and
does not replace it does so.",
    seen: "\
Two completed connections of one client bring the same TLS 1.3 ticket in pre_shared_key. A second attempt with the ticket of
one that failed is not meant.",
    confirm: "\
`openssl s_client -sess_in` offers the same file as often as it is run: look for equal identities in a capture:

```sh
tshark -r capture.pcapng -Y tls.handshake.extensions.psk.identity.identity -T fields -e tls.handshake.extensions.psk.identity.identity
```",
    costs: "Full handshakes at servers that take each ticket once, and linkable connections elsewhere.",
    found_by: &[Listen],
    advice: "Take the newest ticket, and forget it when it has been offered:",
    fixes: &[
        client_fix("OpenSSL API", "session = SSL_get1_session(ssl);", "after each response, in place of the one that was offered. SSL_CTX_sess_set_new_cb brings all tickets of a connection: offer each once"),
        client_fix("OpenSSL API", "openssl s_client -sess_in FILE -sess_out FILE", "it writes the new session"),
        client_fix("Python ssl", "saved = connection.session", "from each connection after its first response; offer each once"),
        client_fix("Node", "socket.on('session', (session) => { saved = session; });", "the newest takes the place of the last; offer each once"),
        client_fix("Node", "const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });", "an agent offers one session on all connections that begin at once: let requests share connections, or use HTTP/2, which needs one"),
        client_fix("Go", "transport.MaxConnsPerHost = 1", "its cache offers one session on all connections that begin at once: let requests share connections, or use HTTP/2, which needs one; or write a ClientSessionCache that returns each session once"),
        client_fix("Java", "", "before 24 it holds one session per host; from 24 on it holds up to ten tickets"),
        client_fix("rustls", "", "takes each ticket once by itself"),
    ],
};

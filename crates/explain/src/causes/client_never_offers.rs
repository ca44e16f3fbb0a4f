use super::FoundBy::Listen;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-never-offers",
    title: "The client never offers a session",
    happens: "\
Its library resumes only when the program says so, and the program does not. OpenSSL clients need SSL_set_session;
Go's ClientSessionCache is nil by default; Python's ssl and Node's plain tls.connect take a session by hand;
requests and httpx have no way to give one.",
    seen: "\
The client reads tickets and session IDs, comes back with the same ClientHello, and offers none of them: under TLS
1.2 an empty session ID and an empty ticket extension, under TLS 1.3 no pre_shared_key.",
    confirm: "\
Let the program connect twice to a server that says which session it was:

```sh
openssl s_server -accept 8443 -cert cert.pem -key key.pem -www
```

The page that it answers with says `New` or `Reused`.",
    costs: "Every connection is a full handshake, whatever the server does.",
    found_by: &[Listen],
    advice: "",
    fixes: &[
        fix(
            "curl",
            "",
            "resumes by itself within one process; from 8.12 --ssl-sessions FILE does between processes, if built so",
        ),
        fix(
            "OpenSSL API",
            "SSL_set_session(ssl, session);",
            "before SSL_connect, with the session that SSL_CTX_sess_set_new_cb gave",
        ),
        fix("Python ssl", "context.wrap_socket(sock, server_hostname=host, session=previous.session)", "from 3.6"),
        fix("requests", "session = requests.Session()", "it cannot resume: let it keep connections"),
        fix("httpx", "client = httpx.Client()", "it cannot resume: let it keep connections, or use HTTP/2"),
        fix(
            "Node",
            "tls.connect({ host, port, servername: host, session })",
            "with what the event session gave; https.Agent resumes by itself",
        ),
        fix("Go", "config.ClientSessionCache = tls.NewLRUClientSessionCache(0)", "on the tls.Config of the http.Transport"),
        fix(
            "Java",
            "context.getSocketFactory().createSocket(host, port)",
            "resumes by itself if the socket knows host and port, and the SSLContext is the same",
        ),
        fix(
            ".NET",
            "AllowTlsResume = true",
            "in SslClientAuthenticationOptions, its default from 8; the handler must be the same",
        ),
        fix(
            "rustls",
            "config.resumption = rustls::client::Resumption::in_memory_sessions(256);",
            "its default; Resumption::disabled() switches it off",
        ),
        fix("reqwest", "reqwest::Client::builder().use_rustls_tls()", "resumes by itself within one Client"),
    ],
};

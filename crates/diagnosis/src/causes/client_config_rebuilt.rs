use super::FoundBy::Listen;
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-config-rebuilt",
    title: "The client builds a new configuration for each connection",
    happens: "\
Sessions are kept in the client's configuration or context. A program that makes a new one for each connection, each
request or each worker begins with an empty store each time.",
    seen: "\
Three traces: sessions are offered for a while and then forgotten, right after one was read and while nothing else was
open; sessions are never offered, by a library that resumes by itself; or each connection comes from a process of its
own, which is a note, since sessions in memory end with their process. A library that only resumes when told is
`client-never-offers`: where the wire does not distinguish them, both are reported.",
    confirm: "\
Count contexts in the program: they should be made once. Connect twice from one context and look for the second's
session:

```sh
reprise diagnose --listen 127.0.0.1:8443 -- ./client https://localhost:8443/
```",
    costs: "\
Every connection is a full handshake, and each context costs memory and, where CA files are read, milliseconds of
CPU.",
    found_by: &[Listen],
    advice: "Make the configuration once and share it:",
    fixes: &[
        client_fix(
            "curl",
            "curl URL1 URL2",
            "one process for all URLs: its sessions live in the process. From 8.12, --ssl-sessions FILE keeps them between processes, if curl was built so",
        ),
        client_fix(
            "libcurl",
            "curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION); curl_easy_setopt(curl, CURLOPT_SHARE, share);",
            "for every handle, with one share of curl_share_init(); or keep one handle for all transfers",
        ),
        client_fix("OpenSSL API", "", "make the SSL_CTX once, and keep its sessions beside it"),
        client_fix(
            "Python ssl",
            "",
            "make the SSLContext once: a session can only be resumed with the context that it came from",
        ),
        client_fix(
            "requests",
            "session = requests.Session()",
            "once for all requests: its pool keeps connections, which saves more than sessions",
        ),
        client_fix("httpx", "client = httpx.Client()", "once for all requests"),
        client_fix(
            "Node",
            "const agent = new https.Agent({ keepAlive: true, maxCachedSessions: 100 });",
            "once, outside of the function that makes the request",
        ),
        client_fix("undici", "const agent = new Agent();", "once, outside of the function that makes the request"),
        client_fix(
            "Go",
            "",
            "make the http.Transport, its tls.Config and the ClientSessionCache once, outside of the function that makes the request; Config.Clone() shares the cache",
        ),
        client_fix(
            "Java",
            "",
            "make the SSLContext and the HttpClient once: a new one for each request begins with an empty session cache",
        ),
        client_fix(
            ".NET",
            "",
            "make the HttpClient or the SocketsHttpHandler once (IHttpClientFactory does), not for each request; sessions are keyed by its options",
        ),
        client_fix(
            "rustls",
            "let conn = ClientConnection::new(Arc::clone(&config), name)?;",
            "with a ClientConfig that is built once: its Resumption store lives in it",
        ),
        client_fix("reqwest", "", "make one reqwest::Client, and clone it: clones share its sessions and connections"),
    ],
};

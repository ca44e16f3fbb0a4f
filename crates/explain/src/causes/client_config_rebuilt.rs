use super::FoundBy::Listen;
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-config-rebuilt",
    title: "The client builds a new configuration for each connection",
    happens: "\
Sessions are kept in the client's configuration or context. A program that makes a new one for each connection, each
request or each worker begins with an empty store each time.",
    seen: "\
One program connects again and again to one name with the same ClientHello, reads the tickets, and never offers one;
while the library is one that resumes by itself. A library that only resumes when told is `client-never-offers`:
where the wire does not tell them apart, both are said.",
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
        fix(
            "curl",
            "curl https://HOST/a https://HOST/b",
            "one process: handles of one multi or share handle (CURL_LOCK_DATA_SSL_SESSION) share sessions; from 8.12 --ssl-sessions FILE keeps them between runs, if built so",
        ),
        fix("OpenSSL API", "", "one SSL_CTX for the life of the program"),
        fix("Python ssl", "", "one SSLContext, and session= at wrap_socket"),
        fix(
            "requests",
            "session = requests.Session()",
            "once for all requests: its pool keeps connections, which saves more than sessions",
        ),
        fix("httpx", "client = httpx.Client()", "once for all requests"),
        fix("Node", "const agent = new https.Agent({ keepAlive: true })", "once for all requests"),
        fix("Go", "", "one http.Client and one tls.Config with a ClientSessionCache; Config.Clone() shares the cache"),
        fix("Java", "", "one SSLContext and one HttpClient"),
        fix(".NET", "", "one HttpClient or SocketsHttpHandler; sessions are keyed by its options"),
        fix("rustls", "", "one Arc<ClientConfig>: its Resumption store lives in it"),
        fix("reqwest", "", "one reqwest::Client, which is cheap to clone"),
    ],
};

use super::FoundBy::Listen;
use super::{Cause, client_fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "client-never-offers",
    title: "The client never offers a session",
    happens: "\
Its library resumes only when the program says so, and the program does not. OpenSSL clients need SSL_set_session;
Go's ClientSessionCache is nil by default; Python's ssl and Node's plain tls.connect take a session by hand;
requests and httpx have no way to give one.",
    seen: "\
The client reads tickets and session IDs, comes back, and offers none of them: under TLS 1.2 an empty session ID and
an empty ticket extension, under TLS 1.3 no pre_shared_key. `client-config-rebuilt` looks the same: where the library
resumes only when told, this is the likelier, and otherwise both are possible. Where the ClientHello does not even ask
for sessions (no psk_key_exchange_modes, RFC 8446 §4.2.9; under TLS 1.2 no session_ticket of a Go client) it is plain.",
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
        client_fix(
            "curl",
            "",
            "leave out --no-sessionid: without it one process offers the sessions of all its transfers; from 8.12 --ssl-sessions FILE keeps them between processes, if built so",
        ),
        client_fix(
            "libcurl",
            "curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION); curl_easy_setopt(curl, CURLOPT_SHARE, share);",
            "for every handle, with one share of curl_share_init(); or keep one handle for all transfers. CURLOPT_SSL_SESSIONID_CACHE stays 1",
        ),
        client_fix(
            "OpenSSL API",
            "SSL_set_session(ssl, session);",
            "before SSL_connect; the session comes from SSL_get1_session after the first response, or from SSL_CTX_sess_set_new_cb with SSL_SESS_CACHE_CLIENT",
        ),
        client_fix(
            "Python ssl",
            "context.wrap_socket(sock, server_hostname=host, session=saved)",
            "from 3.6, with the same SSLContext and saved = connection.session, taken after the first response",
        ),
        client_fix(
            "requests",
            "session = requests.Session()",
            "once for all requests. It hands over no TLS session, but it keeps connections open, which saves more",
        ),
        client_fix(
            "httpx",
            "client = httpx.Client()",
            "once for all requests. It hands over no TLS session, but it keeps connections open, which saves more",
        ),
        client_fix(
            "Node",
            "tls.connect({ host, port, servername: host, session: saved })",
            "saved is what socket.on('session', (session) => { saved = session; }) gave",
        ),
        client_fix(
            "Node",
            "const agent = new https.Agent({ keepAlive: true, maxCachedSessions: 100 });",
            "once: https.request resumes through an agent that all requests share",
        ),
        client_fix(
            "undici",
            "const agent = new Agent();",
            "once: the dispatcher of every request, or of fetch by setGlobalDispatcher(agent)",
        ),
        client_fix(
            "Go",
            "&tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(64)}",
            "in the Transport.TLSClientConfig that all requests share: the cache is nil by default",
        ),
        client_fix(
            "Java",
            "",
            "one SSLContext for all connections, which are opened with a host and a port: it resumes by itself",
        ),
        client_fix(
            ".NET",
            "",
            "one HttpClient for all requests; in SslClientAuthenticationOptions, AllowTlsResume stays true, its default from .NET 8",
        ),
        client_fix(
            "rustls",
            "config.resumption = rustls::client::Resumption::in_memory_sessions(256);",
            "its default, with one Arc<ClientConfig> for all connections; Resumption::disabled() switches it off",
        ),
        client_fix(
            "Postfix",
            "smtp_tls_session_cache_database = btree:${data_directory}/smtp_scache",
            "of its client, smtp(8); its default is none",
        ),
        client_fix("reqwest", "", "one reqwest::Client for all requests, and its clones: with rustls it resumes by itself"),
    ],
};

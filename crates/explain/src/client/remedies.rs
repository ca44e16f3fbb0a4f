//! What fixes each cause, software by software: what the client is written with stands first.

use reprise_trace::document::Remedy;

use super::software::{CURL, DOTNET, GO, JAVA, LIBCURL, NODE, OPENSSL, PYTHON, RUSTLS};

type Software = Option<&'static str>;

pub(super) fn never_offers(software: Software) -> Vec<Remedy> {
    table(
        software,
        &[
            (
                PYTHON,
                "saved = connection.session after the first response, then context.wrap_socket(sock, server_hostname=host, \
                  session=saved) with the same SSLContext. requests and httpx hand over no session: keep one requests.Session() \
                  or httpx.Client(), whose pool keeps connections alive",
            ),
            (
                NODE,
                "with tls.connect: socket.on('session', (session) => { saved = session; }), then tls.connect({ host, port, \
                session: saved }). https.request resumes through one shared agent: new https.Agent({ keepAlive: true, \
                maxCachedSessions: 100 }). undici and fetch: one shared new Agent()",
            ),
            (
                GO,
                "&tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(64)} in the Transport.TLSClientConfig that all \
              requests share: the cache is nil by default",
            ),
            (
                OPENSSL,
                "SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT), keep what SSL_CTX_sess_set_new_cb brings, and \
                   SSL_set_session(ssl, session) before SSL_connect. openssl s_client: -sess_out FILE, then -sess_in FILE",
            ),
            (
                JAVA,
                "one SSLContext and its SSLSocketFactory for all connections, opened with a host and a port: \
                factory.createSocket(host, port), context.createSSLEngine(host, port)",
            ),
            (
                RUSTLS,
                "one Arc<ClientConfig> for all connections, with Resumption::in_memory_sessions(256), the default; reqwest: \
                  one Client, cloned",
            ),
            (DOTNET, "one HttpClient for all requests; with SslStream, AllowTlsResume stays true"),
            (CURL, "leave out --no-sessionid: without it one process offers the sessions of all its transfers"),
            (
                LIBCURL,
                "one handle for all transfers, or curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION); \
                CURLOPT_SSL_SESSIONID_CACHE stays 1",
            ),
        ],
    )
}

pub(super) fn config_rebuilt(software: Software) -> Vec<Remedy> {
    table(
        software,
        &[
            (
                RUSTLS,
                "build the ClientConfig once, and give each connection Arc::clone(&config); reqwest: build one Client and \
                  clone it",
            ),
            (
                JAVA,
                "make the SSLContext once: a new SSLContext, HttpClient or TrustManager setup for each request begins with an \
                empty session cache",
            ),
            (
                GO,
                "make the http.Transport, its tls.Config and the ClientSessionCache once, outside of the function that makes the \
              request",
            ),
            (PYTHON, "make the SSLContext once: a session can only be resumed with the context that it came from"),
            (NODE, "make the https.Agent once, outside of the function that makes the request"),
            (DOTNET, "make the HttpClient or the SocketsHttpHandler once (IHttpClientFactory does), not for each request"),
            (LIBCURL, "keep the handle, or a share with CURL_LOCK_DATA_SSL_SESSION, for all transfers"),
            (
                CURL,
                "one process for all URLs, curl URL1 URL2: its cache is per process. Since 8.12, where it is built in: \
                --ssl-sessions FILE",
            ),
            (OPENSSL, "make the SSL_CTX once, and keep its sessions beside it"),
        ],
    )
}

pub(super) fn new_processes(software: Software) -> Vec<Remedy> {
    table(
        software,
        &[
            (CURL, "one process for all URLs: curl URL1 URL2. Since 8.12, where it is built in: --ssl-sessions FILE"),
            (
                OPENSSL,
                "openssl s_client: -sess_out FILE in the first, -sess_in FILE in the next. In a program: \
                   i2d_SSL_SESSION writes a session, d2i_SSL_SESSION reads it",
            ),
        ],
    )
}

pub(super) fn closes_early(software: Software) -> Vec<Remedy> {
    let mut remedies = vec![Remedy::general(
        "read once before closing: under TLS 1.3 the tickets follow the handshake, before the first response",
    )];
    remedies.extend(table(software, &[
        (PYTHON, "read the response, or at least connection.recv(1), before connection.close(); take connection.session after \
                  that"),
        (OPENSSL, "SSL_read once before SSL_shutdown, and close the socket only when SSL_shutdown returned 1. openssl \
                   s_client: -reconnect reads nothing under TLS 1.3; use -sess_out FILE and -sess_in FILE, with a request"),
        (NODE, "destroy the socket only after its 'session' event"),
        (GO, "read from the connection before Close: the cache is filled by Read"),
        (JAVA, "read from the socket's input stream before close()"),
        (RUSTLS, "read_tls and process_new_packets once after the handshake, before the socket is closed"),
    ]));
    remedies
}

pub(super) fn psk_mode(software: Software) -> Vec<Remedy> {
    table(
        software,
        &[
            (OPENSSL, "nothing to set: it always offers psk_dhe_ke, and psk_ke beside it with SSL_OP_ALLOW_NO_DHE_KEX"),
            ("Mbed TLS", "mbedtls_ssl_conf_tls13_key_exchange_modes(conf, MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_ALL)"),
            ("reprise", "--psk-mode both"),
        ],
    )
}

pub(super) fn reuses_ticket(software: Software) -> Vec<Remedy> {
    table(
        software,
        &[
            (PYTHON, "take connection.session anew from each connection after its first response, and offer each once"),
            (
                NODE,
                "with tls.connect: replace the saved session at each 'session' event, and offer it once. An https.Agent hands \
                one session to all connections that begin at once: keepAlive: true and maxSockets let them share connections",
            ),
            (
                OPENSSL,
                "keep every session that SSL_CTX_sess_set_new_cb brings, and take it out of the store as it is offered. \
                   openssl s_client: -sess_out beside -sess_in writes the new session",
            ),
            (
                GO,
                "the cache offers its one session of a host to all connections that begin at once: MaxConnsPerHost limits them, and \
              MaxIdleConnsPerHost keeps them for the next requests",
            ),
        ],
    )
}

pub(super) fn tickets_run_out(software: Software) -> Vec<Remedy> {
    let mut remedies = vec![Remedy::general(
        "keep connections alive and share them; or let the server send more tickets (ssl_num_tickets, \
         SSL_CTX_set_num_tickets), which the client can ask for with ticket_request (RFC 9149)",
    )];
    remedies.extend(table(
        software,
        &[
            (JAVA, "before 24 one session a host is kept, then ten: upgrade, or limit the connections that begin at once"),
            (NODE, "new https.Agent({ keepAlive: true, maxSockets: N }): one session a host is kept"),
            (PYTHON, "keep one session for each of the connections that begin at once"),
            (RUSTLS, "up to eight tickets a server are kept; with more connections at once, pool them"),
        ],
    ));
    remedies
}

pub(super) fn cache_small(software: Software) -> Vec<Remedy> {
    table(
        software,
        &[
            (
                GO,
                "tls.NewLRUClientSessionCache(N) with N of at least the number of hosts: it counts sessions, and 0 means 64",
            ),
            (PYTHON, "keep a session for each host, sessions[host] = connection.session, not one for all"),
            (NODE, "new https.Agent({ maxCachedSessions: N }), 100 by default; with tls.connect a session for each host"),
            (JAVA, "context.getClientSessionContext().setSessionCacheSize(N), 20480 by default"),
            (RUSTLS, "Resumption::in_memory_sessions(N): the default of 256 counts entries, about 32 servers under TLS 1.3"),
            (OPENSSL, "keep a session for each host, by its name and port"),
        ],
    )
}

pub(super) fn sni_differs(software: Software) -> Vec<Remedy> {
    let mut remedies =
        vec![Remedy::general("keep sessions by the name that is sent as SNI, and offer each to that name alone")];
    remedies.extend(table(
        software,
        &[
            (PYTHON, "sessions[server_hostname] = connection.session: one for each name"),
            (
                OPENSSL,
                "SSL_set_tlsext_host_name(ssl, name) with the name of the session's first connection; openssl s_client: the \
                   same -servername with -sess_in as with -sess_out",
            ),
            (NODE, "with tls.connect, the same servername and session together"),
        ],
    ));
    remedies
}

pub(super) fn version_differs() -> Vec<Remedy> {
    vec![Remedy::general("configure one range of versions for all connections to a server")]
}

pub(super) fn suite_differs() -> Vec<Remedy> {
    vec![Remedy::general("configure one list of cipher suites for all connections to a server")]
}

pub(super) fn ems_differs() -> Vec<Remedy> {
    vec![Remedy::general(
        "offer extended_master_secret in every connection (RFC 7627): OpenSSL without SSL_OP_NO_EXTENDED_MASTER_SECRET",
    )]
}

pub(super) fn early_data() -> Vec<Remedy> {
    vec![Remedy::general("send as early data only what may safely be done twice (RFC 8470)")]
}

/// What the client is written with first; the others in their order.
fn table(software: Software, entries: &[(&str, &str)]) -> Vec<Remedy> {
    let mut remedies = Remedy::table(entries);
    remedies.sort_by_key(|remedy| remedy.software.as_deref() != software);
    remedies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_own_software_stands_first() {
        let first = |software| never_offers(software).remove(0).software;
        assert_eq!(first(Some(GO)).as_deref(), Some(GO));
        assert_eq!(first(None).as_deref(), Some(PYTHON));
    }
}

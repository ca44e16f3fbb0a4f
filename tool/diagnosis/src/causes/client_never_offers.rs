//! `client-never-offers`: the client holds sessions and never offers one.
//!
//! Only where it does not even ask for sessions does the wire say why. Otherwise a program that never hands its library a
//! session looks like one that builds a new configuration for each connection: both are said, the likelier first.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule, client_fix};
use crate::client::case::{Chance, ClientCase, first_lines, named, outcome};
use crate::client::software::{GO, Habit, JAVA, habit};

pub(super) static CAUSE: Cause = Cause {
    slug: "client-never-offers",
    title: "The client never offers a session",
    happens: "\
Its library resumes only when the program says so, and the program does not. OpenSSL clients need SSL_set_session;
Go's ClientSessionCache is nil by default; Python's ssl and Node's plain tls.connect take a session by hand;
requests and httpx have no way to give one.",
    seen: "\
The client reads tickets and session IDs, comes back, and offers none of them: under TLS 1.2 an empty session ID and
an empty ticket extension, under TLS 1.3 no pre_shared_key. `client-config-rebuilt` looks the same: where the library
resumes only when told, this is the likelier, and otherwise both are possible. A ClientHello that
does not even ask for sessions (no psk_key_exchange_modes, RFC 9846 §4.3.9; under TLS 1.2 no session_ticket) makes it likely of
Go, whose client then has no cache. Of others it is possible: servers on OpenSSL send tickets all the same, which such a client may use
(Erlang's does with `{session_tickets, auto}`), and this server has no way to.",
    confirm: "\
Let the program connect twice to a server that says which session it was:

```sh
openssl s_server -accept 8443 -cert cert.pem -key key.pem -www
```

The page that it answers with says `New` or `Reused`.",
    costs: "Every connection is a full handshake, whatever the server does.",
    advice: "Hand the library a session of an earlier connection to the same host, taken after its response, or make all connections with one object that does so (client, pool, agent). Connections that are kept save more:",
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
            "const agent = new Agent({ keepAliveTimeout: 60000 });",
            "once: the dispatcher of every request, or of fetch by setGlobalDispatcher(agent). What saves is its kept connections: its sessions \
             last to the next garbage collection only",
        ),
        client_fix(
            "Deno",
            "",
            "fetch, which resumes by itself, with one client of Deno.createHttpClient() for all requests if any: Deno.connectTls, and tls.connect and \
             https.request of its node modules, offer none, whatever their options say (2.9.6)",
        ),
        client_fix(
            "Bun",
            "",
            "fetch or https.request, which resume by themselves, but with rejectUnauthorized: false or an agent for each request do not; \
             tls.connect with the session of its last 'session' event; Bun.connect has no option for it (1.4.5)",
        ),
        client_fix(
            "Go",
            "&tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(64)}",
            "in the Transport.TLSClientConfig that all requests share: the cache is nil by default",
        ),
        client_fix(
            "Java",
            "",
            "one SSLContext for all connections, which are opened with a host and a port (Netty: SslContext.newHandler(alloc, host, port)): \
             it resumes by itself",
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
        client_fix("Exim", "tls_resumption_hosts = *", "of its smtp transport; unset, it offers none"),
        client_fix("reqwest", "", "one reqwest::Client for all requests, and its clones: with rustls it resumes by itself"),
    ],
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    watched: Some(Rule { rank: 1, find: of_client }),
    ..Cause::BLANK
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    asks_for_none(case).or_else(|| offers_none(case))
}

/// Whether it could have offered a session, and never did, though it asks for them.
pub(super) fn is_silent(case: &ClientCase<'_>) -> bool {
    case.misses().next().is_some() && !case.offers_any() && asks_for_none(case).is_none()
}

/// RFC 9846 §4.3.9: without `psk_key_exchange_modes` a server sends no ticket.
fn asks_for_none(case: &ClientCase<'_>) -> Option<Finding> {
    if case.offers_any() {
        return None;
    }
    let (mut tls12, mut tls13) = (0, 0);
    for (_, offer, agreed) in case.completed() {
        match agreed.version {
            Version::Tls13 if offer.psk_modes.is_none() => tls13 += 1,
            // By session ID it might resume without asking.
            Version::Tls12 if !offer.session_ticket && case.software == Some(GO) => tls12 += 1,
            Version::Tls12 | Version::Tls13 => return None,
        }
    }
    if tls12 + tls13 == 0 {
        return None;
    }
    // Servers on OpenSSL give tickets all the same, and what a client does with those is not seen here. Go's asks where it has a cache.
    let confidence = if case.software == Some(GO) { Confidence::Likely } else { Confidence::Possible };
    let severity = if tls12 + tls13 > 1 { Severity::Fault } else { Severity::Note };
    let title = match confidence {
        Confidence::Likely => "The client does not ask for sessions, as a Go client without a ClientSessionCache does not",
        _ => "The client does not ask for sessions: many servers give it none, those on OpenSSL do all the same",
    };
    let line = |what: &str, count: u32| (count > 0).then(|| format!("{what} in 0 of {count} ClientHellos"));
    let evidence = [
        line("psk_key_exchange_modes (RFC 9846, section 4.3.9)", tls13),
        line("session_ticket (RFC 5077, section 3.2)", tls12),
    ];
    Some(case.found(&CAUSE, severity, confidence, title, evidence.into_iter().flatten().collect()))
}

fn offers_none(case: &ClientCase<'_>) -> Option<Finding> {
    if !is_silent(case) {
        return None;
    }
    let misses = case.misses().count();
    let likely = habit(case.software) == Habit::Waits && misses > 1;
    let confidence = if likely { Confidence::Likely } else { Confidence::Possible };
    let title = format!("The client never offers a session: {misses} connections could have");
    let mut evidence = evidence(case);
    if is_java_without_a_host(case) {
        evidence.push(
            "No server_name in any ClientHello: an SSLEngine that is made without a host and a port, as Netty's \
                newHandler(alloc), finds no session again"
                .to_owned(),
        );
    }
    evidence.push(
        "A new configuration for each connection (client-config-rebuilt) looks the same on the wire. To distinguish them, \
            make two connections from the same configuration object; if the second still offers nothing, it is this"
            .to_owned(),
    );
    Some(case.found(&CAUSE, Severity::Fault, confidence, title, evidence))
}

/// Java keeps its sessions by the host and the port that an SSLEngine is made with, and sends the host as the server's name.
pub(super) fn is_java_without_a_host(case: &ClientCase<'_>) -> bool {
    case.software == Some(JAVA) && case.offers().all(|(_, offer)| offer.sni.is_none())
}

/// Each connection that could have, and where its session came from.
pub(super) fn evidence(case: &ClientCase<'_>) -> Vec<String> {
    let line = |chance: &Chance<'_>| {
        let from = chance.latest().map_or_else(String::new, named);
        format!(
            "{}: no session offered, {}, though it held one from {from}",
            named(chance.connection),
            outcome(chance.connection)
        )
    };
    first_lines(case.misses().map(line))
}

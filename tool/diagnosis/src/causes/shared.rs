//! What more causes than one say, and what fixes them.

use reprise_probe::diagnose::Judgement;

use super::{Fix, client_fix, fix};

/// The title where nodes that do not share explain what became of these sessions. Where all were refused, others may explain it too.
pub(super) fn parted_title(judgement: &Judgement, sessions: &str) -> String {
    let version = judgement.asked.tls;
    match judgement.offers().all(|seen| seen.is_refusal()) {
        true => format!("{version} {sessions} are refused, as by nodes or processes that take turns"),
        false => format!("{version} {sessions} are accepted only sometimes"),
    }
}

/// Ticket keys that all nodes share and that outlive a process.
pub(super) const SHARE_KEYS: &[Fix] = &[
    fix("nginx", "ssl_session_ticket_key ticket.key;", "80 random bytes, the same file on every node"),
    fix(
        "Apache",
        "",
        "SSLSessionTickets off and SSLSessionCache redis:HOST:6379 (mod_socache_redis), which all nodes share. With OpenSSL 3, \
        SSLSessionTicketKeyFile leaves tickets without a secret tag (2.4.71: ticket-key-zero); with OpenSSL 1.1.1 it serves: 48 \
        random bytes, the same file on every node",
    ),
    fix(
        "HAProxy",
        "tls-ticket-keys ticket.keys",
        "on the bind line; at least three keys of 80 bytes in Base64, one per line. A resumed TLS 1.3 connection then brings no new ticket \
         (no-ticket-on-resumption)",
    ),
    fix(
        "Envoy",
        "session_ticket_keys: { keys: [{ filename: ticket.key }] }",
        "in the DownstreamTlsContext; 80 random bytes",
    ),
    fix(
        "Caddy",
        "{ \"apps\": { \"tls\": { \"session_tickets\": { \"key_source\": { \"provider\": \"distributed\" } } } } }",
        "over a storage that the nodes share",
    ),
    fix("OpenSSL API", "SSL_CTX_set_tlsext_ticket_keys(ctx, keys, 80);", "80 random bytes, the same on every node"),
    fix("GnuTLS", "gnutls_session_ticket_enable_server(session, &key);", "with one key for all nodes, read from a file"),
    fix(
        "rustls",
        "config.ticketer = Arc::new(ticketer);",
        "a ProducesTickets over keys that the nodes share; ResumingServer of the reprise-session library brings its own",
    ),
    fix("Go", "config.SetSessionTicketKeys(keys)", "on the tls.Config of every node"),
    fix(
        "Node",
        "ticketKeys: keys, sessionIdContext: 'app'",
        "among the options of tls.createServer; 48 random bytes and a name, the same on every node; without the name a hash of \
         the command line stands for it, and processes that were started differently refuse each other's sessions",
    ),
    fix(
        "s2n-tls",
        "s2n_config_add_ticket_crypto_key(config, name, name_len, key, key_len, intro_time);",
        "the same everywhere",
    ),
    fix("stunnel", "ticketKeySecret = HEX", "and ticketMacSecret = HEX, the same on every node"),
    fix(
        "Traefik",
        "",
        "has no setting for the keys (traefik#4550): let a balancer send a client to the same node, or end TLS before Traefik. \
         disableSessionTickets of its TLS options (traefik#11609) saves the bytes of tickets that the next node refuses",
    ),
    fix(
        "lighttpd",
        "ssl.stek-file = \"ticket.stek\"",
        "from 1.4.56, the same file on every node: three 32-bit numbers in the machine's order (0, the begin and the end of use as Unix time), then \
         80 random bytes",
    ),
    fix(
        "h2o",
        "ssl-session-resumption: { mode: ticket, ticket-store: file, ticket-file: tickets.yaml }",
        "the same file on every node, a list of keys: name (16 bytes), cipher: aes-256-cbc, hash: sha256, key (96 bytes), not_before, not_after; \
         bytes in hexadecimal, times as Unix time",
    ),
    fix(
        "dnsdist",
        "ticketKeyFile=\"ticket.key\"",
        "among the options of addTLSLocal and addDOHLocal; 80 random bytes, the same file on every node",
    ),
    fix(
        "Traffic Server",
        "CONFIG proxy.config.ssl.server.ticket_key.filename STRING ticket.key",
        "in records.config; beside the certificates, 48 random bytes a key, the same file on every node",
    ),
    fix("hitch", "", "has no setting for the keys, which its workers share: let a balancer send a client to the same node"),
    fix(
        "Postfix",
        "",
        "has no setting for the keys, which tlsmgr(8) makes for one machine: let a balancer send a client to the same node",
    ),
    fix(
        "PgBouncer",
        "",
        "has no setting for the keys, which each process makes: let clients keep their connections, or send a client to the same process",
    ),
    fix(
        "uvicorn",
        "",
        "each of its --workers has keys of its own, and Python's ssl has no setting for them: run one process for each port, or end TLS before it",
    ),
    fix(
        "hypercorn",
        "",
        "each of its --workers has keys of its own, and Python's ssl has no setting for them: run one process for each port, or end TLS before it",
    ),
    fix(
        "gunicorn",
        "",
        "each of its workers has keys of its own, and Python's ssl has no setting for them: one worker with threads (--workers 1 --threads N), or \
         end TLS before it",
    ),
    fix(
        "Deno",
        "",
        "has no setting for the keys, and its node:https ignores ticketKeys (2.9.6): let a balancer send a client to the same node, or end TLS \
         before it",
    ),
    fix(
        "Bun",
        "",
        "has no setting for the keys, and its node:https ignores ticketKeys (1.4.5): let a balancer send a client to the same node, or end TLS \
         before it",
    ),
    fix("Java", "", "has no way to share its keys: let a balancer send a client to the same node, or end TLS before Java"),
];

/// More TLS 1.3 tickets for each connection, or more of them kept.
pub(super) const MORE_TICKETS: &[Fix] = &[
    fix("nginx", "ssl_conf_command NumTickets 8;", "from 1.19.4"),
    fix("Apache", "SSLOpenSSLConfCmd NumTickets 8", "from 2.4.8"),
    fix("OpenSSL API", "SSL_CTX_set_num_tickets(ctx, 8);", "from 1.1.1; default 2"),
    fix("GnuTLS", "gnutls_session_ticket_send(session, 8, 0);", "from 3.6.3"),
    fix("rustls", "config.send_tls13_tickets = 8;", "default 2"),
    fix("Java", "-Djdk.tls.server.newSessionTicketCount=8", "from 24, default 1"),
    fix(
        "rustls",
        "",
        "config.max_tls13_tickets above 0 gives a client as many as it asks for (RFC 9149), up to this; from 0.23.46, default 0",
    ),
    fix("Python ssl", "context.num_tickets = 8", "from 3.8, of a server's context; default 2"),
    fix("lighttpd", "ssl.openssl.ssl-conf-cmd = (\"NumTickets\" => \"8\")", "with mod_openssl; default 2"),
    fix("s2n-tls", "s2n_config_set_initial_ticket_count(config, 8);", "default 1"),
    fix("Go", "", "gives one ticket for each connection"),
    client_fix("Python ssl", "", "keep one session for each of the connections that begin at once"),
    client_fix(
        "Java",
        "",
        "before 24 one session a host is kept, then ten: upgrade, or limit the connections that begin at once",
    ),
    client_fix("rustls", "", "up to eight tickets a server are kept; with more connections at once, pool them"),
];

/// X25519 among the groups that a server accepts, before others; or the server's group shared at once by a client.
pub(super) const ACCEPT_GROUPS: &[Fix] = &[
    fix("nginx", "ssl_ecdh_curve X25519:prime256v1:secp384r1;", "its default, auto, takes X25519 too"),
    fix("Apache", "SSLOpenSSLConfCmd Groups X25519:P-256:P-384", "from 2.4.8; before OpenSSL 1.1.1 Curves"),
    fix("HAProxy", "curves X25519:P-256:P-384", "on the bind line"),
    fix("Envoy", "tls_params: { ecdh_curves: [X25519, P-256] }", "in its common_tls_context"),
    fix(
        "Caddy",
        "",
        "curves x25519 secp256r1 secp384r1 in the tls block of the Caddyfile; in JSON curves of a tls_connection_policies entry",
    ),
    fix("OpenSSL API", "SSL_CTX_set1_groups_list(ctx, \"X25519:P-256:P-384\");", ""),
    fix("GnuTLS", "", "+GROUP-X25519 in the priority string, before other groups"),
    fix(
        "Go",
        "config.CurvePreferences = []tls.CurveID{tls.X25519, tls.CurveP256}",
        "or none at all: its default takes X25519",
    ),
    fix(
        "Node",
        "ecdhCurve: 'X25519:P-256:P-384'",
        "among the options of tls.createServer; its default, auto, takes X25519 too",
    ),
    fix("Java", "-Djdk.tls.namedGroups=x25519,secp256r1,secp384r1", ""),
    fix("Python ssl", "", "take context.set_ecdh_curve out: it leaves that curve alone"),
    fix("stunnel", "curves = X25519:P-256:P-384", "in the section of its service"),
    fix("Traefik", "", "X25519 in curvePreferences of its TLS options"),
    client_fix("curl", "", "--curves with the server's group first: --curves P-384:X25519"),
    client_fix(
        "OpenSSL API",
        "",
        "SSL_CTX_set1_groups_list with the server's group first, P-384:X25519; from 3.5 an asterisk marks each group to share, \
         *X25519:*P-384",
    ),
    client_fix(
        "Go",
        "",
        "CurvePreferences with the server's group alone, []tls.CurveID{tls.CurveP384}: their order is ignored",
    ),
    client_fix("Node", "", "ecdhCurve with the server's group first, P-384:X25519"),
    client_fix("Java", "", "-Djdk.tls.namedGroups with the server's group first, secp384r1,x25519"),
    client_fix("Python ssl", "", "context.set_ecdh_curve(\"secp384r1\"): it shares that group, and offers no other"),
    client_fix("rustls", "", "one ClientConfig for all connections: it remembers the group of each server"),
];

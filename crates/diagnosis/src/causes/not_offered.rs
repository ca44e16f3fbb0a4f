use super::FoundBy::{Diagnose, Measure};
use super::{Cause, fix};

pub(super) const CAUSE: Cause = Cause {
    slug: "not-offered",
    title: "The server offers no resumption, or tickets that it never accepts",
    happens: "\
Resumption is switched off. Under TLS 1.2 the server then gives neither a session ID (RFC 5246 §7.4.1.3) nor a ticket
(RFC 5077 §3.3). Under TLS 1.3 it should send no NewSessionTicket (RFC 8446 §4.6.1), but servers on OpenSSL send short ones
all the same: a ticket that only names a session in a cache which is switched off too, so that none is ever accepted.",
    seen: "\
Under TLS 1.2 the ServerHello has an empty session ID, and no NewSessionTicket follows. Under TLS 1.3 no NewSessionTicket
follows the handshake until a whole response has been read, or each ticket that is offered, at once and unchanged, ends in a
full handshake. Tickets that are accepted sometimes are `hidden-nodes`; session IDs alone that are refused are
`id-never-accepted`; a client that offers psk_ke alone is given none, which is `client-psk-mode`.",
    confirm: "\
`s_client -reconnect` connects five times more with the session of the first connection, which must say `Reused` each time:

```sh
openssl s_client -connect HOST:443 -tls1_2 -reconnect < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```

Under TLS 1.3 the ticket comes after the handshake, so that a first connection must read before it saves its session:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
Every connection pays a full handshake: the server's signature, the certificates on the wire and their verification by the
client, and under TLS 1.2 one round trip more.",
    found_by: &[Measure, Diagnose],
    advice: "",
    fixes: &[
        fix("nginx", "ssl_session_cache shared:SSL:10m;", ""),
        fix("nginx", "ssl_session_tickets on;", "its default; only an off in the configuration needs to go"),
        fix("Apache", "SSLSessionCache shmcb:logs/ssl_scache(512000)", "its default is none; needs mod_socache_shmcb"),
        fix("Apache", "SSLSessionTickets on", "its default; from 2.4.11"),
        fix("HAProxy", "tune.ssl.cachesize 20000", "in the global section, its default; 0 switches the cache off"),
        fix("HAProxy", "", "take no-tls-tickets out of the bind line and of ssl-default-bind-options"),
        fix("Envoy", "disable_stateless_session_resumption: false", "in the DownstreamTlsContext, its default"),
        fix("Caddy", "", "take session_tickets.disabled out of its JSON configuration (apps.tls)"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);",
            "its default; or no SSL_OP_NO_TICKET, and SSL_CTX_set_num_tickets above 0",
        ),
        fix(
            "GnuTLS",
            "gnutls_session_ticket_enable_server(session, &key);",
            "with a key of gnutls_session_ticket_key_generate; without it a database serves TLS 1.2 alone",
        ),
        fix(
            "rustls",
            "config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;",
            "or a session_storage; and send_tls13_tickets above 0",
        ),
        fix("Go", "config.SessionTicketsDisabled = false", "its default"),
        fix("Node", "", "take SSL_OP_NO_TICKET out of secureOptions"),
        fix(
            "Java",
            "",
            "it gives sessions by itself: leave jdk.tls.server.enableSessionTicketExtension true, and the cache larger than 0",
        ),
        fix(".NET", "", "AllowTlsResume stays true in SslServerAuthenticationOptions, its default from .NET 8"),
        fix("stunnel", "options = -NO_TICKET", ""),
        fix("s2n-tls", "s2n_config_set_session_tickets_onoff(config, 1);", "with a key of s2n_config_add_ticket_crypto_key"),
    ],
};

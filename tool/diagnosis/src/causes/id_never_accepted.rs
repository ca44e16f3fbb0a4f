//! `id-never-accepted`: session IDs are given and none is ever accepted. nginx's default cache `none` does just that.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Kind, Phase, Version};

use super::{
    Cause, MeasuredRule, Rule, certificate_renewed, context_per_connection, fix, services, session_too_large,
    unclean_close_evicts, vhost_directives,
};
use crate::savings::{Saving, saving};
use crate::series::{KindSeries, MeasuredCase, TICKETS_COVER};

pub(super) static CAUSE: Cause = Cause {
    slug: "id-never-accepted",
    title: "Session IDs are given and never accepted",
    happens: "\
The server puts a session ID into its TLS 1.2 ServerHello, which allows the client to resume by it (RFC 5246
§7.4.1.3), and keeps no session under it. nginx with its default `ssl_session_cache none` does so, and so do
`gnutls-serv`, Node and Java where no cache is on.

A TLS 1.3 ServerHello echoes the client's legacy_session_id (RFC 9846 §4.2.3): that says nothing.",
    seen: "\
Every full TLS 1.2 handshake brings a session ID, and each that is offered, at once, unchanged and without a ticket,
ends in a full handshake with another ID. Where IDs are accepted sometimes, it is `id-cache-per-process`; where
they work until other connections came in between, `cache-too-small`; where only an unclean end spoils them,
`unclean-close-evicts`.",
    confirm: "\
Without tickets, each of the five further connections must say `Reused`:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -reconnect < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "\
Clients without tickets (RFC 5077) make a full handshake each time. Where tickets resume, only those clients pay:
then it is a risk and not a fault.",
    advice: "Give the server a cache of sessions, or tickets, which need none:",
    fixes: &[
        fix(
            "nginx",
            "ssl_session_cache shared:SSL:10m;",
            "in the http block, or in the first server block of the listener; its default, none, gives IDs and keeps no session",
        ),
        fix("Apache", "SSLSessionCache shmcb:logs/ssl_scache(512000)", "needs mod_socache_shmcb"),
        fix("HAProxy", "", "tune.ssl.cachesize above 0 in the global section; its default is 20000"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);",
            "its default; with a session id context of SSL_CTX_set_session_id_context",
        ),
        fix(
            "GnuTLS",
            "gnutls_db_set_store_function(session, store);",
            "with gnutls_db_set_retrieve_function, gnutls_db_set_remove_function and gnutls_db_set_ptr",
        ),
        fix(
            "Node",
            "server.on('newSession', (id, data, done) => { store.set(id.toString('hex'), data); done(); }); server.on('resumeSession', (id, done) => done(null, store.get(id.toString('hex')) ?? null));",
            "store is a Map of one's own",
        ),
        fix(
            "Mbed TLS",
            "mbedtls_ssl_conf_session_cache(&conf, &cache, mbedtls_ssl_cache_get, mbedtls_ssl_cache_set);",
            "with an mbedtls_ssl_cache_context of mbedtls_ssl_cache_init, and MBEDTLS_SSL_CACHE_C",
        ),
        fix(
            "BearSSL",
            "br_ssl_server_set_cache(&server, &cache.vtable);",
            "with a cache of br_ssl_session_cache_lru_init, about 100 bytes a session",
        ),
        fix("lwIP", "#define ALTCP_MBEDTLS_USE_SESSION_CACHE 1", "in lwipopts.h; default 0"),
        fix("Deno", "", "resumes by ticket with node:https, which has no cache of IDs; Deno.serve resumes by ID"),
        fix("Bun", "", "resumes by ticket, and has no cache of IDs"),
        fix(
            "Java",
            "",
            "call no SSLSession.invalidate(), and let SSLSessionContext.setSessionCacheSize() be 0 or large enough",
        ),
    ],
    services: services::OF_IDS,
    explained_by: &[
        &vhost_directives::CAUSE,
        &session_too_large::CAUSE,
        &context_per_connection::CAUSE,
        &unclean_close_evicts::CAUSE,
    ],
    separated_by: &["resume", "no-certificate-at-all"],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 3, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Option<Finding> {
    // TLS 1.3 has none to accept.
    let is_meant = refused.asked.kind == Kind::Id && refused.is_never_accepted(case);
    if !is_meant || certificate_renewed::is_shown(case, refused.asked) {
        return None;
    }
    let tickets_resume = case.tickets_cover_ids();
    // A ticket that resumes under the same version tells what an accepted ID would have saved.
    let ticket = case.conclusive_run(Version::Tls12, Kind::Ticket);
    let ticket = ticket.and_then(|ticket| saving(case.figures, ticket, Phase::Tls));
    let mut evidence = vec![refused.refusal(case)];
    if tickets_resume {
        evidence.push(TICKETS_COVER.to_owned());
    }
    let severity = if tickets_resume { Severity::Risk } else { Severity::Fault };
    let title = "TLS 1.2 session IDs are given and never accepted";
    let finding = case.found(&CAUSE, severity, refused.confidence_of_refusal(case), title).because(evidence);
    let cost_ns = ticket.filter(Saving::is_shown).map(|saving| saving.saved());
    Some(finding.costing(cost_ns).costing_cpu(case.cpu_cost(Version::Tls12)))
}

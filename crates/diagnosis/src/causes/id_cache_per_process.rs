//! `id-cache-per-process`: session IDs are accepted now and then, as by processes or nodes with a cache each.

use reprise_judge::Cause as Concluded;
use reprise_model::Kind;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::{Cause, JudgedRule, fix};

pub(super) static CAUSE: Cause = Cause {
    slug: "id-cache-per-process",
    title: "Session IDs are accepted only sometimes: a cache per process or node",
    happens: "\
Sessions that the server keeps under an ID stand in the memory of one process or one node. The next connection that
reaches another finds nothing.",
    seen: "\
Some session IDs, or TLS 1.3 tickets that only name a session, are accepted and some refused, while tickets that hold a session, if there are any, always resume. Acceptance at exact
multiples of n connections means n processes taken in turn. It is likely where processes or nodes that do not share explain all
connections 20 times better than anything else. IDs that are never accepted are `id-never-accepted`;
those that die after other handshakes are `cache-too-small`.",
    confirm: "\
Without tickets, ask several times; `New` among `Reused` says it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -reconnect < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "With n processes, n − 1 of n connections that offer an ID are full handshakes.",
    advice: "Share the session cache between processes and nodes, or use tickets:",
    fixes: &[
        fix("nginx", "ssl_session_cache shared:SSL:10m;", "builtin is per worker"),
        fix(
            "Apache",
            "SSLSessionCache redis:HOST:6379",
            "with mod_socache_redis, from 2.4.39; or memcache:HOST:11211 with mod_socache_memcache. The processes of one node share shmcb",
        ),
        fix("HAProxy", "", "take tune.ssl.force-private-cache out of the global section"),
        fix(
            "OpenSSL API",
            "SSL_CTX_sess_set_new_cb(ctx, keep_session); SSL_CTX_sess_set_get_cb(ctx, find_session);",
            "two functions of your own, over a store that the processes share",
        ),
        fix(
            "rustls",
            "config.session_storage = Arc::new(store);",
            "a StoresServerSessions over a store that the nodes share; ResumingServer of the reprise-session library brings its own",
        ),
        fix("Node", "", "let newSession and resumeSession use a store that the cluster shares"),
        fix("stunnel", "sessiond = HOST:PORT", "an address of a session cache server"),
    ],
    separated_by: &["resume", "history", "burst", "resume-control"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NotShared, |_| Severity::Risk, title).under(&[Kind::Id])),
    ..Cause::BLANK
};

fn title(judgement: &Judgement) -> String {
    let sessions = match judgement.asked.kind {
        Kind::Ticket => "tickets that name a session in a cache",
        _ => "session IDs",
    };
    format!("{} {sessions} are accepted only sometimes", judgement.asked.tls)
}

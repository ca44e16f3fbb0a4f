//! `id-cache-per-process`: session IDs are accepted now and then, as by processes or nodes with a cache each.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::findings::accepted_sometimes::{explained, is_accepted_sometimes};
use crate::nodes::{Sharing, sharing};
use crate::series::{Case, Series};

pub(super) static CAUSE: Cause = Cause {
    slug: "id-cache-per-process",
    title: "Session IDs are accepted only sometimes: a cache per process or node",
    happens: "\
Sessions that the server keeps under an ID stand in the memory of one process or one node. The next connection that
reaches another finds nothing.",
    seen: "\
Some session IDs are accepted and some refused, while tickets, if there are any, always resume. Acceptance at exact
multiples of n connections means n processes taken in turn. IDs that are never accepted are `id-never-accepted`;
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
    separated_by: &["resume-more", "burst", "resume-control"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 4, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &Case<'_>, ids: &Series<'_>) -> Option<Finding> {
    if !is_accepted_sometimes(ids, Kind::Id) {
        return None;
    }
    let series = case.conclusive_series();
    let tickets = series.iter().find(|it| (it.asked.tls, it.asked.kind) == (ids.asked.tls, Kind::Ticket));
    let tickets = tickets.filter(|tickets| tickets.as_asked() == tickets.count());
    // Where tickets always work, the nodes share keys and only the cache is left.
    let sharing = sharing(case, ids);
    let is_in_turn = matches!(sharing, Sharing::InTurn(_));
    let confidence = if tickets.is_some() || is_in_turn { Confidence::Likely } else { Confidence::Possible };
    let always = tickets.map(|tickets| format!("Tickets resumed {} of {}", tickets.as_asked(), tickets.count()));
    let title = format!("{} session IDs are accepted only sometimes", ids.asked.tls);
    let finding = case.found(&CAUSE, Severity::Risk, confidence, title);
    let mut finding = explained(finding, case, ids, sharing);
    finding.evidence.extend(always);
    Some(finding)
}

//! `id-cache-per-process`: session IDs are accepted now and then, as by processes or nodes with a cache each.

use itertools::Itertools;
use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};
use reprise_model::{Asked, Kind, Version};
use reprise_probe::diagnose::Judgement;

use super::shared::parted_title;
use super::{Cause, JudgedRule, Rule, fix, unclean_close_evicts};
use crate::fleet::{FleetCase, FleetFinding};

pub(super) static CAUSE: Cause = Cause {
    slug: "id-cache-per-process",
    title: "Session IDs are accepted only sometimes: a cache per process or node",
    happens: "\
Sessions that the server keeps under an ID stand in the memory of one process or one node. The next connection that
reaches another finds nothing.",
    seen: "\
Some session IDs, or TLS 1.3 tickets that only name a session, are accepted and some refused, while tickets that hold a session, if there
are any, always resume. Acceptance at exact multiples of n connections means n processes taken in turn. Between nodes that are diagnosed
together it shows as IDs that their own node accepts and no other; where tickets of TLS 1.2 are shared, that is a note, since clients
without tickets are rare. It is likely where processes or nodes that do not share explain all
connections 20 times better than anything else. IDs that are never accepted are `id-never-accepted`;
those that die after other handshakes are `cache-too-small`.",
    confirm: "\
Without tickets, ask several times; `New` among `Reused` says it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -reconnect < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "With n processes, n − 1 of n connections that offer an ID are full handshakes.",
    advice: "Share the session cache between processes and nodes, or use tickets:",
    fixes: &[
        fix(
            "nginx",
            "ssl_session_cache shared:SSL:10m;",
            "in the http block, or in the first server block of the listener: the workers of a node share it. Nodes cannot: with \
             several, ssl_session_tickets on and the same ssl_session_ticket_key on all",
        ),
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
    explained_by: &[&unclean_close_evicts::CAUSE],
    separated_by: &["resume", "history", "burst", "resume-control"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::NotShared, |_| Severity::Risk, title).under(&[Kind::Id])),
    fleet: Some(Rule { rank: 2, find: of_fleet }),
    ..Cause::BLANK
};

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let [ids, tickets] = [Kind::Id, Kind::Ticket].map(|kind| Asked { tls: Version::Tls12, kind });
    let parted = case.parted_pairs(ids);
    let pair = parted.first()?;
    let covers = |(one, other): &(usize, usize)| case.relation(tickets, *one, *other) == crate::fleet::Relation::Accepts;
    let severity = if parted.iter().all(covers) { Severity::Note } else { Severity::Risk };
    let confidence = if case.is_one_name { Confidence::Likely } else { Confidence::Possible };
    let nodes: Vec<usize> = parted.iter().flat_map(|(one, other)| [*one, *other]).sorted_unstable().dedup().collect();
    let title = format!("1.2 session IDs of {} are good at their own node alone", case.list(&nodes));
    let evidence = [*pair, (pair.1, pair.0)].map(|pair| case.cite(ids, pair));
    let finding = CAUSE.finding(severity, confidence, title).because(evidence);
    Some(FleetFinding { finding, nodes, reason: "a session cache of its own" })
}

fn title(judgement: &Judgement) -> String {
    let sessions = match judgement.asked.kind {
        Kind::Ticket => "tickets that name a session in a cache",
        _ => "session IDs",
    };
    parted_title(judgement, sessions)
}

//! `unclean-close-evicts`: a session is forgotten where its connection ended without close_notify.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Fix, Rule, cache_too_small, context_per_connection, fix};
use crate::diagnose::examined::{Counts, Examined, evidence, mechanism};
use crate::figures::connections;

pub(super) static CAUSE: Cause = Cause {
    slug: "unclean-close-evicts",
    title: "A session dies when its connection ends without close_notify",
    happens: "\
OpenSSL removes a session from the server's cache when its connection is freed without a proper shutdown
(RFC 5246 §7.2.1 dropped the rule that SSL 3.0 and TLS 1.0 had, and the library kept the habit). Either side may be why:
a client that closes the socket, or crashes, loses its session; and a server that frees each connection without
`SSL_shutdown`, as Redis does, Python's `close()` without `unwrap()`, or a Rust `SslStream` that is dropped, keeps none at
all, though its cache is on.",
    seen: "\
Of the client's end: sessions resume after a clean one (close_notify), and not where the first connection ended with a FIN alone
or with a reset. Reprise ends connections in each of these ways and compares. Of the server's: each session is refused, no
connection ended with the server's close_notify, and three that are offered while their connections are still open resume. A server that serves
one connection at a time cannot be asked so: then it is only possible, since a cache that is off looks the same (`id-never-accepted`). Self-contained tickets resume in all cases.",
    confirm: "\
End once with close_notify (`Q`) and once by a kill, and offer the session each time:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_out session.pem \\
  < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```

Of the server's end: keep the first connection open in another terminal, and offer its session meanwhile:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_out session.pem   # leave it open
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
Clients on poor networks, and those that do not shut down, pay for a full handshake each time: the clients for whom it \
costs most. Where the server ends connections so, all that have no self-contained ticket pay.",
    advice: "Use tickets, which need no cache, or let both sides end their connections with close_notify (SSL_shutdown):",
    fixes: &[OF_CLIENT[0], OF_SERVER[0], OF_SERVER[1], OF_SERVER[2], OF_SERVER[3], OF_SERVER[4]],
    explained_by: &[&cache_too_small::CAUSE, &context_per_connection::CAUSE],
    separated_by: &["unclean-close", "reset", "while-open"],
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 22, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

/// Where clients end connections so.
const OF_CLIENT: [Fix; 2] = [
    fix("HAProxy", "", "take no-tls-tickets out of the bind line"),
    fix("OpenSSL API", "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);", "then clients with tickets need no cache"),
];
const ADVICE_OF_CLIENT: &str = "Use tickets, or let the client end its connections with close_notify (SSL_shutdown):";

/// Where the server does.
const OF_SERVER: [Fix; 5] = [
    OF_CLIENT[1],
    fix(
        "OpenSSL API",
        "SSL_shutdown(ssl);",
        "before SSL_free(); where nobody waits for it any more, SSL_set_quiet_shutdown(ssl, 1) before it sends nothing, and the \
         session stays",
    ),
    fix(
        "Python ssl",
        "connection.unwrap()",
        "before close(), which sends no close_notify; in socketserver and http.server: in shutdown_request()",
    ),
    fix("rust-openssl", "", "call stream.shutdown() before the SslStream is dropped, which sends no close_notify"),
    fix(
        "Redis",
        "",
        "has no setting for it, and tls-session-caching yes does not help: let clients use tickets, which it gives by default (TLS 1.3, \
         or SessionTicket under TLS 1.2)",
    ),
];
const ADVICE_OF_SERVER: &str = "Let the server end its connections with close_notify, or use tickets, which need no cache:";

fn remedies(advice: &str, fixes: &[Fix]) -> Vec<Remedy> {
    std::iter::once(Remedy::general(advice)).chain(fixes.iter().map(Remedy::from)).collect()
}

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = examined.runs("while-open").filter_map(|run| of_server(examined, run)).collect();
    found.extend(of_client(examined));
    found
}

fn of_client(examined: &Examined<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for run in examined.runs("unclean-close").chain(examined.runs("reset")) {
        let Some(confidence) = examined.loses(run) else { continue };
        let evidence = evidence(run).map(|line| format!("{}: {line}", run.experiment.varies));
        let title = format!("{}: sessions whose connection ends without close_notify are forgotten", mechanism(run.asked));
        match found.iter_mut().find(|finding| finding.title == title) {
            Some(finding) => {
                finding.confidence = finding.confidence.min(confidence);
                finding.evidence.extend(evidence);
            }
            None => {
                let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
                let finding = CAUSE.finding(severity, confidence, title).by_design().under([run.asked]);
                let finding = finding.fixed_by(remedies(ADVICE_OF_CLIENT, &OF_CLIENT));
                found.push(examined.priced(finding.because(evidence), run.asked.tls));
            }
        }
    }
    found
}

/// Hardly any session is accepted but those of connections that are still open, and the server never says that it ends one.
fn of_server(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let (ended, open) = (examined.examination.offers_after_ends(run.asked), Counts::of(run.all()));
    // One of three may have ended before its session was offered, which many others then have to outweigh.
    let is_open_to_chance = open.refused >= open.resumed || ended.offered < MANY;
    if !ended.are_evicted() || open.refused > 0 && is_open_to_chance || open.offered() == 0 {
        return None;
    }
    let by = mechanism(run.asked);
    let (confidence, title, evidence) = match open.failed {
        0 if open.offered() >= ENOUGH => (Confidence::Likely, dying(&by), of_open(run)),
        0 => (Confidence::Possible, dying(&by), of_open(run)),
        // It serves one connection at a time.
        _ => (Confidence::Possible, unclean(&by), vec![OTHERWISE.to_owned()]),
    };
    let counted = format!(
        "{} of {} that offered a session of an ended connection resumed",
        ended.resumed,
        connections(ended.offered.into())
    );
    let without = format!(
        "The server ended {} without close_notify, and none with it: OpenSSL then removes the session from its cache",
        connections(ended.without.into())
    );
    let is_covered = run.asked.kind == Kind::Id && examined.case.tickets_cover_ids();
    let severity = if is_covered { Severity::Risk } else { Severity::Fault };
    let finding = CAUSE.finding(severity, confidence, title).because([without, counted].into_iter().chain(evidence));
    let finding = finding.under([run.asked]).fixed_by(remedies(ADVICE_OF_SERVER, &OF_SERVER));
    Some(examined.priced(finding, run.asked.tls))
}

/// So many offers, most of which resume while their connection is open, are no chance, where hardly any does afterwards.
const ENOUGH: usize = 3;

/// So many refusals after an end beside one that was refused before it.
const MANY: u32 = 20;

fn dying(by: &str) -> String {
    format!("{by}: sessions die with their connection, which the server ends without close_notify")
}

fn unclean(by: &str) -> String {
    format!("{by}: no session resumes, and the server ends connections without close_notify, which may be why")
}

fn of_open(run: &ExperimentRun) -> Vec<String> {
    evidence(run).map(|line| format!("While it was open, {line}")).collect()
}

const OTHERWISE: &str = "The server serves one connection at a time, so no session could be offered while its connection was open: a cache that \
    is off looks the same (id-never-accepted)";

//! `session-too-large`: sessions without a client certificate are kept, and those with it are not: it is part of the session, and a
//! cache takes sessions up to some size (nginx: 4 kB).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::{Examined, by_outcome, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "session-too-large",
    title: "Sessions with a client certificate do not fit into the cache",
    happens: "\
A stored session contains the client's certificate chain. nginx's shared cache takes no session above a fixed size
(4096 bytes in most versions), HAProxy splits them over blocks of 200 bytes and gives up on large ones, Apache's
shmcb has a limit for each entry: such a session is silently not kept.",
    seen: "\
With a client certificate (`--cert`), session IDs or the short tickets of a stateful server are refused; without it, where the
server only asks and does not insist, they resume. Whether a smaller chain would help is not on the wire: a server that \
    resumes no client with a certificate looks the same, and the finding names both.",
    confirm: "\
Compare with and without the certificate (where the server only asks and does not insist):

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -cert cert.pem -key key.pem -cert_chain chain.pem -reconnect < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
Every connection of an mTLS client is a full handshake, the most expensive kind: two signatures and two chains.",
    advice: "Use tickets, which the client keeps, or send a shorter chain:",
    fixes: &[fix("nginx", "ssl_session_tickets on;", ""),
fix("Apache", "SSLSessionTickets on", ""),
fix("HAProxy", "", "take no-tls-tickets out of the bind line"),
fix("OpenSSL API", "SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);", ""),],
    separated_by: &["no-certificate-at-all"],
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 16, find: ExaminedRule::EachRun("no-certificate-at-all", of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    examined.gains(run)?;
    let title = format!("{} works without a client certificate and not with it", mechanism(run.asked));
    let with = by_outcome(examined.plain(run.asked)).map(|line| format!("With it, {line}"));
    let without = evidence(run).map(|line| format!("Without, {line}"));
    let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Fault };
    let finding = CAUSE.finding(severity, Confidence::Possible, title).by_design();
    Some(finding.because(with.chain(without).chain([OTHERWISE.to_owned()])))
}

const OTHERWISE: &str = "A server that resumes no client with a certificate looks the same (isolated-by-design): a smaller \
    certificate distinguishes them";

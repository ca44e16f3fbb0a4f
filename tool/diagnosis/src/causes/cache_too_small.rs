//! `cache-too-small`: a session resumes at once, and not after so many handshakes of others.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::{ExperimentRun, Step};

use super::{Cause, ExaminedRule, JudgedRule, Rule, fix};
use crate::diagnose::StoredSession;
use crate::diagnose::examined::{Examined, by_outcome, mechanism};
use crate::figures::connections;

pub(super) static CAUSE: Cause = Cause {
    slug: "cache-too-small",
    title: "Other handshakes evict the session",
    happens: "\
The server keeps sessions in a cache of fixed size. A busy hour fills it, and the oldest sessions go before their
time is over.",
    seen: "\
A session that is offered at once resumes, and one that is offered after some others is refused, whatever its age. Up to about ten others
are tried by default, N with `--fill N`, each made as the client makes its own: with a client certificate, sessions are larger and fewer fit. Waiting alone may spoil a session as well (`lifetime-short`), but so many handshakes take a second or two.
Tickets that carry the session are not affected; TLS 1.3 tickets of a stateful server are.",
    confirm: "\
Save a session, make many others, and offer it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_out session.pem \\
  < /dev/null > /dev/null 2>&1
for i in $(seq 200); do openssl s_client -connect HOST:443 -tls1_2 < /dev/null > /dev/null 2>&1; done
openssl s_client -connect HOST:443 -tls1_2 -no_ticket -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "Under load, when handshakes cost most, resumption stops working.",
    advice: "Make the cache as large as the sessions of one lifetime, or use tickets, which need none:",
    fixes: &[
        fix("nginx", "ssl_session_cache shared:SSL:50m;", "where it stands now; 1 MB holds up to 4000 sessions, with client certificates of 4 kB about 240"),
        fix("Apache", "SSLSessionCache shmcb:logs/ssl_scache(5120000)", ""),
        fix("HAProxy", "tune.ssl.cachesize 100000", "in the global section, in blocks of 200 bytes; default 20000"),
        fix("OpenSSL API", "SSL_CTX_sess_set_cache_size(ctx, 100000);", "default 20480"),
        fix(
            "rustls",
            "config.session_storage = rustls::server::ServerSessionMemoryCache::new(100_000);",
            "its default holds 256",
        ),
        fix(
            "Java",
            "SSLSessionContext.setSessionCacheSize(100000)",
            "or -Djavax.net.ssl.sessionCacheSize=100000; default 20480, 0 is unlimited",
        ),
        fix("stunnel", "sessionCacheSize = 10000", "default 1000"),
    ],
    separated_by: &["history", "fill"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::Capacity, |_| Severity::Risk, |judgement| format!("{}: a session is gone after a few others", mechanism(judgement.asked)))),
    examined: Some(Rule { rank: 1, find: ExaminedRule::EachRun("fill", of_experiments) }),
    ..Cause::BLANK
};

/// The same finding with how large a session is, where it is of this cause.
pub(crate) fn with_size(finding: Finding, session: StoredSession) -> Finding {
    if finding.id != CAUSE.slug {
        return finding;
    }
    let evidence: Vec<String> = std::iter::once(session.size()).chain(finding.evidence.iter().cloned()).collect();
    finding.because(evidence)
}

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    let confidence = examined.loses_after_many(run)?;
    let between = run.seen.iter().filter(|seen| seen.step == Step::Interpose && seen.fault.is_none()).count();
    if between == 0 {
        return None;
    }
    let between = connections(between as u64);
    let title = format!("A session of {} is gone after {between}", mechanism(run.asked));
    let offered = run.all().filter(|seen| seen.observation.offered.is_some());
    let evidence = std::iter::once(format!("Offered at once, every session resumed; after {between}:"));
    let severity = if examined.has_tickets_instead(run.asked) { Severity::Note } else { Severity::Risk };
    let finding = CAUSE.finding(severity, confidence, title).by_design();
    Some(examined.priced(finding.because(evidence.chain(by_outcome(offered))), run.asked.tls))
}

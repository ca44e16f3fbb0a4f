//! `early-data-stateful`: tickets allow early data and serve once: the server keeps each session itself, against replay, and the
//! node that gave it alone knows it.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{EarlyData, Facts, Version};
use reprise_probe::diagnose::{ExperimentRun, Step, Variation};

use super::{Cause, ExaminedRule, Rule, fix, single_use};
use crate::diagnose::examined::Examined;

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-stateful",
    title: "Early data makes tickets stateful: short and of one process",
    happens: "\
OpenSSL protects early data against replay by keeping each session in its own cache and letting a ticket serve once
(SSL_CTX_set_max_early_data). Tickets then only name a session: they are short, and good in one process alone,
whatever ticket keys are shared.",
    seen: "\
Every TLS 1.3 ticket allows early data (max_early_data_size), none is as long as one that holds its session (100 bytes),
and each serves once (`single-use`); early data that is sent with one is accepted. Where several processes serve, such tickets are besides accepted only sometimes
(`hidden-nodes`).",
    confirm: "\
Look at the length of the ticket, and at what it allows:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 2> /dev/null \\
  | grep -E 'Max Early Data|session ticket:' -A3
```",
    costs: "Resumption is lost between processes and nodes, and each session takes memory in the cache.",
    advice: "Keep a replay store of one's own and let tickets be stateless again, or switch early data off:",
    fixes: &[
        fix(
            "nginx",
            "",
            "sets SSL_OP_NO_ANTI_REPLAY by itself: there, tickets stay stateless, and the application must answer 425 where a request must not be replayed (RFC 8470)",
        ),
        fix("HAProxy", "", "take allow-0rtt out of the bind line"),
        fix("Apache", "", "takes no early data"),
        fix(
            "OpenSSL API",
            "SSL_CTX_set_options(ctx, SSL_OP_NO_ANTI_REPLAY);",
            "only with protection of one's own, in SSL_CTX_set_allow_early_data_cb",
        ),
    ],
    separated_by: &["early-data"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 4, find: ExaminedRule::Once(of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let is_single = single_use::is_shown(examined);
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|it| it.version == Version::Tls13);
    let tickets: Vec<_> = facts.flat_map(|facts| facts.tickets.iter().copied().collect::<Vec<_>>()).collect();
    let allowing = tickets.iter().filter(|ticket| ticket.max_early_data.is_some_and(|bytes| bytes > 0)).count();
    let longest = tickets.iter().map(|ticket| ticket.length).max().unwrap_or_default();
    // Where it is sent and never taken, it is off, whatever the tickets say: they are stateful for another reason.
    let sent: Vec<EarlyData> = sent_early(examined).filter_map(|facts| facts.early_data).collect();
    if !sent.is_empty() && !sent.contains(&EarlyData::Accepted) {
        return None;
    }
    if !is_single || allowing == 0 || allowing < tickets.len() || tickets.iter().any(|ticket| ticket.holds_its_session()) {
        return None;
    }
    let title = "Early data makes TLS 1.3 tickets stateful: only the process that issued one accepts it";
    let evidence = [format!("{allowing} tickets of at most {longest} bytes, all of which allow early data and serve once")];
    Some(CAUSE.finding(Severity::Note, Confidence::Likely, title).because(evidence).by_design())
}

/// The connections that sent early data under no HelloRetryRequest, which rejects it.
fn sent_early<'e>(examined: &'e Examined<'_>) -> impl Iterator<Item = &'e Facts> {
    let seen = examined.examination.runs.iter().flat_map(ExperimentRun::all);
    seen.filter(|seen| seen.step == Step::Early(Variation::Plain)).filter_map(|seen| seen.observation.facts())
}

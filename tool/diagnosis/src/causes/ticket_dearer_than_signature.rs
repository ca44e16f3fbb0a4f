//! `ticket-dearer-than-signature`: a resumed handshake takes longer than a full one: the signature was cheap, and what a ticket
//! or a store costs is not.

use reprise_model::Phase;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::{Examined, mechanism};
use crate::figures::{from_to, ratio_and_interval, span};
use crate::savings::saving;

pub(super) static CAUSE: Cause = Cause {
    slug: "ticket-dearer-than-signature",
    title: "Resuming costs more than the full handshake",
    happens: "\
Resumption is work too: the server decrypts the ticket, or asks a cache, perhaps over the network. With an ECDSA key
a signature takes some tens of microseconds; a remote session store takes a round trip to it, and slow AEAD without
hardware help takes long for large tickets.",
    seen: "\
The resumed handshakes of this target take longer than the full ones, by an interval (95 %) that lies wholly on that side. \
Reprise does not report where the time goes: `reprise trace HOST` shows which message waits.",
    confirm: "\
Measure both interleaved:

```sh
reprise measure HOST --kinds full,ticket
```",
    costs: "What the finding says: time of each resumed connection.",
    advice: "Use tickets instead of a remote store, keep tickets small (no client chain in them), or let the cache stand on the same node:",
    fixes: &[
        fix("nginx", "", "ssl_session_tickets on"),
        fix("Apache", "", "SSLSessionCache shmcb instead of memcache or redis"),
        fix("HAProxy", "", "tickets, so without no-tls-tickets"),
        fix(
            "OpenSSL API",
            "",
            "in the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb, an AES that the processor has instructions for",
        ),
        fix("rustls", "", "a ticketer instead of a remote session_storage"),
    ],
    severities: &[Severity::Note],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 20, find: ExaminedRule::Several(of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>) -> Vec<Finding> {
    let series = examined.case.conclusive_series();
    let dearer = series.iter().filter_map(|series| {
        let run = examined.case.conclusive_run(series.asked.tls, series.asked.kind)?;
        let saving = saving(examined.case.figures, run, Phase::Tls)?;
        let ci95 = saving.ci95.filter(|[_, high]| *high < 1.0)?;
        let (full, resumed) = from_to(saving.full_ns, saving.resumed_ns);
        let (ratio, interval) = ratio_and_interval(saving.ratio, ci95);
        let lost = saving.lost();
        let title = format!("Resuming {} takes {} longer than a full handshake", mechanism(series.asked), span(lost.0));
        let finding = CAUSE.finding(Severity::Note, Confidence::Likely, title);
        let evidence = [format!("Full {full}, resumed {resumed}: ratio {ratio} (95 % interval {interval})")];
        Some(finding.because(evidence).costing(Some(lost)))
    });
    dearer.collect()
}

//! `lifetime-invalid`: a TLS 1.3 ticket states a lifetime that the RFC does not allow.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::Examined;

pub(super) static CAUSE: Cause = Cause {
    slug: "lifetime-invalid",
    title: "The lifetime of tickets breaks the RFC",
    happens: "\
A NewSessionTicket says for how many seconds it may be used. Under TLS 1.3 a lifetime of 0 tells the client to
discard the ticket at once, and more than 604800 s, seven days, is forbidden (RFC 9846 §4.7.1). Under TLS 1.2 a hint
of 0 only means that none is given (RFC 5077 §3.3) and is no finding.",
    seen: "\
Reprise reads ticket_lifetime from each NewSessionTicket. A TLS 1.3 lifetime of 0 or above 604800 is found with
certainty, since the number itself stands on the wire. Clients treat it in their own ways: some cap it, some refuse
the ticket, some end the connection with illegal_parameter.",
    confirm: "\
The lifetime stands in what `s_client` prints of each ticket:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 2> /dev/null | grep 'lifetime hint'
```",
    costs: "\
With 0 no client that follows the RFC ever resumes: each connection is a full handshake. Above seven days, strict
clients fail.",
    advice: "Keep the lifetime between 1 s and 604800 s.",
    fixes: &[fix("rustls", "fn lifetime(&self) -> u32 { 86400 }", "in your own ProducesTickets")],
    severities: &[Severity::Fault, Severity::Risk],
    confidences: &[Confidence::Certain],
    examined: Some(Rule { rank: 7, find: ExaminedRule::Once(of_experiments) }),
    ..Cause::BLANK
};

/// RFC 9846 §4.7.1: the most that a ticket may say, in seconds.
const MOST_S: u32 = 604_800;

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let ([_, longest], evidence) = stated_lifetimes(examined, Version::Tls13)?;
    let (severity, title) = match longest {
        0 => (Severity::Fault, "TLS 1.3 tickets have a lifetime of 0 s: clients must discard them immediately".to_owned()),
        1..=MOST_S => return None,
        _ => (
            Severity::Risk,
            format!("TLS 1.3 tickets have a lifetime of {longest} s, more than the seven days that RFC 9846 allows"),
        ),
    };
    Some(CAUSE.finding(severity, Confidence::Certain, title).because([evidence]))
}

/// The shortest and the longest lifetime that tickets of this version state, in seconds, and what is said of all; `None` where no ticket
/// came.
pub(crate) fn stated_lifetimes(examined: &Examined<'_>, version: Version) -> Option<([u32; 2], String)> {
    let facts = examined.full().filter_map(|seen| seen.observation.facts()).filter(|facts| facts.version == version);
    let lifetimes: Vec<u32> =
        facts.flat_map(|facts| facts.tickets.iter().map(|it| it.lifetime_s).collect::<Vec<_>>()).collect();
    let (shortest, longest) = (*lifetimes.iter().min()?, *lifetimes.iter().max()?);
    let span = if shortest == longest {
        format!("a lifetime of {longest} s")
    } else {
        format!("lifetimes from {shortest} to {longest} s")
    };
    Some(([shortest, longest], format!("{} tickets, with {span}", lifetimes.len())))
}

//! `nagle`: a server sends one flight in two writes without TCP_NODELAY, and the second waits for an acknowledgement that the
//! client's system delays.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Nanos, Version};
use reprise_probe::diagnose::{ProbeRecord, Step, Variation};

use super::{Cause, ExaminedRule, Rule, fix};
use crate::diagnose::examined::Examined;
use crate::figures::{connections, span};

pub(super) static CAUSE: Cause = Cause {
    slug: "nagle",
    title: "The server's flight waits for a delayed acknowledgement",
    happens: "\
A server that writes its flight in two parts without TCP_NODELAY waits with the second until the first is
acknowledged (Nagle's algorithm, RFC 896), and the client delays that acknowledgement (RFC 1122 §4.2.3.2), for 40 ms
on Linux. Seen with a Java server under TLS 1.2.",
    seen: "\
Two messages of the server's one flight come 35 to 250 ms apart, much longer than a round trip, in full handshakes in which the
client's system delays its acknowledgements; in those in between, where Reprise acknowledges each segment at once, they come
together. It is no refusal: a cost, and the reason why resumption seems to save so much.",
    confirm: "\
Look for the gap within the server's flight:

```sh
tshark -r capture.pcapng -Y 'tcp.srcport == 443' -T fields -e tcp.time_delta -e tcp.len
```",
    costs: "Some 40 ms in each full handshake, and in each response that is written in two parts.",
    advice: "Let the server set TCP_NODELAY, or write its flight at once:",
    fixes: &[
        fix("Java", "socket.setTcpNoDelay(true);", "on each accepted socket; or a BufferedOutputStream below TLS. HttpsServer shows no socket: -Dsun.net.httpserver.nodelay=true"),
        fix("OpenSSL API", "", "it writes each flight at once; a BIO of your own has to, too"),
        fix("Python ssl", "", "set TCP_NODELAY on the socket before wrap_socket"),
        fix("Node", "", "socket.setNoDelay(true), its default for http servers"),
        fix("Go", "", "sets it by itself"),
        fix("rustls", "", "set_nodelay(true) on the TcpStream"),
        fix(".NET", "", "NoDelay = true on the Socket"),
    ],
    separated_by: &["quick-acknowledgement"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Likely],
    examined: Some(Rule { rank: 9, find: ExaminedRule::EachVersion(of_experiments) }),
    ..Cause::BLANK
};

/// Linux delays an acknowledgement by 40 ms, others by up to 200.
const DELAYED: std::ops::Range<u64> = 35_000_000..250_000_000;

fn of_experiments(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let is_of = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|it| it.version == version);
    let tried: Vec<&ProbeRecord> = examined.runs("quick-acknowledgement").flat_map(|run| &run.seen).filter(is_of).collect();
    let (at_once, plain): (Vec<&ProbeRecord>, Vec<&ProbeRecord>) =
        tried.into_iter().partition(|seen| seen.step == Step::Prime(Variation::AcknowledgesAtOnce));
    let stalls: Vec<u64> = plain.iter().filter_map(|seen| stall(seen)).collect();
    let at_once: Vec<u64> = at_once.iter().map(|seen| seen.stall.unwrap_or_default().0).collect();
    // A server that computes for as long does not wait for acknowledgements, and one that warms up does so on both.
    let (median, median_at_once) = (reprise_stats::median(&stalls)?, reprise_stats::median(&at_once)?);
    if stalls.len() < ENOUGH
        || 3 * stalls.len() < 2 * plain.len()
        || at_once.len() < ENOUGH
        || median_at_once >= stalls.iter().min()? / 2
    {
        return None;
    }
    let title =
        format!("A full {version} handshake stalls for {}: Nagle's algorithm and delayed acknowledgements", span(median));
    let evidence = [
        format!(
            "On {} of {}, two messages of one flight of the server came {} apart (median)",
            stalls.len(),
            connections(plain.len() as u64),
            span(median),
        ),
        format!(
            "On {} in between, of which each segment was acknowledged at once, {}",
            connections(at_once.len() as u64),
            span(median_at_once)
        ),
    ];
    let finding = CAUSE.finding(Severity::Risk, Confidence::Likely, title);
    Some(finding.because(evidence).costing(Some(Nanos(median))))
}

/// So many of each kind.
const ENOUGH: usize = 3;

/// How long the handshake stood still, if that may be for an acknowledgement. On a slow path a wait as long may be a packet that
/// was lost.
fn stall(seen: &ProbeRecord) -> Option<u64> {
    let Nanos(round_trip) = seen.observation.phases.connect.unwrap_or_default();
    let Nanos(stall) = seen.stall?;
    (DELAYED.contains(&stall) && stall > 4 * round_trip).then_some(stall)
}

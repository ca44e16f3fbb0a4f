//! When the figures must not be trusted.

use reprise_trace::document::LoadDocument;

use crate::options::Options;

/// Who waits this share of the time for a processor is held up by others on this machine.
const CROWDED: f64 = 0.1;

/// From here on the generator's own waiting is part of the latencies.
const SUSPECT: f64 = 0.8;

/// Why the figures of this document may mislead.
pub(crate) fn warnings(document: &LoadDocument, options: &Options) -> Vec<String> {
    let mut warnings = Vec::new();
    if document.bottleneck.client_busy >= SUSPECT {
        warnings.push(format!(
            "the generator was busy {:.0} % of the time: latencies hold its own waiting, and the rate may be its own; give it more --threads",
            document.bottleneck.client_busy * 100.0
        ));
    }
    let whole = document.rate.per_second.split_last().map_or(&[][..], |(_, whole)| whole);
    if let (Some(least), Some(most)) = (whole.iter().min(), whole.iter().max())
        && whole.len() >= 3
        && (*most as f64) > 1.5 * (*least).max(1) as f64
        && options.ramp <= options.warmup
    {
        warnings.push(format!("the seconds differ much, from {least} to {most} connections: something else was at work"));
    }
    let waiting = document.bottleneck.client_waiting.max(document.bottleneck.server_waiting.unwrap_or_default());
    if waiting >= CROWDED {
        warnings.push(format!(
            "processors were waited for {:.0} % of the time, since others used them: rates are lower and latencies longer than on a quiet machine",
            waiting * 100.0
        ));
    }
    for (name, advice) in [
        (
            "ports_exhausted",
            "local ports ran out: --close rst leaves none in TIME_WAIT; or widen net.ipv4.ip_local_port_range",
        ),
        ("descriptor_limit", "descriptors ran out: raise the limit (ulimit -n), or use fewer connections"),
        (
            "not_started",
            "connections that were due found no place: the rate is beyond reach, or --connections is too low for it",
        ),
    ] {
        if let Some(count) = document.errors.get(name) {
            warnings.push(format!("{count} × {name}: {advice}"));
        }
    }
    if let Some(count) = document.errors.get("hello_retry_request") {
        warnings.push(match &document.wanted_group {
            Some(group) => format!(
                "{count} × hello_retry_request: the server wants {group} first, with which those that followed began: put it \
                 first in --groups"
            ),
            None => format!("{count} × hello_retry_request: the server wants a second ClientHello, which is not sent"),
        });
    }
    let attempts = document.total_completed() + document.total_errors();
    if document.total_errors() * 100 > attempts {
        warnings.push(format!(
            "{} of {attempts} connections failed: latencies are those of the others",
            document.total_errors()
        ));
    }
    let resumable = options.mix.iter().any(|(kind, _)| *kind != reprise_trace::Kind::Full);
    if resumable && document.refused * 100 > document.total_completed() {
        warnings
            .push(format!("{} sessions were offered and refused: the server does not resume each time", document.refused));
    }
    if !options.address.ip().is_loopback() {
        return warnings;
    }
    if options.server_pid.is_none() {
        warnings
            .push("server and generator share this machine: --server-pid tells whose processor time was whose".to_owned());
    }
    warnings
}

//! When the figures must not be trusted.

use reprise_trace::document::{Bottleneck, LoadDocument};
use reprise_trace::{Kind, Version};

use crate::generator::load::Outcome;
use crate::generator::options::{Close, Options};
use crate::generator::resources::Used;
use crate::generator::resources::restraint::Restraint;
use crate::generator::verdict::{CROWDED, in_time_wait, scarce_ports};

/// From here on the generator's own waiting is part of the latencies.
const SUSPECT: f64 = 0.8;

/// A shorter load, in seconds, is mostly its beginning and its end.
const SHORT: f64 = 0.5;

/// Seconds of few connections differ by so many standard deviations of a Poisson process, and nothing was at work.
const CHANCE: f64 = 4.0;

/// Why the figures of this document may mislead.
pub(crate) fn warnings(document: &LoadDocument, outcome: &Outcome, options: &Options) -> Vec<String> {
    let mut warnings = Vec::new();
    of_the_generator(document, outcome, options, &mut warnings);
    of_the_processors(document, outcome, &mut warnings);
    of_failures(document, &mut warnings);
    of_responses(document, &mut warnings);
    of_sessions(document, options, &mut warnings);
    if options.address.ip().is_loopback() && options.server_pid.is_none() {
        warnings
            .push("server and generator share this machine: --server-pid tells whose processor time was whose".to_owned());
    }
    warnings
}

fn of_the_generator(document: &LoadDocument, outcome: &Outcome, options: &Options, warnings: &mut Vec<String>) {
    let scarce_ports = scarce_ports(outcome, options);
    if document.bottleneck.client_busy >= SUSPECT {
        warnings.push(format!(
            "the generator was busy {:.0} % of the time: latencies hold its own waiting, and the rate may be its own{}",
            document.bottleneck.client_busy * 100.0,
            if scarce_ports.is_none() { "; give it more --threads" } else { "" }
        ));
    }
    if document.seconds < SHORT && document.total_completed() > 0 && !document.interrupted {
        warnings.push(format!(
            "it lasted {:.0} ms: too short for a rate to be relied on; --duration or --count make it longer",
            document.seconds * 1e3
        ));
    }
    warnings.extend(scarce_ports.map(in_time_wait));
    // What completed after the end is no second of the load, and its last may be a part of one.
    let whole = document.rate.per_second.iter().take(document.seconds.floor() as usize);
    if let (Some(least), Some(most)) = (whole.clone().min(), whole.clone().max())
        && whole.len() >= 3
        && (*most as f64) > 1.5 * (*least).max(1) as f64
        && (most - least) as f64 > CHANCE * (*most as f64).sqrt()
        && options.ramp <= options.warmup
    {
        warnings.push(format!("the seconds differ much, from {least} to {most} connections: something else was at work"));
    }
}

fn of_the_processors(document: &LoadDocument, outcome: &Outcome, warnings: &mut Vec<String>) {
    let Bottleneck { client_waiting, server_waiting, reason, .. } = &document.bottleneck;
    let Used { client_restraint, server_restraint, .. } = &outcome.used_until_drain;
    let is_told = |restraint: &Restraint| reason.contains(&restraint.told());
    if client_restraint.was_felt() {
        warnings.push(if is_told(client_restraint) {
            "the generator's CPU limit held it back: latencies hold that time as well".to_owned()
        } else {
            format!(
                "the generator has {}: the longest latencies may be those of its own stops; raise the limit",
                client_restraint.told()
            )
        });
    }
    if server_restraint.was_felt() && !is_told(server_restraint) {
        warnings
            .push(format!("the server has {}: the longest latencies may be those of its stops", server_restraint.told()));
    }
    // Whom its limit held back waited for that, and not for others.
    let waited = |share: f64, restraint: &Restraint| if restraint.was_felt() { 0.0 } else { share };
    let waiting =
        waited(*client_waiting, client_restraint).max(waited(server_waiting.unwrap_or_default(), server_restraint));
    if waiting >= CROWDED {
        warnings.push(format!(
            "processors were waited for {:.0} % of the time, since others used them: rates are lower and latencies longer than on a quiet machine",
            waiting * 100.0
        ));
    }
}

fn of_failures(document: &LoadDocument, warnings: &mut Vec<String>) {
    // What to do about them is the same in the warm-up.
    let count_of = |name| {
        let [counted, in_warmup] = [&document.errors, &document.warmup_errors].map(|errors| errors.get(name));
        Some(counted.copied().unwrap_or_default() + in_warmup.copied().unwrap_or_default()).filter(|count| *count > 0)
    };
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
        if let Some(count) = count_of(name) {
            warnings.push(format!("{count} × {name}: {advice}"));
        }
    }
    if let Some(count) = count_of("hello_retry_request") {
        let one = document.wanted_group.as_ref().filter(|one| document.wanted_groups.values().all(|group| group == *one));
        let by_name = || document.wanted_groups.iter().map(|(name, group)| format!("{group} for '{name}'"));
        warnings.push(match &document.wanted_group {
            Some(group) if one.is_some() => format!(
                "{count} × hello_retry_request: the server wants {group} first, with which those that followed began: put it \
                 first in --groups"
            ),
            Some(_) => format!(
                "{count} × hello_retry_request: servers want other groups first ({}), with which those that followed under \
                 the same name began",
                by_name().collect::<Vec<_>>().join(", ")
            ),
            None => format!("{count} × hello_retry_request: the server wants a second ClientHello, which is not sent"),
        });
    }
    if document.total_warmup_errors() > 0 {
        let names: Vec<String> = document.warmup_errors.iter().map(|(name, count)| format!("{count} × {name}")).collect();
        warnings.push(format!(
            "{} of {} connections of the warm-up failed ({}): they are counted apart, and in no other figure",
            document.total_warmup_errors(),
            document.total_warmup_errors() + document.warmup_completed,
            names.join(", ")
        ));
    }
    let attempts = document.total_completed() + document.total_errors();
    if document.total_errors() * 100 > attempts && document.total_completed() > 0 {
        warnings.push(format!(
            "{} of {attempts} connections failed: latencies are those of the others",
            document.total_errors()
        ));
    }
}

fn of_responses(document: &LoadDocument, warnings: &mut Vec<String>) {
    let refusals: u64 = document.http_status.range(400..).map(|(_, count)| count).sum();
    let responses: u64 = document.http_status.values().sum();
    if refusals * 100 > responses {
        warnings.push(format!(
            "{refusals} of {responses} responses have an HTTP status of 400 or above ({}): what was asked for was not served",
            document.http_status.range(400..).map(|(status, _)| status.to_string()).collect::<Vec<_>>().join(", ")
        ));
    }
}

fn of_sessions(document: &LoadDocument, options: &Options, warnings: &mut Vec<String>) {
    let never = options.mix.iter().map(|(kind, _)| kind).filter(|kind| !document.completed.contains_key(*kind));
    for kind in never.filter(|kind| **kind != Kind::Full && document.total_completed() > 0) {
        warnings.push(format!(
            "no connection was resumed by {kind}: {} had no session to offer yet, and {} offered one that was refused",
            document.primed, document.refused
        ));
    }
    let resumable = options.mix.iter().any(|(kind, _)| *kind != Kind::Full);
    if resumable && document.refused * 100 > document.total_completed() {
        warnings.push(format!(
            "{} sessions were offered and refused: the server does not resume each time{}",
            document.refused,
            what_may_have_cost_them(options)
        ));
    }
}

/// Why sessions may have been refused that another way to load would have kept.
fn what_may_have_cost_them(options: &Options) -> &'static str {
    if options.tls.version == Version::Tls13 && options.tls.reuse_tickets {
        // RFC 8446 §8.1.
        "; some take each ticket once: leave out --reuse-tickets"
    } else if options.close == Close::Rst && options.mix.iter().any(|(kind, _)| *kind == Kind::Id) {
        // RFC 5246 §7.2.2: a session whose connection ended with a fatal alert is not resumed, and OpenSSL's cache takes a reset
        // for no better.
        "; some forget the session ID of a connection that was reset: try --close notify"
    } else {
        ""
    }
}

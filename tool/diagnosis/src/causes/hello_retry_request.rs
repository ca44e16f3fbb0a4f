//! `hello-retry-request`: the server asks for a key share of another group than clients share, and each handshake starts again
//! (RFC 9846 §4.2.4), the resumed ones too.

use std::fmt;

use reprise_model::document::{Confidence, Finding, HelloRetrySummary, Remedy, Severity};
use reprise_model::{Facts, Kind, Nanos, Phase, Version};
use reprise_wire::NamedGroup;

use super::{Cause, MeasuredRule, Rule};
use crate::figures::{from_to, span};
use crate::savings::median_ns;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    separated_by: &["first-share"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 4, find: MeasuredRule::Once(of_measurement) }),
    ..page!("hello-retry-request")
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let retry = case.figures.hello_retry.as_ref()?;
    let counts = [Kind::Full, Kind::Ticket, Kind::Psk].map(|kind| RetryCount::of(case, kind));
    let (retried, all) = counts.iter().fold((0, 0), |(retried, all), it| (retried + it.retried, all + it.all));
    if retried == 0 {
        return None;
    }
    let HelloRetrySummary { shared, group, .. } = retry;
    let again =
        if retried == all { "each connection of TLS 1.3 starts again" } else { "connections of TLS 1.3 start again" };
    let title = format!("The server asks for {group} where the client shares {shared} (HelloRetryRequest): {again}");
    let counted: Vec<String> = counts.iter().filter(|it| it.all > 0).map(RetryCount::to_string).collect();
    let (cost, price) = price(case, retry);
    let groups = format!("Groups: offered {}; shared {shared}; chosen {group}", retry.offered.join(", "));
    let counted = format!("HelloRetryRequest: {}", counted.join(", "));
    let without = format!("Without it here: --groups {}", sharing_first(retry));
    let evidence = [counted, groups].into_iter().chain(price).chain([without]);
    let usual = [NamedGroup::X25519, NamedGroup::X25519MLKEM768].map(|group| group.to_string());
    let is_shared_by_clients = shared.split(" and ").any(|shared| usual.iter().any(|usual| usual == shared));
    // Clients that share the hybrid group share X25519 beside it; with --groups this one shares the first alone.
    let is_shared_too = *group == NamedGroup::X25519.to_string();
    let finding = if is_shared_by_clients && !is_shared_too {
        case.found(&CAUSE, Severity::Risk, Confidence::Certain, title)
    } else {
        let remedy = format!("Share {group} first (here: --groups {}), as most clients do", sharing_first(retry));
        CAUSE.finding(Severity::Note, Confidence::Certain, title).fixed_by(vec![Remedy::general(&remedy)])
    };
    Some(finding.because(evidence).costing(cost))
}

/// How many connections of one kind were retried.
struct RetryCount {
    kind: Kind,
    retried: usize,
    all: usize,
}

impl RetryCount {
    fn of(case: &MeasuredCase<'_>, kind: Kind) -> Self {
        let of_kind = || case.samples().filter(|(seen, facts)| seen.asked.tls == Version::Tls13 && facts.kind == kind);
        let is_retried = |facts: &Facts| facts.hello_retry.is_some_and(|retry| retry.groups().is_some());
        Self { kind, retried: of_kind().filter(|(_, facts)| is_retried(facts)).count(), all: of_kind().count() }
    }
}

impl fmt::Display for RetryCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} {}", self.retried, self.all, self.kind)
    }
}

/// What starting again costs, and how that is known.
fn price(case: &MeasuredCase<'_>, retry: &HelloRetrySummary) -> (Option<Nanos>, Vec<String>) {
    let runs =
        || [Kind::Full, Kind::Ticket, Kind::Psk].into_iter().filter_map(|kind| case.figures.run(Version::Tls13, kind));
    // Through a proxy, connecting is not the way to the server.
    let is_direct = case.figures.target.proxy.is_none();
    let round_trip = runs().find_map(|run| median_ns(run, Phase::Connect)).filter(|_| is_direct);
    let beside = round_trip.map(|ns| format!("A round trip more for each, {} here (connect)", span(ns)));
    let compared = retry.comparison.and_then(|compared| Some((compared, compared.shown_cost_ns()?)));
    let Some((compared, cost)) = compared else {
        let words = beside.unwrap_or_else(|| "A round trip more for each".to_owned());
        return (round_trip.map(Nanos), vec![words]);
    };
    let (retried, at_once) = from_to(compared.retried_ns, compared.at_once_ns);
    let (kind, group) = (compared.kind, &retry.group);
    let counts = format!("{} and {} in turn", compared.retried_n, compared.at_once_n);
    let words = format!("Handshake ({kind}) {retried}, with {group} shared at once {at_once} ({counts})");
    (Some(Nanos(cost)), [words].into_iter().chain(beside).collect())
}

/// The offered groups with the wanted one first.
fn sharing_first(retry: &HelloRetrySummary) -> String {
    let others = retry.offered.iter().filter(|group| **group != retry.group);
    [&retry.group].into_iter().chain(others).map(String::as_str).collect::<Vec<_>>().join(",")
}

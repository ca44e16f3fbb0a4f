//! Connections that a HelloRetryRequest makes start again, and what that costs: the same beside others, in turn with them, whose
//! first key share is of the group that the server asks for.

use std::collections::BTreeMap;

use reprise_engine::shared_names;
use reprise_model::document::{HelloRetryComparison, HelloRetrySummary};
use reprise_model::{Asked, HelloRetry, Kind, Observation, SharedGroups};
use reprise_stats::{difference, median};
use reprise_wire::NamedGroup;

use crate::series::Series;

/// From how many connections of either side on a time is compared.
pub(crate) const FEWEST: u32 = 8;
/// More would show nothing else: a round trip is no small difference.
pub(crate) const MOST: u32 = 12;

/// Connections of one version and kind: as they are, and with the group shared at once that the server asks for.
#[derive(Clone, Debug, Default)]
pub struct RetryComparison {
    /// As they are.
    pub plain: Vec<Observation>,
    /// With that group first.
    pub at_once: Vec<Observation>,
}

/// The kind to compare, and the group that the server asks for on its connections: of full handshakes, and only where those are not retried
/// of resumed ones.
pub(crate) fn most_retried<'s>(series: impl Iterator<Item = &'s Series> + Clone) -> Option<(Asked, NamedGroup)> {
    [Kind::Full, Kind::Ticket].into_iter().find_map(|kind| {
        let of_kind = series.clone().filter(|series| series.asked.kind == kind);
        of_kind.filter_map(|series| Some((series.asked, most_frequent(&series.observations)?.1))).next()
    })
}

/// What the retried connections among these came to; `None` where there is none.
pub fn hello_retry(
    series: &[Series],
    offered: &[NamedGroup],
    comparison: Option<&RetryComparison>,
    seed: u64,
) -> Option<HelloRetrySummary> {
    let (shared, group) = most_frequent(series.iter().flat_map(|series| &series.observations))?;
    Some(HelloRetrySummary {
        offered: offered.iter().map(ToString::to_string).collect(),
        shared: shared_names(shared),
        group: group.to_string(),
        comparison: comparison.and_then(|comparison| compare(comparison, seed)),
    })
}

/// The groups that were shared and the one that was asked for, of most of these connections.
fn most_frequent<'o>(seen: impl IntoIterator<Item = &'o Observation>) -> Option<(SharedGroups, NamedGroup)> {
    let mut counts: BTreeMap<(SharedGroups, u16), usize> = BTreeMap::new();
    let retries = seen.into_iter().filter_map(|seen| seen.facts()?.hello_retry?.groups());
    retries.for_each(|groups| *counts.entry(groups).or_default() += 1);
    let ((shared, wanted), _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some((shared, NamedGroup(wanted)))
}

/// `None` where either side has too few: a server may ask again whatever is shared.
fn compare(comparison: &RetryComparison, seed: u64) -> Option<HelloRetryComparison> {
    [Kind::Full, Kind::Ticket].into_iter().find_map(|kind| {
        let retried = times(&comparison.plain, kind, |retry| retry.and_then(HelloRetry::groups).is_some());
        let at_once = times(&comparison.at_once, kind, |retry| retry.is_none());
        if retried.len().min(at_once.len()) < FEWEST as usize {
            return None;
        }
        let costs = difference(&retried, &at_once, seed)?;
        Some(HelloRetryComparison {
            kind,
            retried_n: retried.len() as u64,
            retried_ns: median(&retried)?,
            at_once_n: at_once.len() as u64,
            at_once_ns: median(&at_once)?,
            costs_ns: costs.median.round() as i64,
            ci95_ns: costs.ci95.map(|ends| ends.map(|end| end.round() as i64)),
        })
    })
}

/// The handshake's time of those that completed as this kind.
fn times(seen: &[Observation], kind: Kind, wanted: impl Fn(Option<HelloRetry>) -> bool) -> Vec<u64> {
    let is_it = |seen: &&Observation| seen.facts().is_some_and(|facts| facts.kind == kind && wanted(facts.hello_retry));
    seen.iter().filter(is_it).filter_map(|seen| seen.phases.tls).map(|time| time.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_model::{Facts, Nanos, Phases, Purpose, Version};

    const X25519: u16 = 0x1d;
    const P384: u16 = 0x18;

    fn seen(kind: Kind, ms: u64, wanted: Option<u16>) -> Observation {
        let asked = Asked { tls: Version::Tls13, kind };
        let hello_retry = wanted.map(|wanted| HelloRetry { shared: SharedGroups::of([X25519]), wanted: Some(wanted) });
        let facts = Facts { kind, hello_retry, ..Facts::of_choice(asked.tls, 0x1301) };
        let phases = Phases { tls: Some(Nanos(ms * 1_000_000)), ..Phases::default() };
        Observation { outcome: Ok(facts), phases, ..Observation::begun(0, Nanos(0), Purpose::Sample, asked) }
    }

    fn series(kind: Kind, observations: Vec<Observation>) -> Series {
        Series { asked: Asked { tls: Version::Tls13, kind }, observations }
    }

    fn summary(plain: Vec<Observation>, at_once: Vec<Observation>) -> HelloRetrySummary {
        let kind = plain[0].asked.kind;
        let comparison = RetryComparison { plain: plain.clone(), at_once };
        let offered = [NamedGroup(X25519), NamedGroup(P384)];
        hello_retry(&[series(kind, plain)], &offered, Some(&comparison), 1).unwrap()
    }

    #[test]
    fn a_retry_costs_what_the_medians_differ_by() {
        let all = |ms, wanted| vec![seen(Kind::Full, ms, wanted); 8];
        let found = summary(all(43, Some(P384)), all(21, None));
        assert_eq!((&*found.shared, &*found.group, found.offered.len()), ("x25519", "secp384r1", 2));
        let comparison = found.comparison.unwrap();
        assert_eq!((comparison.retried_n, comparison.at_once_n), (8, 8));
        assert_eq!(comparison.shown_cost_ns(), Some(22_000_000));
        let faster = summary(all(21, Some(P384)), all(21, None)).comparison.unwrap();
        assert_eq!(faster.shown_cost_ns(), None, "no difference is no cost");
    }

    #[test]
    fn what_is_retried_all_the_same_is_not_compared() {
        let all = |wanted| vec![seen(Kind::Full, 43, wanted); 8];
        assert!(summary(all(Some(P384)), all(Some(X25519))).comparison.is_none());
        let few = vec![seen(Kind::Full, 43, Some(P384)); 7];
        assert!(summary(few, all(None)).comparison.is_none());
    }

    #[test]
    fn of_connections_without_a_retry_nothing_is_said() {
        let plain = [series(Kind::Full, vec![seen(Kind::Full, 21, None)])];
        assert_eq!(hello_retry(&plain, &[], None, 1), None);
        assert_eq!(most_retried(plain.iter()), None);
    }

    #[test]
    fn a_retry_of_resumptions_alone_is_compared_by_them() {
        let both = [
            series(Kind::Full, vec![seen(Kind::Full, 21, None)]),
            series(Kind::Ticket, vec![seen(Kind::Ticket, 21, Some(P384))]),
        ];
        let asked = Asked { tls: Version::Tls13, kind: Kind::Ticket };
        assert_eq!(most_retried(both.iter()), Some((asked, NamedGroup(P384))));
    }

    #[test]
    fn the_most_frequent_group_is_named() {
        let many = [vec![seen(Kind::Full, 43, Some(P384)); 5], vec![seen(Kind::Full, 43, Some(0x17)); 3]].concat();
        assert_eq!(hello_retry(&[series(Kind::Full, many)], &[], None, 1).unwrap().group, "secp384r1");
    }
}

//! Results of several generators that ran at the same time, as one.

use std::collections::BTreeMap;

use reprise_model::document::{
    AnswerDifference, Bottleneck, LoadCpuLimit, LoadDocument, LoadHistogram, LoadLatency, LoadWindow, Verdict,
};
use reprise_model::{Kind, Phase};
use reprise_stats::histogram::{Histogram, decode, encode, spread};
use thiserror::Error;

/// Why results do not make one.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MergeError {
    /// There is none.
    #[error("no results to merge")]
    Nothing,
    /// They are of different loads.
    #[error("the results are from different loads ({0}) and cannot be merged")]
    Different(&'static str),
    /// One of them stands there twice, as if two generators had seen the same.
    #[error("two of the results are the same: they would be counted twice")]
    Twice,
    /// Two were made at different times, so that the server never bore both.
    #[error(
        "results {} and {} overlap for only {:.0} % of their time: rates add up only if the loads ran together (90 %). \
            Start the generators together: reprise load --start-at $(($(date +%s) + 10)), the same second and the same \
            --duration for all", .places.0, .places.1, (.overlap * 100.0).floor()
    )]
    Apart {
        /// Their places among the results, from 1.
        places: (usize, usize),
        /// The share of the longer one's time that both have in common.
        overlap: f64,
    },
    /// One does not say when it was made.
    #[error("result {place} has no time window, it is from an earlier version: run the load again")]
    Timeless {
        /// Its place among the results, from 1.
        place: usize,
    },
    /// One is of a search, whose rate is not that of the others.
    #[error("results of --step cannot be merged: each generator searched for its own rate")]
    Search,
    /// One is of a sweep, whose loads were made in an order of its own.
    #[error("results of --sweep and --plan cannot be merged: each generator made its loads in its own order")]
    Sweep,
    /// A histogram cannot be read.
    #[error("a histogram of {kind} cannot be read: the file was changed, or is of another version")]
    Histogram {
        /// Of this kind.
        kind: Kind,
    },
}

/// Results are of one time where they have this share of it in common.
const TOGETHER: f64 = 0.9;

/// Merges exactly: counts add up, and so do histograms, from which the latencies are computed anew.
///
/// # Errors
/// If there is nothing to merge, if the loads differ in what makes them comparable, if they were made at different times, or if a
/// histogram is broken.
pub fn merge(documents: &[LoadDocument]) -> Result<LoadDocument, MergeError> {
    let (first, others) = documents.split_first().ok_or(MergeError::Nothing)?;
    let mut merged = first.clone();
    let mut histograms: BTreeMap<(Kind, Option<Phase>), Histogram<u64>> = BTreeMap::new();
    add_histograms(&mut histograms, first)?;
    for (place, other) in others.iter().enumerate() {
        check(first, other)?;
        if documents.iter().take(place + 1).any(|before| before == other) {
            return Err(MergeError::Twice);
        }
    }
    check_times(documents)?;
    for other in others {
        add_histograms(&mut histograms, other)?;
        add(&mut merged, other);
    }
    merged.histograms =
        histograms.iter().filter_map(|((kind, phase), histogram)| encoded(*kind, *phase, histogram)).collect();
    merged.latency_ns.clear();
    merged.latency_from_intended_ns.clear();
    for ((kind, phase), histogram) in &histograms {
        merged.set_latency(*kind, *phase, latency(histogram));
    }
    merged.bottleneck = bottleneck(documents);
    // They were held against each generator by itself, and quantiles do not add up.
    merged.conditions.clear();
    if documents.len() > 1 {
        merged.rate.latency_per_second.clear();
    }
    Ok(merged)
}

fn encoded(kind: Kind, phase: Option<Phase>, histogram: &Histogram<u64>) -> Option<LoadHistogram> {
    Some(LoadHistogram { kind, phase, hdr_v2: encode(histogram)? })
}

fn latency(histogram: &Histogram<u64>) -> LoadLatency {
    let it = spread(histogram);
    LoadLatency { p50: it.p50, p90: it.p90, p95: Some(it.p95), p99: it.p99, p999: it.p999, max: it.max }
}

fn check(one: &LoadDocument, other: &LoadDocument) -> Result<(), MergeError> {
    let differs = |what, same: bool| if same { Ok(()) } else { Err(MergeError::Different(what)) };
    differs("targets", (&one.target.host, one.target.port) == (&other.target.host, other.target.port))?;
    differs("versions", one.asked.tls == other.asked.tls)?;
    differs("groups", one.asked.groups == other.asked.groups)?;
    differs("cipher suites", one.asked.cipher_suites == other.asked.cipher_suites)?;
    differs("kinds", one.asked.mix == other.asked.mix)?;
    differs("requests", one.asked.requests == other.asked.requests)?;
    differs("open and closed loop", one.asked.rate.is_some() == other.asked.rate.is_some())?;
    differs("paths", one.target.path == other.target.path)?;
    differs("key shares", one.asked.key_shares == other.asked.key_shares)?;
    differs("endings", one.asked.close == other.asked.close)?;
    differs("methods", one.asked.method == other.asked.method)?;
    differs("protocols", one.asked.alpn == other.asked.alpn)?;
    let stages = |document: &LoadDocument| document.stages.iter().map(|stage| stage.duration_ns).collect::<Vec<_>>();
    differs("stages", stages(one) == stages(other))?;
    let way = |document: &LoadDocument| (document.target.starttls.clone(), document.target.proxy_protocol.clone());
    differs("ways to TLS", way(one) == way(other))?;
    differs("verification", one.asked.verify == other.asked.verify)?;
    if [one, other].iter().any(|it| it.sweep.is_some()) {
        return Err(MergeError::Sweep);
    }
    if one.steps.is_empty() && other.steps.is_empty() { Ok(()) } else { Err(MergeError::Search) }
}

/// One after the other, two loads add up to a capacity that the server does not have.
fn check_times(documents: &[LoadDocument]) -> Result<(), MergeError> {
    if documents.len() < 2 {
        return Ok(());
    }
    let window =
        |(place, document): (usize, &LoadDocument)| document.window.ok_or(MergeError::Timeless { place: place + 1 });
    let windows = documents.iter().enumerate().map(window).collect::<Result<Vec<LoadWindow>, _>>()?;
    for (place, one) in windows.iter().enumerate() {
        for (other_place, other) in windows.iter().enumerate().skip(place + 1) {
            let overlap = one.overlap(*other);
            if overlap < TOGETHER {
                return Err(MergeError::Apart { places: (place + 1, other_place + 1), overlap });
            }
        }
    }
    Ok(())
}

fn add_histograms(
    all: &mut BTreeMap<(Kind, Option<Phase>), Histogram<u64>>,
    document: &LoadDocument,
) -> Result<(), MergeError> {
    for histogram in &document.histograms {
        let broken = || MergeError::Histogram { kind: histogram.kind };
        let decoded = decode(&histogram.hdr_v2).ok_or_else(broken)?;
        match all.get_mut(&(histogram.kind, histogram.phase)) {
            Some(sum) => sum.add(&decoded).map_err(|_| broken())?,
            None => drop(all.insert((histogram.kind, histogram.phase), decoded)),
        }
    }
    Ok(())
}

fn add(merged: &mut LoadDocument, other: &LoadDocument) {
    add_counts(&mut merged.completed, &other.completed);
    add_count(&mut merged.late, other.late);
    add_count(&mut merged.not_started, other.not_started);
    add_count(&mut merged.warmup_not_started, other.warmup_not_started);
    merged.window = merged.window.zip(other.window).map(|(one, other)| one.hull(other));
    add_counts(&mut merged.errors, &other.errors);
    for (name, reason) in &other.error_reasons {
        merged.error_reasons.entry(name.clone()).or_insert_with(|| reason.clone());
    }
    add_counts(&mut merged.warmup_errors, &other.warmup_errors);
    add_counts(&mut merged.http_status, &other.http_status);
    for difference in &other.answers_differ {
        let is_same = |known: &AnswerDifference| {
            (known.tls, known.kind, known.part) == (difference.tls, difference.kind, difference.part)
        };
        match merged.answers_differ.iter_mut().find(|known| is_same(known)) {
            Some(known) => known.add(difference),
            None => merged.answers_differ.push(difference.clone()),
        }
    }
    add_counts(&mut merged.alpn, &other.alpn);
    add_count(&mut merged.warmup_completed, other.warmup_completed);
    add_count(&mut merged.primed, other.primed);
    add_count(&mut merged.refused, other.refused);
    add_count(&mut merged.failed_offers, other.failed_offers);
    // Servers behind one name may want this or that: which is told must not depend on who comes first.
    merged.wanted_group = merged.wanted_group.take().into_iter().chain(other.wanted_group.clone()).min();
    add_count(&mut merged.hello_retries, other.hello_retries);
    for (name, group) in &other.wanted_groups {
        let ours = merged.wanted_groups.entry(name.clone()).or_insert_with(|| group.clone());
        *ours = ours.clone().min(group.clone());
    }
    // They ran at the same time, so their rates add up, and the time is that of the longest.
    merged.seconds = merged.seconds.max(other.seconds);
    merged.rate.mean += other.rate.mean;
    for (kind, mean) in &other.rate.mean_by_kind {
        *merged.rate.mean_by_kind.entry(*kind).or_default() += mean;
    }
    add_series(&mut merged.rate.per_second, &other.rate.per_second);
    for (kind, series) in &other.rate.per_second_by_kind {
        add_series(merged.rate.per_second_by_kind.entry(*kind).or_default(), series);
    }
    add_count(&mut merged.client_cpu_ns.user, other.client_cpu_ns.user);
    add_count(&mut merged.client_cpu_ns.system, other.client_cpu_ns.system);
    // One server is seen by those that run beside it: all of them saw the same.
    merged.server_cpu_ns = merged.server_cpu_ns.max(other.server_cpu_ns);
    add_count(&mut merged.asked.threads, other.asked.threads);
    merged.asked.connections =
        merged.asked.connections.zip(other.asked.connections).map(|(one, other)| one.saturating_add(other));
    merged.asked.sessions = merged.asked.sessions.zip(other.asked.sessions).map(|(one, other)| one.saturating_add(other));
    merged.asked.rate = merged.asked.rate.zip(other.asked.rate).map(|(one, other)| one + other);
    for (stage, other) in merged.stages.iter_mut().zip(&other.stages) {
        stage.rate += other.rate;
        stage.seconds = stage.seconds.max(other.seconds);
        add_count(&mut stage.offered, other.offered);
        add_count(&mut stage.failed, other.failed);
        add_count(&mut stage.not_started, other.not_started);
        add_counts(&mut stage.completed, &other.completed);
        stage.resumed = stage.resumed_share();
        stage.server_cpu_ns = stage.server_cpu_ns.max(other.server_cpu_ns);
        // No histogram is kept of a stage, and quantiles do not add up.
        stage.latency_from_intended_ns = None;
    }
    for warning in &other.warnings {
        if !merged.warnings.contains(warning) {
            merged.warnings.push(warning.clone());
        }
    }
    merged.interrupted |= other.interrupted;
    add_count(&mut merged.generators, other.generators);
}

/// A file may claim any count: their sum has an end.
fn add_count(to: &mut u64, from: u64) {
    *to = to.saturating_add(from);
}

fn add_counts<K: Ord + Clone>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        add_count(to.entry(key.clone()).or_default(), *count);
    }
}

fn add_series(to: &mut Vec<u64>, from: &[u64]) {
    if to.len() < from.len() {
        to.resize(from.len(), 0);
    }
    to.iter_mut().zip(from).for_each(|(to, from)| add_count(to, *from));
}

/// One generator that was its own bottleneck spoils the sum; a server that one saw saturated was so for all.
fn bottleneck(documents: &[LoadDocument]) -> Bottleneck {
    let of =
        |verdict| documents.iter().map(|document| &document.bottleneck).find(|bottleneck| bottleneck.verdict == verdict);
    let order = [Verdict::Server, Verdict::Client, Verdict::Network, Verdict::Unknown, Verdict::None];
    let chosen = order.into_iter().find_map(of);
    let busiest = |share: fn(&Bottleneck) -> Option<f64>| {
        documents.iter().filter_map(|document| share(&document.bottleneck)).reduce(f64::max)
    };
    let limit = |limit: fn(&Bottleneck) -> &Option<LoadCpuLimit>| {
        let limits = documents.iter().filter_map(|document| limit(&document.bottleneck).as_ref());
        limits.max_by(|one, other| one.ran_out().total_cmp(&other.ran_out())).cloned()
    };
    let most =
        |time: fn(&Bottleneck) -> Option<u64>| documents.iter().filter_map(|document| time(&document.bottleneck)).max();
    Bottleneck {
        verdict: chosen.map_or(Verdict::Unknown, |bottleneck| bottleneck.verdict),
        reason: chosen.map(|bottleneck| bottleneck.reason.clone()).unwrap_or_default(),
        client_busy: busiest(|bottleneck| Some(bottleneck.client_busy)).unwrap_or_default(),
        client_waiting: busiest(|bottleneck| Some(bottleneck.client_waiting)).unwrap_or_default(),
        server_busy: busiest(|bottleneck| bottleneck.server_busy),
        server_waiting: busiest(|bottleneck| bottleneck.server_waiting),
        client_limit: limit(|bottleneck| &bottleneck.client_limit),
        server_limit: limit(|bottleneck| &bottleneck.server_limit),
        client_throttled_ns: most(|bottleneck| bottleneck.client_throttled_ns),
        server_throttled_ns: most(|bottleneck| bottleneck.server_throttled_ns),
    }
}

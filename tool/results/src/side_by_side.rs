//! Several results of one command, each figure in a row: nginx against HAProxy, before against after.

use std::collections::{BTreeMap, BTreeSet};

use reprise_model::document::{
    LoadDocument, MeasureDocument, Observed, Provenance, Run, SideBySideDifference, SideBySideDocument, SideBySideResult,
    SideBySideRow, SideBySideUnit, SideBySideValue, Statistic, Target,
};
use reprise_model::{Asked, Kind, Phase, Version};
use reprise_stats::histogram::{Histogram, decode, quantile_interval};
use reprise_stats::{Ratio, mean_interval, ratio, ratio_of_estimates};
use thiserror::Error;

use crate::estimates::of_statistics;

/// Why results cannot stand side by side.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SideBySideError {
    /// They have no figure in common.
    #[error("{one} has {of_one}, {other} has {of_other}: they have no version and kind of handshake in common")]
    NothingInCommon {
        /// The first result's file.
        one: String,
        /// What it has.
        of_one: String,
        /// The other's.
        other: String,
        /// What it has.
        of_other: String,
    },
    /// One is of an open loop and one of a closed one, or of a search.
    #[error("{one} is of {of_one}, {other} of {of_other}: their rates and latencies do not mean the same")]
    OtherLoop {
        /// The first result's file.
        one: String,
        /// How its connections were begun.
        of_one: &'static str,
        /// The other's.
        other: String,
        /// How its were.
        of_other: &'static str,
    },
}

/// The bootstrap's seed: the same results give the same intervals.
const SEED: u64 = 0;

/// So many digits of a commit are told.
const COMMIT: usize = 12;

/// Measurements side by side; `files` are their names.
///
/// # Errors
/// If one has no version and kind in common with the first.
pub fn measurements_side_by_side(
    files: &[String],
    results: &[MeasureDocument],
) -> Result<SideBySideDocument, SideBySideError> {
    let asked = |result: &MeasureDocument| result.runs.iter().map(|run| run.asked).collect::<BTreeSet<Asked>>();
    let common = in_common(files, &results.iter().map(asked).collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    for asked in common {
        let runs: Vec<Option<&Run>> = results.iter().map(|result| result.run(asked.tls, asked.kind)).collect();
        rows.extend(rows_of_runs(results, asked, &runs));
    }
    let cpu = |result: &MeasureDocument| Some(exact(result.server_cpu?.per_connection_ns as f64));
    let first_version = rows.first().map_or(Version::Tls13, |row| row.tls);
    let of_all = (first_version, None, None);
    rows.extend(row(of_all, "server_cpu", SideBySideUnit::Ns, &results.iter().map(cpu).collect::<Vec<_>>()));

    let mut differences = Differences::new(results.iter().map(|it| (&it.target, &it.provenance)));
    let text = |of: &dyn Fn(&MeasureDocument) -> Option<String>| results.iter().map(of).collect::<Vec<_>>();
    let each = |result: &MeasureDocument| result.runs.iter().map(Run::made).max().map(|it| it.to_string());
    differences.note("connections for each row", text(&each));
    for tls in [Version::Tls12, Version::Tls13] {
        for (what, of) in NEGOTIATED {
            let seen = |result: &MeasureDocument| {
                result.runs.iter().filter(|run| run.asked.tls == tls).find_map(|run| of(&run.observed).map(str::to_owned))
            };
            if results.iter().all(|result| result.runs.iter().any(|run| run.asked.tls == tls)) {
                differences.note(&format!("{tls} {what}"), text(&seen));
            }
        }
        let certificates = |result: &MeasureDocument| {
            let mut full = result.runs.iter().filter(|run| run.asked.tls == tls);
            full.find_map(|run| Some(format!("{} B", run.observed.certificate_bytes?)))
        };
        differences.note_if_all_say(&format!("{tls} certificates"), text(&certificates));
        for kind in Kind::ALL {
            let round_trips = |result: &MeasureDocument| Some(result.run(tls, kind)?.round_trips?.to_string());
            differences.note_if_all_say(&format!("{tls} {kind} round trips"), text(&round_trips));
        }
    }
    differences.note("interrupted", text(&|it: &MeasureDocument| Some(it.interrupted.to_string())));
    let warnings = results.iter().zip(files).filter(|(result, _)| result.order_suspect);
    let warnings = warnings.map(|(_, file)| format!("{file}: the order of its connections shows in its figures")).collect();
    let heads = results.iter().map(|it| (&it.target, &it.provenance));
    Ok(document(MeasureDocument::SCHEMA, files, heads, differences.found, rows, warnings))
}

/// What is negotiated, by name.
type OfObserved = fn(&Observed) -> Option<&str>;
const NEGOTIATED: [(&str, OfObserved); 5] = [
    ("cipher suite", |it| it.cipher.as_deref()),
    ("group", |it| it.group.as_deref()),
    ("key", |it| it.peer_key.as_deref()),
    ("signature", |it| it.signature.as_deref()),
    ("ALPN", |it| it.alpn.as_deref()),
];

fn rows_of_runs(results: &[MeasureDocument], asked: Asked, runs: &[Option<&Run>]) -> Vec<SideBySideRow> {
    let (of, kind) = (asked.tls, Some(asked.kind));
    let count = |of: &dyn Fn(&Run) -> Option<u64>| {
        runs.iter().map(|run| run.and_then(of).map(|it| exact(it as f64))).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    rows.extend(row((of, kind, None), "n", SideBySideUnit::Count, &count(&|run| Some(run.n))));
    if runs.iter().flatten().any(|run| run.failed > 0) {
        rows.extend(row((of, kind, None), "failed", SideBySideUnit::Count, &count(&|run| Some(run.failed))));
    }
    for phase in Phase::ALL {
        let medians: Vec<Option<Ratio>> =
            runs.iter().map(|run| run.as_ref()?.phases.get(&phase).map(of_statistics)).collect();
        let mut of_medians = row((of, kind, Some(phase)), "median", SideBySideUnit::Ns, &medians);
        // Where the samples are at hand, they say more than the intervals.
        let samples: Vec<Vec<u64>> = results.iter().map(|result| crate::baseline::samples(result, asked, phase)).collect();
        let is_whole = |place: usize| {
            runs.get(place).copied().flatten().is_some_and(|run| samples.get(place).map(Vec::len) == Some(run.n as usize))
        };
        if let Some((row, first)) = of_medians.as_mut().zip(samples.first()) {
            for (place, value) in row.values.iter_mut().enumerate().skip(1) {
                let Some((value, samples)) = value.as_mut().zip(samples.get(place)) else { continue };
                if is_whole(0) && is_whole(place) {
                    let found = ratio(samples, first, SEED);
                    value.ratio = found.map(|it| it.median);
                    value.ratio_ci95 = found.and_then(|it| it.ci95);
                }
            }
        }
        rows.extend(of_medians);
        if matches!(phase, Phase::Tls | Phase::Total) {
            for statistic in TAILS {
                let Some(quantile) = statistic.quantile() else { continue };
                let tail =
                    |run: &Run| has_samples_beyond(run.n, quantile).then(|| statistic.of(run.phases.get(&phase)?)).flatten();
                rows.extend(row((of, kind, Some(phase)), statistic.name(), SideBySideUnit::Ns, &count(&tail)));
            }
        }
    }
    for (name, of_run) in BYTES {
        rows.extend(row((of, kind, None), name, SideBySideUnit::Bytes, &count(&of_run)));
    }
    rows.extend(row((of, kind, None), "round_trips", SideBySideUnit::Count, &count(&|run| run.round_trips)));
    rows
}

/// Bytes of a connection, by name.
type OfRun = fn(&Run) -> Option<u64>;
const BYTES: [(&str, OfRun); 2] = [("sent", |run| Some(run.bytes?.sent.0)), ("received", |run| Some(run.bytes?.received.0))];

/// The tails, without intervals: the few samples beyond them tell next to nothing of how they differ.
const TAILS: [Statistic; 2] = [Statistic::P95, Statistic::P99];

/// Loads side by side; `files` are their names.
///
/// # Errors
/// If one has no version and kind in common with the first, or began its connections otherwise.
pub fn loads_side_by_side(files: &[String], results: &[LoadDocument]) -> Result<SideBySideDocument, SideBySideError> {
    for (result, file) in results.iter().zip(files) {
        let (Some(first), Some(name)) = (results.first(), files.first()) else { break };
        let (of_one, of_other) = (loop_of(first), loop_of(result));
        if of_one != of_other {
            return Err(SideBySideError::OtherLoop { one: name.clone(), of_one, other: file.clone(), of_other });
        }
    }
    let asked = |result: &LoadDocument| {
        let kinds = result.completed.iter().filter(|(_, count)| **count > 0);
        kinds.map(|(kind, _)| Asked { tls: result.asked.tls, kind: *kind }).collect::<BTreeSet<Asked>>()
    };
    let common = in_common(files, &results.iter().map(asked).collect::<Vec<_>>())?;
    let tls = results.first().map_or(Version::Tls13, |it| it.asked.tls);
    let mut rows = Vec::new();
    let all = |of: &dyn Fn(&LoadDocument) -> Option<Ratio>| results.iter().map(of).collect::<Vec<_>>();
    let of_all = (tls, None, None);
    rows.extend(row(of_all, "rate", SideBySideUnit::EachSecond, &all(&|it| Some(rate(it, None)))));
    let each = |used: u64, it: &LoadDocument| {
        let all = it.completed_at_any_time();
        (all > 0).then(|| exact(used as f64 / all as f64))
    };
    rows.extend(row(of_all, "server_cpu", SideBySideUnit::Ns, &all(&|it| each(it.server_cpu_ns?, it))));
    let client = |it: &LoadDocument| each(it.client_cpu_ns.user.saturating_add(it.client_cpu_ns.system), it);
    rows.extend(row(of_all, "client_cpu", SideBySideUnit::Ns, &all(&client)));
    rows.extend(row(of_all, "failed", SideBySideUnit::Count, &all(&|it| Some(exact(it.total_errors() as f64)))));
    if results.iter().any(|it| it.not_started > 0) {
        rows.extend(row(of_all, "not_started", SideBySideUnit::Count, &all(&|it| Some(exact(it.not_started as f64)))));
    }
    let histograms: Vec<_> = results.iter().map(histograms).collect();
    for Asked { kind, .. } in common {
        let of_kind = (tls, Some(kind), None);
        let completed = |it: &LoadDocument| it.completed.get(&kind).map(|count| exact(*count as f64));
        rows.extend(row(of_kind, "n", SideBySideUnit::Count, &all(&completed)));
        rows.extend(row(of_kind, "rate", SideBySideUnit::EachSecond, &all(&|it| Some(rate(it, Some(kind))))));
        for phase in Phase::ALL.into_iter().map(Some).chain([None]) {
            let quantiles: &[(f64, &str)] = match phase {
                Some(Phase::Tls | Phase::Total) | None => &[(0.5, "p50"), (0.95, "p95"), (0.99, "p99"), (0.999, "p999")],
                Some(_) => &[(0.5, "p50")],
            };
            for (quantile, name) in quantiles {
                let value = |of: &BTreeMap<(Kind, Option<Phase>), Histogram<u64>>| {
                    let histogram = of.get(&(kind, phase)).filter(|it| has_samples_beyond(it.len(), *quantile))?;
                    quantile_interval(histogram, *quantile)
                };
                let values: Vec<Option<Ratio>> = histograms.iter().map(value).collect();
                let name = if phase.is_none() { format!("latency {name}") } else { (*name).to_owned() };
                rows.extend(row((tls, Some(kind), phase), &name, SideBySideUnit::Ns, &values));
            }
        }
    }
    let heads = || results.iter().map(|it| (&it.target, &it.provenance));
    let differences = differences_of_loads(results, Differences::new(heads()));
    let mut warnings = Vec::new();
    for (result, file) in results.iter().zip(files) {
        warnings.extend(result.warnings.iter().map(|warning| format!("{file}: {warning}")));
    }
    Ok(document(LoadDocument::SCHEMA, files, heads(), differences, rows, warnings))
}

/// Whether at least one sample lies beyond the quantile: of fewer, p999 would be the maximum under another name.
fn has_samples_beyond(samples: u64, quantile: f64) -> bool {
    samples as f64 * (1.0 - quantile) + 1e-9 >= 1.0
}

fn loop_of(document: &LoadDocument) -> &'static str {
    match (document.asked.rate, document.asked.step) {
        (_, Some(_)) => "a search (--step)",
        (Some(_), _) => "an open loop (--rate)",
        (None, _) => "a closed loop",
    }
}

/// The mean, with the interval that whole seconds give it: the last may be a part of one.
fn rate(document: &LoadDocument, kind: Option<Kind>) -> Ratio {
    let rate = &document.rate;
    let mean = match kind {
        None => rate.mean,
        Some(kind) => rate.mean_by_kind.get(&kind).copied().unwrap_or_default(),
    };
    let series = match kind {
        None => Some(&rate.per_second),
        Some(kind) => rate.per_second_by_kind.get(&kind),
    };
    let whole = document.seconds as usize;
    let seconds = series.and_then(|series| series.get(..whole.min(series.len()))).unwrap_or_default();
    let half = mean_interval(seconds).and_then(|it| it.ci95).map(|[low, high]| (high - low) / 2.0);
    Ratio { median: mean, ci95: half.map(|half| [(mean - half).max(0.0), mean + half]) }
}

fn histograms(document: &LoadDocument) -> BTreeMap<(Kind, Option<Phase>), Histogram<u64>> {
    let decoded = |it: &reprise_model::document::LoadHistogram| Some(((it.kind, it.phase), decode(&it.hdr_v2)?));
    document.histograms.iter().filter_map(decoded).collect()
}

fn differences_of_loads(results: &[LoadDocument], mut differences: Differences) -> Vec<SideBySideDifference> {
    let mut note = |what: &str, of: &dyn Fn(&LoadDocument) -> Option<String>| {
        differences.note(what, results.iter().map(of).collect());
    };
    let number = |it: Option<u64>| it.map(|it| it.to_string());
    let seconds = |it: Option<u64>| it.map(|ns| format!("{} s", ns as f64 / 1e9));
    note("connections at once", &|it| number(it.asked.connections.or(it.asked.most_connections)));
    note("rate that was asked for", &|it| it.asked.rate.map(|rate| format!("{rate}/s")));
    note("spread", &|it| it.asked.spread.clone());
    note("duration", &|it| Some(format!("{:.1} s", it.seconds)));
    note("warm-up", &|it| seconds(it.asked.warmup_ns));
    note("ramp", &|it| seconds(it.asked.ramp_ns));
    let mix = |it: &LoadDocument| it.asked.mix.iter().map(|(kind, weight)| format!("{kind}={weight}")).collect::<Vec<_>>();
    note("mix", &|it| Some(mix(it).join(",")));
    note("requests", &|it| Some(it.asked.requests.to_string()));
    note("method", &|it| it.asked.method.clone());
    note("groups", &|it| Some(it.asked.groups.join(", ")));
    note("cipher suites", &|it| Some(it.asked.cipher_suites.join(", ")));
    note("ALPN offered", &|it| Some(it.asked.alpn.join(", ")));
    note("key shares", &|it| Some(it.asked.key_shares.clone()));
    note("close", &|it| Some(it.asked.close.clone()));
    note("certificates verified", &|it| Some(it.asked.verify.to_string()));
    note("sessions held", &|it| number(it.asked.sessions));
    note("tickets used again", &|it| it.asked.reuse_tickets.map(|it| it.to_string()));
    note("threads", &|it| Some(it.asked.threads.to_string()));
    note("generators", &|it| Some(it.generators.to_string()));
    note("bottleneck", &|it| Some(format!("{:?}", it.bottleneck.verdict).to_lowercase()));
    note("interrupted", &|it| Some(it.interrupted.to_string()));
    differences.found
}

/// What is not the same in all results.
struct Differences {
    found: Vec<SideBySideDifference>,
}

impl Differences {
    fn new<'a>(heads: impl Iterator<Item = (&'a Target, &'a Provenance)>) -> Self {
        let (targets, sources): (Vec<_>, Vec<_>) = heads.unzip();
        let mut differences = Self { found: Vec::new() };
        let of_target = |of: &dyn Fn(&Target) -> Option<String>| targets.iter().map(|it| of(it)).collect::<Vec<_>>();
        differences.note("host", of_target(&|it| Some(it.host.clone())));
        differences.note("port", of_target(&|it| Some(it.port.to_string())));
        differences.note("address", of_target(&|it| it.address.clone()));
        differences.note("path", of_target(&|it| it.path.clone()));
        differences.note("proxy", of_target(&|it| it.proxy.clone()));
        differences.note("PROXY header", of_target(&|it| it.proxy_protocol.clone()));
        differences.note("STARTTLS", of_target(&|it| it.starttls.clone()));
        differences.note("offers as", of_target(&|it| it.like.as_ref().map(|like| like.client.clone())));
        differences.note("ECH GREASE", of_target(&|it| it.ech_grease.then(|| "sent".to_owned())));
        let of_source = |of: &dyn Fn(&Provenance) -> Option<String>| sources.iter().map(|it| of(it)).collect::<Vec<_>>();
        let commit = |it: &Provenance| it.commit.as_ref().map(|it| it.get(..COMMIT).unwrap_or(it).to_owned());
        differences.note("machine", of_source(&|it| it.machine.clone()));
        differences.note("processor", of_source(&|it| it.cpu.clone()));
        differences.note("kernel", of_source(&|it| it.kernel.clone()));
        differences.note("version of reprise", of_source(&|it| Some(it.version.clone())));
        differences.note("commit", of_source(&commit));
        differences
    }

    /// What results of earlier versions do not say, and what one of them did not measure, is no difference.
    fn note_if_all_say(&mut self, what: &str, values: Vec<Option<String>>) {
        if values.iter().all(Option::is_some) {
            self.note(what, values);
        }
    }

    fn note(&mut self, what: &str, values: Vec<Option<String>>) {
        if values.iter().any(|value| Some(value) != values.first()) {
            self.found.push(SideBySideDifference { what: what.to_owned(), values });
        }
    }
}

/// What the first has in common with each of the others, or why there is nothing.
fn in_common(files: &[String], all: &[BTreeSet<Asked>]) -> Result<Vec<Asked>, SideBySideError> {
    let (Some(first), Some(one)) = (all.first(), files.first()) else { return Ok(Vec::new()) };
    for (asked, other) in all.iter().zip(files).skip(1) {
        if first.is_disjoint(asked) {
            let (of_one, of_other) = (named(first), named(asked));
            return Err(SideBySideError::NothingInCommon { one: one.clone(), of_one, other: other.clone(), of_other });
        }
    }
    let union: BTreeSet<Asked> = all.iter().flatten().copied().collect();
    Ok(union.into_iter().collect())
}

fn named(asked: &BTreeSet<Asked>) -> String {
    let names: Vec<String> = asked.iter().map(|it| format!("{} {}", it.tls.number(), it.kind)).collect();
    if names.is_empty() { "no completed connection".to_owned() } else { names.join(", ") }
}

/// A row with the ratios to the first; `None` where no result has the figure.
fn row(
    (tls, kind, phase): (Version, Option<Kind>, Option<Phase>),
    figure: &str,
    unit: SideBySideUnit,
    values: &[Option<Ratio>],
) -> Option<SideBySideRow> {
    let first = values.first().copied().flatten();
    let value = |(place, value): (usize, &Option<Ratio>)| {
        let value = (*value)?;
        let ratio =
            first.filter(|_| place > 0 && unit != SideBySideUnit::Count).and_then(|first| ratio_of_estimates(value, first));
        Some(SideBySideValue {
            value: value.median,
            ci95: value.ci95,
            ratio: ratio.map(|it| it.median),
            ratio_ci95: ratio.and_then(|it| it.ci95),
        })
    };
    let values: Vec<Option<SideBySideValue>> = values.iter().enumerate().map(value).collect();
    values.iter().any(Option::is_some).then(|| SideBySideRow { tls, kind, phase, figure: figure.to_owned(), unit, values })
}

/// A figure that is given without an interval.
fn exact(value: f64) -> Ratio {
    Ratio { median: value, ci95: None }
}

fn document<'a>(
    of: &str,
    files: &[String],
    heads: impl Iterator<Item = (&'a Target, &'a Provenance)>,
    differences: Vec<SideBySideDifference>,
    rows: Vec<SideBySideRow>,
    warnings: Vec<String>,
) -> SideBySideDocument {
    let result = |(((target, provenance), file), label): (((&Target, &Provenance), &String), String)| SideBySideResult {
        label,
        file: file.clone(),
        target: target.clone(),
        provenance: provenance.clone(),
    };
    SideBySideDocument {
        schema: SideBySideDocument::SCHEMA.to_owned(),
        of: of.to_owned(),
        results: heads.zip(files).zip(labels(files)).map(result).collect(),
        differences,
        rows,
        warnings,
    }
}

/// The names of files without their folders and endings, as far as these tell them apart.
fn labels(files: &[String]) -> Vec<String> {
    let short = |file: &String| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.strip_suffix(".json").unwrap_or(name).to_owned()
    };
    let shortened: Vec<String> = files.iter().map(short).collect();
    let distinct: BTreeSet<&String> = shortened.iter().collect();
    if distinct.len() == files.len() { shortened } else { files.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_diagnosis::example::Example;

    fn files(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn measured(full_us: u64) -> MeasureDocument {
        Example::new().run("1.3", Kind::Full, full_us).run("1.3", Kind::Ticket, 300).document()
    }

    #[test]
    fn each_figure_stands_beside_the_first_with_its_ratio() {
        let names = files(&["a/nginx.json", "b/haproxy.json"]);
        let document = measurements_side_by_side(&names, &[measured(1000), measured(2000)]).unwrap();
        let labels: Vec<&str> = document.results.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["nginx", "haproxy"]);
        let is = |it: &&SideBySideRow| (it.kind, it.phase, &*it.figure) == (Some(Kind::Full), Some(Phase::Tls), "median");
        let row = document.rows.iter().find(is).unwrap();
        let [first, second] = [row.values[0].unwrap(), row.values[1].unwrap()];
        assert_eq!((first.ratio, first.value, second.ratio), (None, 1_000_000.0, Some(2.0)));
        let [low, high] = second.ratio_ci95.unwrap();
        assert!(low < 2.0 && high > 2.0 && high < 2.1, "{low}..{high}");
        assert_eq!(document.differences, []);
    }

    #[test]
    fn what_else_differs_is_named() {
        let mut other = measured(1000);
        other.provenance.machine = Some("elsewhere".to_owned());
        other.target.path = Some("/other".to_owned());
        other.runs[0].observed.group = Some("P-521".to_owned());
        let mut first = measured(1000);
        (first.runs[0].round_trips, other.runs[0].round_trips) = (Some(1), Some(2));
        (first.runs[0].observed.certificate_bytes, other.runs[0].observed.certificate_bytes) = (Some(500), Some(2500));
        let document = measurements_side_by_side(&files(&["x.json", "y/x.json"]), &[first, other]).unwrap();
        let named: Vec<&str> = document.differences.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(named, ["path", "machine", "TLS 1.3 group", "TLS 1.3 certificates", "TLS 1.3 full round trips"]);
        assert_eq!(document.differences[3].values, ["500 B", "2500 B"].map(|it| Some(it.to_owned())));
        assert_eq!(document.results[1].label, "y/x.json", "a short name that two have tells nothing apart");
    }

    #[test]
    fn a_tail_needs_a_sample_beyond_it() {
        assert!(has_samples_beyond(1000, 0.999) && !has_samples_beyond(999, 0.999));
        assert!(has_samples_beyond(20, 0.95) && !has_samples_beyond(19, 0.95));
    }

    #[test]
    fn results_without_a_kind_in_common_are_refused_by_name() {
        let other = Example::new().run("1.2", Kind::Id, 400).document();
        let error = measurements_side_by_side(&files(&["a.json", "b.json"]), &[measured(1), other]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.json has 1.3 full, 1.3 ticket, b.json has 1.2 id: they have no version and kind of handshake in common"
        );
    }
}

//! A watch as OpenMetrics text (<https://prometheus.io/docs/specs/om/open_metrics_spec/>): gauges of the latest round, counters
//! over all. Base units, as that specification asks: seconds, bytes, ratios.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use reprise_model::document::{MeasureDocument, Ratio, Run, Statistic};
use reprise_model::{Asked, Kind, Version};

/// What such a text is served as.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is known of a watch: a few figures for each target, however many rounds there were.
#[derive(Clone, Debug, Default)]
pub struct WatchMetrics {
    targets: BTreeMap<String, Watched>,
    conditions: BTreeMap<String, u64>,
    version: String,
}

/// One target.
#[derive(Clone, Debug, Default)]
struct Watched {
    up: bool,
    at_seconds: f64,
    rounds: u64,
    rounds_down: u64,
    connections: BTreeMap<(Version, Kind, Kind), u64>,
    failed: u64,
    runs: Vec<Run>,
    ratios: Vec<Ratio>,
}

impl WatchMetrics {
    /// Of no round yet. `version` is the program's.
    pub fn new(version: &str) -> Self {
        Self { version: version.to_owned(), ..Self::default() }
    }

    /// Adds a round that ended at this time, in seconds since 1970. A target is up if any of its connections completed.
    pub fn observe(&mut self, results: &[MeasureDocument], at_seconds: f64) {
        for result in results {
            let target = self.targets.entry(result.label.clone()).or_default();
            target.up = result.runs.iter().any(|run| run.observed.kinds.total() > 0);
            target.at_seconds = at_seconds;
            target.rounds += 1;
            target.rounds_down += u64::from(!target.up);
            target.failed += result.all_connections.failed;
            for run in &result.runs {
                let Asked { tls, kind } = run.asked;
                for (observed, count) in &run.observed.kinds.0 {
                    *target.connections.entry((tls, kind, *observed)).or_default() += count;
                }
            }
            target.runs.clone_from(&result.runs);
            target.ratios.clone_from(&result.ratios);
        }
    }

    /// Adds a round in which this condition was met, or could not be told.
    pub fn observe_condition(&mut self, condition: &str) {
        *self.conditions.entry(condition.to_owned()).or_default() += 1;
    }

    /// The text, to its `# EOF`.
    pub fn to_text(&self) -> String {
        let mut registry = Registry::with_prefix("reprise");
        let build = Info::new(vec![("version", self.version.clone())]);
        registry.register("build", "The program that measures", build);
        self.register_rounds(&mut registry);
        self.register_figures(&mut registry);
        let mut out = String::new();
        match text::encode(&mut out, &registry) {
            Ok(()) => out,
            // Writing to a String cannot fail.
            Err(fmt::Error) => "# EOF\n".to_owned(),
        }
    }

    fn register_rounds(&self, registry: &mut Registry) {
        let (up, at) = (Family::<Labels, Gauge>::default(), Family::<Labels, SecondsGauge>::default());
        let (rounds, down) = (Family::<Labels, Counter>::default(), Family::<Labels, Counter>::default());
        let (connections, failed) = (Family::<Labels, Counter>::default(), Family::<Labels, Counter>::default());
        let conditions = Family::<Labels, Counter>::default();
        for (name, target) in &self.targets {
            let of_target = labels([("target", name)]);
            up.get_or_create(&of_target).set(i64::from(target.up));
            at.get_or_create(&of_target).set(target.at_seconds);
            rounds.get_or_create(&of_target).inc_by(target.rounds);
            down.get_or_create(&of_target).inc_by(target.rounds_down);
            failed.get_or_create(&of_target).inc_by(target.failed);
            for ((tls, asked, kind), count) in &target.connections {
                let (tls, asked, kind) = (("tls", tls.number()), ("asked", asked.name()), ("kind", kind.name()));
                connections.get_or_create(&labels([("target", name), tls, asked, kind])).inc_by(*count);
            }
        }
        for (condition, count) in &self.conditions {
            conditions.get_or_create(&labels([("condition", condition)])).inc_by(*count);
        }
        registry.register("up", "Whether a connection completed in the latest round", up);
        let help = "When the latest round ended, since 1970";
        registry.register_with_unit("last_round_timestamp", help, Unit::Seconds, at);
        registry.register("rounds", "Rounds", rounds);
        registry.register("rounds_down", "Rounds in which no connection completed", down);
        registry.register("connections", "Counted connections by kind asked for and kind observed", connections);
        registry.register("connections_failed", "Connections that did not complete", failed);
        registry.register("conditions_met", "Rounds in which a --fail-if was met or could not be evaluated", conditions);
    }

    fn register_figures(&self, registry: &mut Registry) {
        let phases = Family::<Labels, SecondsGauge>::default();
        let samples = Family::<Labels, Gauge>::default();
        let ratios = Family::<Labels, SecondsGauge>::default();
        let trips = Family::<Labels, Gauge>::default();
        let traffic = Family::<Labels, Gauge>::default();
        for (name, target) in &self.targets {
            for run in &target.runs {
                let (target, tls, kind) =
                    (("target", name.as_str()), ("tls", run.asked.tls.number()), ("kind", run.asked.kind.name()));
                let of_run = labels([target, tls, kind]);
                samples.get_or_create(&of_run).set(gauged(run.n));
                if let Some(count) = run.round_trips {
                    trips.get_or_create(&of_run).set(gauged(count));
                }
                for (direction, bytes) in run.bytes.iter().flat_map(|it| [("sent", it.sent), ("received", it.received)]) {
                    traffic.get_or_create(&labels([target, tls, kind, ("direction", direction)])).set(gauged(bytes.0));
                }
                for (phase, statistics) in &run.phases {
                    let quantiles = QUANTILES.iter().filter_map(|it| Some((it.quantile()?.to_string(), it.of(statistics)?)));
                    for (quantile, ns) in quantiles {
                        let of_phase = labels([target, tls, kind, ("phase", phase.name()), ("quantile", &quantile)]);
                        phases.get_or_create(&of_phase).set(ns as f64 / 1e9);
                    }
                }
            }
            for it in &target.ratios {
                let (tls, kind, phase) = (("tls", it.tls.number()), ("kind", it.to.name()), ("phase", it.phase.name()));
                ratios.get_or_create(&labels([("target", name), tls, kind, phase])).set(it.median);
            }
        }
        registry.register_with_unit("phase", "What a phase took in the latest round", Unit::Seconds, phases);
        registry.register("samples", "Connections of the kind that was asked for in the latest round", samples);
        let help = "Median of a phase, full handshake divided by resumed";
        registry.register_with_unit("resumption", help, Unit::Other("ratio".to_owned()), ratios);
        registry.register("round_trips", "Round trips until application data could be sent, median", trips);
        registry.register_with_unit("traffic", "Bytes of a connection, median", Unit::Bytes, traffic);
    }
}

/// The quantiles that are exported.
const QUANTILES: [Statistic; 5] = [Statistic::Min, Statistic::Median, Statistic::P90, Statistic::P99, Statistic::Max];

fn gauged(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

type SecondsGauge = Gauge<f64, std::sync::atomic::AtomicU64>;

/// Names and values, in the order in which they are written.
type Labels = Vec<(&'static str, String)>;

fn labels<const COUNT: usize>(labels: [(&'static str, &str); COUNT]) -> Labels {
    labels.map(|(name, value)| (name, value.to_owned())).to_vec()
}

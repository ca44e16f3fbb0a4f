//! From what was seen to the document.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use reprise_engine::{CertificatePolicy, outcome_of};
use reprise_model::document::{
    AnswerDifference, LoadAsked, LoadDocument, LoadHandshake, LoadHistogram, LoadLatency, LoadRate, LoadStage, LoadWindow,
    Provenance, Target,
};
use reprise_model::{
    AnsweredConnection, ClientAuthentication, ClientCpu, Facts, Kind, Phase, Protocol, answers_that_differ,
};
use reprise_stats::histogram::{Histogram, Spread, encode, spread};

use crate::load::LoadOutcome;
use crate::options::{Arrival, ArrivalSpread, Close, KeyShareMode, LoadEnd, LoadOptions, Stage};
use crate::stage_summaries::StageSummary;

/// So many answers are compared, of all threads together.
const COMPARED: usize = 4096;

impl LoadOutcome {
    /// The document of this load, without words: [`LoadOutcome::reason`] and [`LoadOutcome::notices`] are what is to be worded.
    pub fn document(
        &self,
        options: &LoadOptions,
        target: Target,
        interrupted: bool,
        provenance: Provenance,
    ) -> LoadDocument {
        let (planned, loaded) = (self.planned(options), self.loaded(options));
        let per_second_by_kind = Kind::ALL.into_iter().enumerate().filter(|(_, kind)| self.completed(*kind) > 0);
        let a_second = |count: u64| count as f64 / loaded.as_secs_f64().max(1e-9);
        let completed_kinds = Kind::ALL.into_iter().filter(|kind| self.completed(*kind) > 0);
        let mean_by_kind = completed_kinds.map(|kind| (kind, a_second(self.completed(kind))));
        // Seconds in which nothing completed any more are seconds all the same.
        let seconds = self.summary.per_second.len().max(planned.as_secs_f64().ceil() as usize);
        let counts = |second: usize| self.summary.per_second.get(second).copied().unwrap_or_default();
        let series = |place: usize| (0..seconds).map(move |second| counts(second).get(place).copied().unwrap_or_default());
        let mut document = LoadDocument {
            schema: LoadDocument::SCHEMA.to_owned(),
            target,
            asked: asked(options),
            seconds: loaded.as_secs_f64(),
            window: Some(self.window(options)),
            completed: Kind::ALL
                .into_iter()
                .map(|kind| (kind, self.completed(kind)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            late: self.summary.late,
            not_started: self.summary.not_started,
            errors: self.errors(),
            error_reasons: self.summary.reasons.iter().map(|(name, reason)| (name.to_string(), reason.clone())).collect(),
            warmup_completed: self.summary.warmup,
            warmup_errors: self.summary.warmup_faults.by_name(),
            warmup_not_started: self.summary.warmup_not_started,
            primed: self.summary.primed,
            refused: self.summary.refused,
            failed_offers: self.summary.failed_offers,
            wanted_group: self
                .summary
                .wanted_groups
                .values()
                .next()
                .or(self.summary.retried_for.as_ref())
                .map(ToString::to_string),
            wanted_groups: self.wanted_groups(options),
            hello_retries: self.summary.retried,
            http_status: self.summary.status.iter().copied().collect(),
            answers_differ: self.answers_that_differ(),
            alpn: self.protocols(),
            rate: LoadRate {
                mean: a_second(self.summary.completed()),
                mean_by_kind: mean_by_kind.collect(),
                per_second: (0..seconds).map(|second| counts(second).iter().sum()).collect(),
                per_second_by_kind: per_second_by_kind.map(|(place, kind)| (kind, series(place).collect())).collect(),
                latency_per_second: self.latency_per_second(seconds),
            },
            client_cpu_ns: ClientCpu { user: nanos(self.used.client.user), system: nanos(self.used.client.system) },
            server_cpu_ns: self.used.server.as_ref().map(|cpu| nanos(cpu.total())),
            latency_ns: BTreeMap::new(),
            latency_from_intended_ns: BTreeMap::new(),
            histograms: Vec::new(),
            bottleneck: self.bottleneck(options),
            handshakes: self.summary.kinds.iter().filter_map(|kind| kind.first.as_ref().map(handshake)).collect(),
            warnings: Vec::new(),
            steps: Vec::new(),
            stages: self.stages(options),
            sweep: None,
            plan: None,
            conditions: Vec::new(),
            interrupted,
            generators: 1,
            provenance,
        };
        for (kind, phase, histogram) in self.histograms() {
            document.set_latency(kind, phase, latency(spread(histogram)));
            document.histograms.extend(encode(histogram).map(|hdr_v2| LoadHistogram { kind, phase, hdr_v2 }));
        }
        document
    }

    /// From the end of the warm-up to the end of the time that counts.
    fn window(&self, options: &LoadOptions) -> LoadWindow {
        let unix_ns = |time: SystemTime| nanos(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        let from_unix_ns = unix_ns(self.began).saturating_add(nanos(options.warmup));
        LoadWindow { from_unix_ns, to_unix_ns: from_unix_ns.saturating_add(nanos(self.planned(options))) }
    }

    fn wanted_groups(&self, options: &LoadOptions) -> BTreeMap<String, String> {
        let names = &options.tls.server_names;
        let name_at = |place: usize| names.get(place).and_then(|name| name.name.clone()).unwrap_or_default();
        self.summary.wanted_groups.iter().map(|(place, group)| (name_at(*place), group.to_string())).collect()
    }

    fn latency_per_second(&self, seconds: usize) -> BTreeMap<Kind, Vec<Option<LoadLatency>>> {
        let series = |kind: Kind| {
            let spreads = self.summary.of(kind)?.seconds.spreads(seconds);
            let series: Vec<_> = spreads.into_iter().map(|it| it.map(latency)).collect();
            series.iter().any(Option::is_some).then_some((kind, series))
        };
        Kind::ALL.into_iter().filter_map(series).collect()
    }

    /// As the first connections of each thread show.
    fn answers_that_differ(&self) -> Vec<AnswerDifference> {
        let mut answered = self.summary.answered.clone();
        answered.sort_by_key(|(begun, _)| *begun);
        answered.truncate(COMPARED);
        let answered: Vec<AnsweredConnection> = answered.into_iter().map(|(_, answered)| answered).collect();
        answers_that_differ(&answered)
    }

    /// What came of each stage; one that had not begun when the load was cut short has no seconds.
    fn stages(&self, options: &LoadOptions) -> Vec<LoadStage> {
        let unseen = StageSummary::default();
        let mut from = Duration::ZERO;
        let stage = |(place, stage): (usize, &Stage)| {
            let seen = self.summary.stages.iter().nth(place).unwrap_or(&unseen);
            let counts = Kind::ALL.into_iter().zip(seen.completed);
            let completed = counts.clone().filter(|(_, count)| *count > 0).collect();
            let seconds = self.elapsed.saturating_sub(from).min(stage.duration).as_secs_f64();
            from = from.saturating_add(stage.duration);
            let mut stage = LoadStage {
                rate: stage.rate,
                duration_ns: nanos(stage.duration),
                seconds,
                offered: counts.map(|(_, count)| count).sum::<u64>() + seen.failed + seen.not_started,
                completed,
                failed: seen.failed,
                not_started: seen.not_started,
                resumed: None,
                latency_from_intended_ns: seen.latencies.as_deref().map(|it| latency(spread(it))),
                server_cpu_ns: self.stage_cpu.get(place).map(|used| used.0),
            };
            stage.resumed = stage.resumed_share();
            stage
        };
        options.stages.iter().enumerate().map(stage).collect()
    }

    fn protocols(&self) -> BTreeMap<String, u64> {
        let name = |protocol: Option<Protocol>| protocol.map_or_else(|| "none".to_owned(), |it| it.to_string());
        self.summary.protocols.iter().map(|(protocol, count)| (name(*protocol), *count)).collect()
    }

    /// Every histogram that holds something.
    pub(crate) fn histograms(&self) -> Vec<(Kind, Option<Phase>, &Histogram<u64>)> {
        let mut all = Vec::new();
        for kind in Kind::ALL {
            let Some(histograms) = self.summary.of(kind).and_then(|summary| summary.histograms()) else { continue };
            for (phase, histogram) in Phase::ALL.into_iter().zip(&histograms.phases) {
                all.push((kind, Some(phase), histogram));
            }
            all.push((kind, None, &histograms.from_intended));
        }
        all.retain(|(_, _, histogram)| !histogram.is_empty());
        all
    }
}

fn asked(options: &LoadOptions) -> LoadAsked {
    let (connections, rate, open) = match options.arrival {
        Arrival::Closed { connections } => (Some(connections as u64), None, None),
        Arrival::Open { rate, spread, most } => (None, Some(rate), Some((spread, most as u64))),
    };
    let (duration, count) = match options.end {
        LoadEnd::After(duration) => (Some(nanos(duration)), None),
        LoadEnd::Count(count) => (None, Some(count)),
    };
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    LoadAsked {
        tls: options.tls.version,
        groups: match options.tls.like {
            Some(row) => row.groups().iter().map(ToString::to_string).collect(),
            None => options.tls.groups.iter().map(ToString::to_string).collect(),
        },
        cipher_suites: match options.tls.like {
            Some(row) => row.hello.cipher_suites.clone(),
            None => options.tls.cipher_suites.iter().map(ToString::to_string).collect(),
        },
        mix: options.mix.iter().copied().collect(),
        connections,
        rate,
        requests: options.requests,
        threads: options.threads as u64,
        key_shares: match options.tls.key_shares {
            KeyShareMode::Unit => "unit",
            KeyShareMode::Reused => "reused",
            KeyShareMode::Fresh => "fresh",
        }
        .to_owned(),
        close: match options.close {
            Close::Rst => "rst",
            Close::Fin => "fin",
            Close::Notify => "notify",
        }
        .to_owned(),
        step: None,
        duration_ns: duration,
        count,
        warmup_ns: Some(nanos(options.warmup)),
        ramp_ns: Some(nanos(options.ramp)),
        spread: open.map(|(spread, _)| {
            match spread {
                ArrivalSpread::Constant => "constant",
                ArrivalSpread::Poisson => "poisson",
            }
            .to_owned()
        }),
        most_connections: open.map(|(_, most)| most),
        seed: Some(options.seed),
        sessions: Some(options.sessions as u64),
        reuse_tickets: Some(options.tls.reuse_tickets),
        timeout_ns: Some(nanos(options.timeout)),
        server_names: options.tls.server_names.iter().map(|it| (name(&it.name), it.weight)).collect(),
        alpn: options.tls.alpn.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        method: options.application.method().filter(|method| options.requests > 0 && !method.is_empty()).map(str::to_owned),
        verify: matches!(options.tls.certificates, CertificatePolicy::Verify(_)),
    }
}

fn latency(it: Spread) -> LoadLatency {
    LoadLatency { p50: it.p50, p90: it.p90, p95: Some(it.p95), p99: it.p99, p999: it.p999, max: it.max }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn handshake(facts: &Facts) -> LoadHandshake {
    let outcome = outcome_of(facts);
    LoadHandshake {
        tls: outcome.version,
        kind: outcome.kind,
        cipher: outcome.cipher,
        group: outcome.group,
        peer_key: outcome.peer_key,
        client_certificate: outcome.client_authentication == ClientAuthentication::Sent,
    }
}

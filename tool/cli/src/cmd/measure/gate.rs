//! When a measurement is a bad answer: `--kinds`, `--fail-if`, and what these may compare with, `--baseline`.

use anyhow::bail;
use reprise_model::document::{ConditionOutcome, Finding, MeasureDocument};
use reprise_model::{Asked, Kind};
use reprise_page::Shown;
use reprise_report::Report;
use reprise_results::{Planned, Scope};

use super::baseline::Baseline;
use super::flags::MeasureArgs;
use super::measured::Measured;
use crate::gate::{self, complaint};
use crate::notice::notice;
use crate::server_process::check_server;

/// What a result is held against.
pub(super) struct Gate {
    kinds: Vec<Kind>,
    conditions: gate::Gate,
    baseline: Option<Baseline>,
    seed: u64,
}

/// Why a result is a bad answer.
pub(super) struct Complaints {
    /// Kinds that were missed, faults that are certain, conditions that are met, and conditions that cannot be evaluated.
    all: Vec<String>,
    /// Conditions that are met, with the figures that meet them.
    pub(super) met: Vec<String>,
    /// Conditions, met or unknown, as they were written.
    pub(super) conditions: Vec<String>,
}

impl Gate {
    /// Reads the baseline, and refuses conditions that such a measurement cannot answer.
    pub(super) fn open(arguments: &MeasureArgs) -> anyhow::Result<Self> {
        if arguments.gate.server_pid.is_some() && arguments.target.is_none() {
            bail!("--server-pid needs a target");
        }
        check_server(arguments.gate.server_pid)?;
        let scope = Scope { versions: arguments.tls.clone(), kinds: arguments.kinds.clone() };
        let of_lab = arguments.target.is_none();
        let baseline = Baseline::read(&arguments.gate.baseline, of_lab, scope.clone())?;
        let by_name = arguments.target.as_ref().is_some_and(|it| it.host.parse::<std::net::IpAddr>().is_err());
        let probe = &arguments.probe;
        let planned = Planned {
            scope,
            count: arguments.count(),
            requests: !probe.no_request,
            // The proxy's name, too, is resolved.
            resolves: probe.proxy.is_some() || (by_name && probe.connection.resolve.is_empty()),
            proxy: probe.proxy.is_some(),
            starttls: probe.connection.starttls.is_some(),
            server_cpu: arguments.gate.server_pid.is_some(),
            baseline: baseline.as_ref().map(Baseline::results),
        };
        let conditions = gate::Gate::open(&arguments.gate.fail_if, &planned)?;
        if let Some(words) = baseline.as_ref().and_then(|it| it.foresight(arguments.count())) {
            notice(words);
        }
        Ok(Self { kinds: arguments.kinds.clone(), conditions, baseline, seed: arguments.seed })
    }

    /// Notes in each result what is other than in the baseline.
    pub(super) fn compare(&self, measured: &mut Measured) {
        let Some(baseline) = &self.baseline else { return };
        for result in measured.results_mut() {
            baseline.compare(result, self.seed);
        }
    }

    /// The result with what it was held against, to be shown so far.
    pub(super) fn gated<'a>(&'a self, measured: &'a Measured) -> Report<'a> {
        Report { document: measured.document(), shown: Shown::default(), kinds: &self.kinds }
    }

    /// What is bad about it. The result keeps what came of each condition.
    pub(super) fn judge(&self, measured: &mut Measured) -> Complaints {
        let results = measured.results();
        let fault = |label: &str, it: &Finding| format!("{label}: {} [{}]", it.title, it.id);
        let faults = results
            .iter()
            .flat_map(|result| result.findings.iter().filter(|it| it.is_certain_fault()).map(|it| fault(&result.label, it)));
        let missed = results.iter().filter_map(|it| missed(it, &self.kinds));
        let mut all: Vec<String> = missed.chain(faults).collect();
        let records = self.conditions.judge(measured);
        let with = |outcome| records.iter().filter(move |record| record.outcome == outcome).filter_map(complaint);
        let met: Vec<String> = with(ConditionOutcome::Met).collect();
        all.extend(met.iter().cloned().chain(with(ConditionOutcome::Unknown)));
        let bad = records.iter().filter(|record| record.outcome != ConditionOutcome::NotMet);
        let conditions = bad.map(|record| record.condition.clone()).collect();
        measured.keep_conditions(records);
        Complaints { all, met, conditions }
    }
}

impl Complaints {
    /// All of them, each on lines of its own; `None` if there are none.
    pub(super) fn in_words(self) -> Option<String> {
        (!self.all.is_empty()).then(|| self.all.join("\n  "))
    }
}

/// The kinds that were named and not observed in every one of their samples, each on a line; `None` if there are none.
fn missed(document: &MeasureDocument, named: &[Kind]) -> Option<String> {
    let mut missed = Vec::new();
    // As with session IDs where the server speaks TLS 1.3 alone. None of no connections is no proof.
    for kind in named.iter().filter(|kind| document.runs.iter().all(|run| run.asked.kind != **kind)) {
        missed.push(format!("{}: {kind} was not observed: no version that supports it could be measured", document.label));
    }
    for run in document.runs.iter().filter(|run| named.contains(&run.asked.kind)) {
        let samples = run.made();
        if run.n < samples {
            let Asked { tls, kind } = run.asked;
            missed
                .push(format!("{}: {kind} under {tls} was observed in {} of {samples} connections", document.label, run.n));
        }
    }
    (!missed.is_empty()).then(|| missed.join("\n  "))
}

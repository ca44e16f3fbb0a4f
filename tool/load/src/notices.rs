//! When the figures must not be trusted, as numbers: `reprise-explain` words it.

use reprise_model::document::LoadDocument;
use reprise_model::{CpuRestraint, FaultName, Kind, LoadNotice, Nanos, Phase, RefusalCause, Version};
use reprise_stats::histogram::Histogram;
use reprise_stats::{STEP_NS, TIMEOUT_NS, upper_mode_of_histograms};
use reprise_wire::AlertDescription;

use crate::load::LoadOutcome;
use crate::options::{Close, LoadOptions};
use crate::resources::{Used, is_on_this_machine};
use crate::verdict::{CROWDED, scarce_ports};

/// From here on the generator's own waiting is part of the latencies.
const SUSPECT: f64 = 0.8;

/// A shorter load, in seconds, is mostly its beginning and its end.
const SHORT: f64 = 0.5;

/// Seconds of few connections differ by so many standard deviations of a Poisson process, and nothing was at work.
const CHANCE: f64 = 4.0;

/// Less than one connection in so many that is slow may have met one stop of the machine.
const FEW: u64 = 20;

/// What somebody on this side can do something about.
const REMEDIABLE: [FaultName; 4] = [
    FaultName::PortsExhausted,
    FaultName::DescriptorLimit,
    FaultName::HelloRetryRequest,
    FaultName::Alert(AlertDescription::PROTOCOL_VERSION.0),
];

impl LoadOutcome {
    /// Why the figures of its document may mislead.
    pub fn notices(&self, document: &LoadDocument, options: &LoadOptions) -> Vec<LoadNotice> {
        let mut notices = Vec::new();
        if self.target_is_gone() && document.total_completed() > 0 && !document.interrupted {
            notices.push(LoadNotice::TargetGone);
        }
        self.of_the_generator(document, options, &mut notices);
        self.of_the_processors(document, options, &mut notices);
        self.of_failures(document, options, &mut notices);
        if document.sweep.as_ref().is_some_and(|sweep| sweep.costs.is_none()) && options.server_pid.is_some() {
            notices.push(LoadNotice::CostsUnknown);
        }
        let refusals: u64 = document.http_status.range(400..).map(|(_, count)| count).sum();
        if !document.answers_differ.is_empty() {
            notices.push(LoadNotice::AnswersDiffer);
        } else if refusals * 100 > document.http_status.values().sum() {
            notices.push(LoadNotice::ErrorResponses);
        }
        of_sessions(document, options, &mut notices);
        if document.bottleneck.client_busy < SUSPECT {
            notices.extend(self.slow_phases());
        }
        notices.extend(self.want_of_tickets(document, options));
        if is_on_this_machine(options.address.ip()) && options.server_pid.is_none() {
            notices.push(LoadNotice::SharedMachine);
        }
        notices
    }

    fn of_the_generator(&self, document: &LoadDocument, options: &LoadOptions, notices: &mut Vec<LoadNotice>) {
        let scarce_ports = scarce_ports(self, options);
        if document.bottleneck.client_busy >= SUSPECT {
            notices.push(LoadNotice::ClientBusy { scarce_ports: scarce_ports.is_some() });
        }
        if document.seconds < SHORT && document.total_completed() > 0 && !document.interrupted {
            notices.push(LoadNotice::TooShort);
        }
        notices.extend(scarce_ports.map(LoadNotice::ScarcePorts));
        // What completed after the end is no second of the load, and its last may be a part of one.
        let whole = document.rate.per_second.iter().take(document.seconds.floor() as usize);
        if let (Some(&least), Some(&most)) = (whole.clone().min(), whole.clone().max())
            && whole.len() >= 3
            && (most as f64) > 1.5 * least.max(1) as f64
            && (most - least) as f64 > CHANCE * (most as f64).sqrt()
            && options.ramp <= options.warmup
            && options.stages.is_empty()
        {
            notices.push(LoadNotice::UnevenSeconds { least, most });
        }
    }

    fn of_the_processors(&self, document: &LoadDocument, options: &LoadOptions, notices: &mut Vec<LoadNotice>) {
        let Used { client_restraint, server_restraint, .. } = &self.used_until_drain;
        let reason = self.reason(options);
        let is_the_reason = |restraint: &CpuRestraint| reason.limit() == Some(restraint);
        if client_restraint.was_felt() {
            let limit = client_restraint.clone();
            notices.push(LoadNotice::ClientLimited { limit, is_the_reason: is_the_reason(client_restraint) });
        }
        if server_restraint.was_felt() && !is_the_reason(server_restraint) {
            notices.push(LoadNotice::ServerLimited(server_restraint.clone()));
        }
        // Whom its limit held back waited for that, and not for others.
        let waited = |share: f64, restraint: &CpuRestraint| if restraint.was_felt() { 0.0 } else { share };
        let bottleneck = &document.bottleneck;
        let waited = waited(bottleneck.client_waiting, client_restraint)
            .max(waited(bottleneck.server_waiting.unwrap_or_default(), server_restraint));
        if waited >= CROWDED {
            notices.push(LoadNotice::Crowded { waited });
        }
    }

    /// The phases in which a part of the connections takes a step longer. One stop of the machine holds up a few of many: that is no mode.
    fn slow_phases(&self) -> Vec<LoadNotice> {
        let phases = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Total);
        let of_phase = |phase: Phase| {
            let of_it = self.histograms().into_iter().filter(|(_, of, _)| *of == Some(phase));
            let histograms: Vec<&Histogram<u64>> = of_it.map(|(_, _, histogram)| histogram).collect();
            let of: u64 = histograms.iter().map(|histogram| histogram.len()).sum();
            let mode = upper_mode_of_histograms(&histograms, STEP_NS, TIMEOUT_NS)?;
            let (slow, step) = (mode.count as u64, Nanos(mode.step));
            (slow * FEW >= of).then_some(LoadNotice::SomeSlow { phase, slow, of, step })
        };
        phases.filter_map(of_phase).collect()
    }

    /// Whether full handshakes were made since no resumed connection brought a new ticket of TLS 1.3, which serves once.
    fn want_of_tickets(&self, document: &LoadDocument, options: &LoadOptions) -> Option<LoadNotice> {
        let resumed = self.completed(Kind::Ticket);
        let is_cause = resumed > 0 && self.summary.without_ticket == resumed && !options.tls.reuse_tickets;
        let is_felt = document.primed * 10 > document.total_completed();
        (is_cause && is_felt).then_some(LoadNotice::NoTicketOnResumption)
    }

    fn of_failures(&self, document: &LoadDocument, options: &LoadOptions, notices: &mut Vec<LoadNotice>) {
        notices.extend(options.shortage.map(LoadNotice::FewerConnections));
        let not_started = document.not_started.saturating_add(document.warmup_not_started);
        if not_started > 0 {
            notices.push(LoadNotice::NotStarted { count: not_started });
        }
        notices.extend(self.summary.reasons.keys().copied().map(LoadNotice::Reasoned));
        for fault in REMEDIABLE {
            // What to do about them is the same in the warm-up.
            let count = self.summary.faults.of(fault) + self.summary.warmup_faults.of(fault);
            if count > 0 {
                notices.push(LoadNotice::Failures { fault, count });
            }
        }
        if document.hello_retries > 0 {
            notices.push(LoadNotice::HelloRetries);
        }
        if document.total_warmup_errors() > 0 {
            notices.push(LoadNotice::WarmupFailures);
        }
        let all_completed = document.total_completed() + document.late;
        if document.total_errors() * 100 > all_completed + document.total_errors() && all_completed > 0 {
            notices.push(LoadNotice::ManyFailures);
        }
    }
}

fn of_sessions(document: &LoadDocument, options: &LoadOptions, notices: &mut Vec<LoadNotice>) {
    let never = options.mix.iter().map(|(kind, _)| *kind).filter(|kind| !document.completed.contains_key(kind));
    if document.total_completed() > 0 {
        notices.extend(never.filter(|kind| *kind != Kind::Full).map(LoadNotice::NeverResumed));
    }
    let resumable = options.mix.iter().any(|(kind, _)| *kind != Kind::Full);
    if resumable && document.refused * 100 > document.total_completed() + document.late {
        notices.push(LoadNotice::SessionsRefused(refusal_cause(options)));
    }
}

fn refusal_cause(options: &LoadOptions) -> Option<RefusalCause> {
    if options.tls.version == Version::Tls13 && options.tls.reuse_tickets {
        Some(RefusalCause::TicketsReused)
    } else if options.close == Close::Rst && options.mix.iter().any(|(kind, _)| *kind == Kind::Id) {
        Some(RefusalCause::ConnectionsReset)
    } else {
        None
    }
}

//! The run: every pair and handshake measured, then counted, recorded and tried as the plan says, then summed up.

use reprise_model::Kind;
use reprise_model::document::{
    CompareClock, CompareDocument, ComparePlan, CompareRatio, CompareRecording, CompareSide, Provenance,
};
use reprise_pairs::{Audience, Case, Described, Handshake, Handshakes, Job, Launcher, skip};

use crate::callgrind::Callgrind;
use crate::comparison::ComparisonPlan;
use crate::conclusion::conclusion;
use crate::matrix::matrix;
use crate::resume::{self, OtherRun};
use crate::{claims, memory, scaling};

/// Describes, prepares, measures and sums up. What fails is in the document, as skipped.
///
/// # Errors
/// If the earlier result is of another run.
pub fn compare(
    comparison: &ComparisonPlan<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> Result<CompareDocument, OtherRun> {
    let stacks = comparison.describe(launcher, audience);
    let usable: Vec<&Described<'_>> = stacks.iter().filter(|stack| stack.info.is_ok()).collect();
    let mut document = comparison.begin(&usable, provenance);
    if let Some(earlier) = comparison.earlier {
        resume::check(earlier, &document)?;
        // Links are replayed after all else.
        if !earlier.interrupted && comparison.links.is_none() {
            return Ok(earlier.clone());
        }
        (document.clock, document.resumed) = (earlier.clock, earlier.resumed + 1);
    }
    if comparison.scenario.weighs() {
        (document.memory, document.skipped) = memory::rows(comparison, &usable, launcher, audience);
    } else if !comparison.threads.is_empty() {
        let (scaled, skipped, reading_ns) = scaling::measure(comparison, &usable, launcher, audience);
        scaled.rows.iter().for_each(|row| document.clock.threads += row.cpu);
        (document.scaling, document.skipped, document.clock.reading_ns) = (Some(scaled), skipped, reading_ns);
    } else {
        measure(&mut document, comparison, &usable, launcher, audience);
    }
    document.conclusion = conclusion(&comparison.scenario, &document);
    document.conclusion.extend(document.scaling.as_ref().and_then(scaling::conclusion));
    for stack in &stacks {
        if let Err(failed) = &stack.info {
            let case = comparison.handshakes.cases.iter().take(1);
            document.skipped.extend(case.map(|case| skip(&stack.found.name, &stack.found.name, case, failed)));
        }
    }
    document.interrupted = audience.stops();
    Ok(document)
}

/// Times of every pair and handshake, and what they say.
fn measure(
    document: &mut CompareDocument,
    comparison: &ComparisonPlan<'_>,
    usable: &[&Described<'_>],
    launcher: &Launcher,
    audience: &mut dyn Audience,
) {
    let plan = &comparison.handshakes;
    let earlier = comparison.earlier.map(|earlier| earlier.rows.as_slice()).unwrap_or_default();
    let mut made = Handshakes::prepare(plan, usable, earlier, launcher, audience);
    made.measure(plan, audience);
    document.matrix = matrix(comparison, usable, launcher, audience);
    if let Some(callgrind) = comparison.callgrind {
        count(&mut made, callgrind, launcher, audience);
    }
    document.links = comparison.links.as_ref().map(|links| {
        let recordings = record(&mut made, audience);
        links.replay(recordings, || audience.stops())
    });
    document.rows = made.rows(plan.seed);
    document.ratios = ratios(&made, comparison);
    document.claims = claims::of_versions(&document.ratios, plan.over);
    document.claims.extend(claims::of_pairs_ahead(&document.ratios, &made.run.skipped));
    document.claims.extend(claims::of_servers(&document.stacks, &server_times(&made), plan.seed));
    document.claims.extend(claims::of_hardware(&document.ratios));
    document.claims.extend(claims::of_shares(&document.ratios, &made.run.skipped));
    let clock = made.clock();
    document.clock.reading_ns = document.clock.reading_ns.max(clock.reading_ns);
    document.clock.threads += clock.threads;
    document.cores = made.cores.map(|cores| cores.map(|core| core as u64));
    document.skipped = made.run.skipped;
}

impl ComparisonPlan<'_> {
    fn describe(&self, launcher: &Launcher, audience: &mut dyn Audience) -> Vec<Described<'_>> {
        audience.begins("stacks loaded");
        let stacks = self.handshakes.stacks;
        let mut described = Vec::new();
        for found in stacks {
            audience.proceeded(described.len() as u64, stacks.len() as u64);
            described.push(Described::of(found, launcher));
        }
        described
    }

    /// The document without any figure.
    fn begin(&self, stacks: &[&Described<'_>], provenance: Provenance) -> CompareDocument {
        let plan = ComparePlan {
            samples: u64::from(self.handshakes.effort.samples),
            sample_ns: self.handshakes.effort.sample_ns,
            crossed: self.handshakes.crossed,
            instructions: self.callgrind.is_some(),
            cases: self.handshakes.cases.iter().map(Case::document).collect(),
        };
        CompareDocument {
            schema: CompareDocument::SCHEMA.to_owned(),
            scenario: self.scenario.name.to_owned(),
            over: self.handshakes.over,
            plan: Some(plan),
            resumed: 0,
            cores: None,
            clock: CompareClock::default(),
            seed: self.handshakes.seed,
            conclusion: Vec::new(),
            stacks: stacks.iter().filter_map(|stack| stack.info.clone().ok()).collect(),
            rows: Vec::new(),
            memory: Vec::new(),
            ratios: Vec::new(),
            scaling: None,
            links: None,
            skipped: Vec::new(),
            matrix: Vec::new(),
            claims: Vec::new(),
            counting: self.callgrind.map(Callgrind::document),
            baseline: None,
            conditions: Vec::new(),
            interrupted: false,
            provenance,
        }
    }
}

/// Of each stack with itself.
fn server_times(made: &Handshakes<'_>) -> Vec<claims::ServerTime> {
    let own = made.run.rows().filter(|handshake| handshake.client == handshake.server);
    own.map(|handshake| {
        let samples = handshake.samples.server_ns.clone();
        claims::ServerTime { stack: handshake.server.to_owned(), case: handshake.case, samples }
    })
    .collect()
}

/// Instructions of each row that has none yet.
fn count(made: &mut Handshakes<'_>, callgrind: &Callgrind, launcher: &Launcher, audience: &mut dyn Audience) {
    audience.begins("handshakes counted");
    made.run.beside(audience, |handshake, _| {
        if handshake.instructions.is_none() {
            handshake.instructions = Some(callgrind.count(launcher, &handshake.job)?);
        }
        Ok(())
    });
}

/// Turn by turn, every handshake with the client's request in it.
fn record(made: &mut Handshakes<'_>, audience: &mut dyn Audience) -> Vec<CompareRecording> {
    let mut recordings = Vec::new();
    audience.begins("handshakes recorded");
    made.run.beside(audience, |handshake, children| {
        let Handshake { client, server, case, .. } = handshake;
        // Each has a request in it: one of the scenario's own would come twice.
        if case.request && case.kind != Kind::Early {
            return Ok(());
        }
        let (n, turns) = children.record(Job { case: case.with_request(), ..handshake.job.clone() })?;
        let (client, server) = ((*client).to_owned(), (*server).to_owned());
        recordings.push(CompareRecording { client, server, case: case.document(), n, turns });
        Ok(())
    });
    recordings
}

/// Each within one pair.
fn ratios(made: &Handshakes<'_>, comparison: &ComparisonPlan<'_>) -> Vec<CompareRatio> {
    let mut ratios = Vec::new();
    for from in made.run.rows() {
        let of_pair = made.run.rows().filter(|to| (from.client, from.server) == (to.client, to.server));
        for to in of_pair.filter(|to| (comparison.scenario.compares)(&from.case, &to.case)) {
            for side in CompareSide::ALL {
                let (before, after) = (from.samples.of(side), to.samples.of(side));
                ratios.extend(reprise_stats::ratio(&before, &after, comparison.handshakes.seed).map(|ratio| CompareRatio {
                    client: from.client.to_owned(),
                    server: from.server.to_owned(),
                    side,
                    from: from.case.document(),
                    to: to.case.document(),
                    median: ratio.median,
                    ci95: ratio.ci95,
                }));
            }
        }
    }
    ratios
}

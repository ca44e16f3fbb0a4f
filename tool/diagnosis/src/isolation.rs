//! What sessions that were offered at other places than their own mean: a record of each combination, and for each target its
//! findings.

use itertools::Itertools;
use reprise_connection::Target;
use reprise_model::Failure;
use reprise_model::document::{
    Diagnosis, EntryRecord, ExperimentRecord, Finding, IsolationRecord, IsolationVerdict, Subject,
};
use reprise_probe::diagnose::EarlyEnd;
use reprise_probe::isolation::{CameTo, Entry, FullRun, Holder, Isolation, OfferRun, Place, Seen};

use crate::causes::{causes, rules};
use crate::crossed_offer::{CrossedOffer, outcome};
use crate::figures::connections;
use crate::findings::with_remedies;
use crate::verdict::{verdict, worst_first};

/// Targets whose sessions were offered at each other, apart from the connections.
pub struct IsolationRun<'a> {
    /// The targets as they were named.
    pub targets: &'a [Target],
    /// Who offered sessions.
    pub holders: &'a [Holder],
    /// For each target why nothing is known of it, in words.
    pub failures: Vec<Option<Failure>>,
    /// What the servers are, where the user says so.
    pub software: Option<&'a str>,
}

/// A diagnosis of each target by what it lets in, and a record of each combination.
pub fn isolation_diagnoses(run: IsolationRun<'_>, isolation: &Isolation) -> (Vec<Diagnosis>, Vec<IsolationRecord>) {
    let IsolationRun { targets, holders, failures, software } = run;
    let names = Names { targets, holders };
    let crossed: Vec<CrossedOffer<'_>> = isolation.offers.iter().map(|run| names.crossed(run, isolation)).collect();
    let diagnosis = |((place, target), failure): ((usize, &Target), Option<Failure>)| {
        let of_target: Vec<&CrossedOffer<'_>> = crossed.iter().filter(|it| it.run.to == place).collect();
        let default = Place::default();
        let found = isolation.places.get(place).unwrap_or(&default);
        let software = software.map(str::to_owned).or_else(|| found.software.clone());
        let findings = findings(&of_target, software.as_deref());
        let full = || isolation.full.iter().filter(|run| run.place == place);
        let reached = full().any(|run| run.seen.iter().any(Seen::is_conclusive));
        let is_refusing = full().any(|run| Entry::of(&run.seen) == Entry::Refused);
        Diagnosis {
            target: target.to_string(),
            subject: Subject::Server,
            address: found.address.map(|address| address.to_string()),
            software,
            reached,
            verdict: match &failure {
                Some(failure) if !reached => failure.message.clone(),
                None if !reached => "No full handshake came to anything".to_owned(),
                _ => verdict(&findings, &healthy(&of_target, is_refusing)),
            },
            failure,
            incomplete: isolation.ended_by.is_some() || found.failed.is_some(),
            findings,
            experiments: experiment(&of_target).into_iter().collect(),
            connections: found.connections,
            seconds: isolation.took.0 as f64 / 1e9,
            warnings: warnings(isolation, is_refusing, reached),
            ..Diagnosis::default()
        }
    };
    let diagnoses = targets.iter().enumerate().zip(failures).map(diagnosis).collect();
    (diagnoses, crossed.into_iter().map(|it| it.record).collect())
}

fn findings(offers: &[&CrossedOffer<'_>], software: Option<&str>) -> Vec<Finding> {
    let found = rules(|cause| cause.isolated).flat_map(|find| find(offers));
    let mut findings: Vec<Finding> = with_remedies(found, software, None).collect();
    worst_first(&mut findings);
    findings
}

/// What was tried: nothing where no session of another place was offered.
fn experiment(offers: &[&CrossedOffer<'_>]) -> Option<ExperimentRecord> {
    let sum = |of: fn(&IsolationRecord) -> u32| offers.iter().map(|it| of(&it.record)).sum::<u32>();
    let (offered, resumed) = (sum(|it| it.offered), sum(|it| it.accepted));
    let made = offers.iter().map(|it| it.run.seen.len()).sum::<usize>() as u32;
    (made > 0).then(|| ExperimentRecord {
        name: "isolation".to_owned(),
        varies: "where a session comes from".to_owned(),
        asked: None,
        repeats: 0,
        connections: made,
        offered,
        resumed,
        failed: made - offered,
        separates: causes().filter(|cause| cause.isolated.is_some()).map(|cause| cause.slug.to_owned()).collect(),
        outcome: format!("{resumed} of {offered} resumed"),
    })
}

fn healthy(offers: &[&CrossedOffer<'_>], is_refusing: bool) -> String {
    let of = |verdict| offers.iter().filter(move |it| it.record.full.let_in == 0 && it.record.verdict == verdict);
    let refused: u32 = of(IsolationVerdict::Refused).map(|it| it.record.offered).sum();
    // At home: the response refuses their holder as it did before.
    let accepted: u32 = of(IsolationVerdict::ByDesign).map(|it| it.record.accepted).sum();
    match (is_refusing, refused, accepted) {
        (false, _, _) => "Nobody is refused here, so no session can enter that should not".to_owned(),
        (true, 0, 0) => "Nobody holds a session that could enter where its holder is refused".to_owned(),
        (true, refused, 0) => format!("No session enters where its holder is refused: {refused} were offered"),
        (true, refused, accepted) => format!(
            "No session enters where its holder is refused: {} were offered, and the {accepted} that were resumed are refused by \
             the response, as full handshakes are",
            refused + accepted
        ),
    }
}

fn warnings(isolation: &Isolation, is_refusing: bool, reached: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if isolation.ended_by == Some(EarlyEnd::Limit) {
        warnings.push(format!(
            "The limit of {} or {} s for each target was reached, so not everything was tried: increase --connections or \
                --max-time",
            connections(isolation.limits.connections.into()),
            isolation.limits.time.as_secs()
        ));
    }
    let nobody = !isolation.full.iter().any(|run| Entry::of(&run.seen) == Entry::Refused);
    if nobody && !is_refusing && reached {
        warnings.push(
            "Everyone is let in everywhere: name a target that is strict, or identities that one of them refuses \
                (--cert, --key)"
                .to_owned(),
        );
    }
    warnings
}

/// What places and holders are called.
struct Names<'a> {
    targets: &'a [Target],
    holders: &'a [Holder],
}

impl Names<'_> {
    fn target(&self, place: usize) -> String {
        self.targets.get(place).map(ToString::to_string).unwrap_or_default()
    }

    fn crossed<'r>(&self, run: &'r OfferRun, isolation: &'r Isolation) -> CrossedOffer<'r> {
        let full = isolation.full(run.to, run.holder, run.asked.tls).map_or(&[][..], |run: &FullRun| run.seen.as_slice());
        let conclusive = || run.seen.iter().filter(|seen| seen.is_conclusive());
        let accepted: Vec<&Seen> = run.seen.iter().filter(|seen| seen.is_resumed()).collect();
        let outcomes = distinct(accepted.iter().copied());
        let record = IsolationRecord {
            from: self.target(run.from),
            to: self.target(run.to),
            holder: self.holders.get(run.holder).and_then(|holder| holder.name.clone()),
            asked: run.asked,
            session_tls: run.session_tls,
            full: entry(full),
            offered: conclusive().count() as u32,
            accepted: accepted.len() as u32,
            came_to: (!outcomes.is_empty()).then(|| outcomes.join(", ")),
            verdict: judged(run, full, isolation, self.holders),
        };
        CrossedOffer { record, run, full }
    }
}

fn entry(full: &[Seen]) -> EntryRecord {
    EntryRecord {
        connections: full.len() as u32,
        let_in: full.iter().filter(|seen| seen.came_to() == CameTo::LetIn).count() as u32,
        asks_for_certificate: full.iter().filter_map(|seen| seen.asks_for_certificate).reduce(|one, other| one || other),
        came_to: distinct(full),
    }
}

/// What became of these sessions.
fn judged(run: &OfferRun, full: &[Seen], isolation: &Isolation, holders: &[Holder]) -> IsolationVerdict {
    let accepted: Vec<CameTo> = run.seen.iter().filter(|seen| seen.is_resumed()).map(Seen::came_to).collect();
    let is_conclusive = run.seen.iter().any(Seen::is_conclusive);
    // Where no certificate is asked for, what a response refuses has nothing to do with sessions.
    let asks = isolation.asks_for_certificate(run.to) || full.iter().any(refuses_by_tls);
    match (Entry::of(full), accepted.is_empty()) {
        (_, true) if is_conclusive => IsolationVerdict::Refused,
        (_, true) | (Entry::Unclear, false) => IsolationVerdict::Unclear,
        (Entry::LetIn, false) if asks && isolation.gives_what_is_anothers(run, holders) => IsolationVerdict::Broken,
        (Entry::LetIn, false) => IsolationVerdict::ByDesign,
        (Entry::Refused, false) if accepted.contains(&CameTo::LetIn) => IsolationVerdict::Broken,
        // At home the response is what it was.
        (Entry::Refused, false) if asks && run.from != run.to => IsolationVerdict::Noticed,
        (Entry::Refused, false) => IsolationVerdict::ByDesign,
    }
}

fn refuses_by_tls(seen: &Seen) -> bool {
    matches!(seen.came_to(), CameTo::RefusedByTls(_))
}

/// What these connections came to, each thing once.
fn distinct<'s>(seen: impl IntoIterator<Item = &'s Seen>) -> Vec<String> {
    seen.into_iter().map(outcome).unique().collect()
}

//! What `hidden-nodes` and `id-cache-per-process` share: sessions are accepted now and then, as by nodes that do not share them.

use reprise_model::document::Finding;
use reprise_model::{Kind, Nanos, Phase};

use crate::figures::connections;
use crate::nodes::{Accepted, Sharing, by_distance};
use crate::savings::{Saving, saving};
use crate::series::{Case, FEWEST, Series};

/// Whether these connections offered a session of this kind, and some were resumed and some refused.
pub(crate) fn is_accepted_sometimes(series: &Series<'_>, kind: Kind) -> bool {
    series.asked.kind == kind && series.as_asked() > 0 && series.refusals() > 0
}

/// "48 of 100 connections that offered one resumed", at which distances, and what that says of nodes.
fn evidence(series: &Series<'_>, sharing: Sharing) -> Vec<String> {
    let (resumed, offered) = (series.as_asked(), series.offered());
    let counted = format!("{resumed} of {} that offered one resumed", connections(offered));
    [Some(counted), by_distance(series), Some(meaning(series, sharing))].into_iter().flatten().collect()
}

fn meaning(series: &Series<'_>, sharing: Sharing) -> String {
    match sharing {
        Sharing::KeyNames(keys) => format!(
            "Tickets come under {keys} keys at once, and each is accepted only where its own key is in use: {keys} nodes or \
             processes that do not share their keys"
        ),
        Sharing::InTurn(nodes) => format!(
            "Accepted exactly where the distance is a multiple of {nodes}: {nodes} nodes taken in turn, each with its own state"
        ),
        Sharing::ByOrigin(accepted) => format!("Accepted exactly where it was {}", origin(accepted)),
        Sharing::Unknown if series.as_asked() < FEWEST || series.refusals() < FEWEST => {
            format!("Fewer than {FEWEST} were accepted, or refused: too few to find what separates them")
        }
        Sharing::Unknown => {
            "Neither distance, nor origin, nor key name separates them: nodes without shared state behind a balancer that \
                chooses at random, keys that change, or one server that refuses some"
                .to_owned()
        }
    }
}

fn origin(accepted: Accepted) -> &'static str {
    match accepted {
        Accepted::OfFull => "given by a full handshake",
        Accepted::Last => "the last that its connection gave",
        Accepted::LastOfFull => "the last that a full handshake gave",
    }
}

/// The finding with its evidence and with what the refusals cost.
pub(crate) fn explained(finding: Finding, case: &Case<'_>, series: &Series<'_>, sharing: Sharing) -> Finding {
    let finding = finding.because(evidence(series, sharing));
    finding.costing(average_cost(case, series)).costing_cpu(case.cpu_cost(series.asked.tls))
}

/// What the refusals cost a connection on average, where it is shown that resuming saves anything.
fn average_cost(case: &Case<'_>, series: &Series<'_>) -> Option<Nanos> {
    let run = case.figures.run(series.asked.tls, series.asked.kind)?;
    let saved = saving(case.figures, run, Phase::Tls).filter(Saving::is_shown)?.saved();
    let refused = series.refusals() as f64 / series.count() as f64;
    Some(Nanos((saved.0 as f64 * refused).round() as u64))
}

//! Claims of what a key pair saves that the server makes ahead.

use reprise_model::document::{CompareCase, CompareClaim, CompareRatio, CompareSide, CompareSkipped, stack_pair};
use reprise_model::{KeyPairs, Kind, Version};

use super::versions::verdict;
use super::{Claim, OF_PAIRS_AHEAD, PairsAhead};

/// Each claim with each pair of stacks: what it measured, or why it has no figure. The client's generation and everything else
/// are in the ratio too, as in what was published.
pub(crate) fn of_pairs_ahead(ratios: &[CompareRatio], skipped: &[CompareSkipped]) -> Vec<CompareClaim> {
    let about = |claim: &'static Claim<PairsAhead>| {
        let is_about = |case: &CompareCase| {
            case.tls == Version::Tls13 && case.key_pairs == KeyPairs::Ahead && (claim.decided_by.holds_for)(case)
        };
        let measured = ratios
            .iter()
            .filter(move |ratio| ratio.side == CompareSide::Both && is_about(&ratio.to))
            .map(|ratio| judged(claim, ratio));
        let not = skipped.iter().filter(move |it| is_about(&it.case)).map(|it| undecided(claim, it));
        measured.chain(not)
    };
    OF_PAIRS_AHEAD.iter().flat_map(about).collect()
}

fn judged(claim: &Claim<PairsAhead>, ratio: &CompareRatio) -> CompareClaim {
    let published = claim.decided_by.ratio;
    let verdict = verdict(true, ratio.median, ratio.ci95);
    let why = match (verdict, ratio.ci95) {
        ("no difference", Some([_, high])) if high >= published => {
            Some("the interval includes what was published too: more samples would tell")
        }
        ("no difference", _) => Some("to make the pair is too little of this handshake here"),
        ("other direction", _) => Some("what comes with the pairs costs more than to make one"),
        ("same direction", Some([low, _])) if low > published => {
            Some("to make the pair is a larger part of the handshake here than in what was published")
        }
        ("same direction", Some([_, high])) if high < published => {
            Some("to make the pair is a smaller part of the handshake here than in what was published")
        }
        _ => None,
    };
    CompareClaim {
        measured: Some(ratio.median),
        ci95: ratio.ci95,
        verdict: verdict.to_owned(),
        why: why.map(str::to_owned),
        ..about(claim, [&ratio.client, &ratio.server], &ratio.to)
    }
}

fn undecided(claim: &Claim<PairsAhead>, skipped: &CompareSkipped) -> CompareClaim {
    CompareClaim { why: Some(skipped.reason.clone()), ..about(claim, [&skipped.client, &skipped.server], &skipped.case) }
}

fn about(claim: &Claim<PairsAhead>, [client, server]: [&String; 2], case: &CompareCase) -> CompareClaim {
    let by = if case.kind == Kind::Psk { "psk" } else { &case.key };
    claim.about(format!("{}, {by} {}", stack_pair(client, server), case.group), Some(claim.decided_by.ratio))
}

//! Claims of what a further key share of the client costs.

use reprise_model::document::{CompareClaim, CompareRatio, CompareSide, CompareSkipped, stack_pair};

use super::OF_SHARES;
use super::versions::verdict;

/// What each pair of stacks takes with one key share by what it takes with two, or why there is no figure.
pub(crate) fn of_shares(ratios: &[CompareRatio], skipped: &[CompareSkipped]) -> Vec<CompareClaim> {
    let about = |client: &str, server: &str| {
        let claim = &OF_SHARES;
        claim.about(stack_pair(client, server), Some(claim.decided_by))
    };
    let is_it = |ratio: &&CompareRatio| ratio.side == CompareSide::Both && ratio.to.hybrid_share;
    let measured = ratios.iter().filter(is_it).map(|ratio| CompareClaim {
        measured: Some(ratio.median),
        ci95: ratio.ci95,
        verdict: verdict(false, ratio.median, ratio.ci95).to_owned(),
        ..about(&ratio.client, &ratio.server)
    });
    let not = skipped.iter().filter(|it| it.case.hybrid_share);
    let not = not.map(|it| CompareClaim { why: Some(it.reason.clone()), ..about(&it.client, &it.server) });
    measured.chain(not).collect()
}

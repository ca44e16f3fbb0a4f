//! Claims that a cipher is faster with what a processor has for it.

use reprise_model::document::{CompareClaim, CompareRatio, CompareSide};

use super::versions::verdict;
use super::{Claim, Hardware, OF_HARDWARE, OF_SHA256};

/// All that a run on this machine can say against such a claim.
const ANOTHER_PROCESSOR: &str = "records are measured here, and on another processor: their other costs remain with AES instructions, and without \
    them libraries have code for vector units that the board's had not";

/// Why records say nothing of SHA-256.
const NOT_ALONE: &str = "in the suites that are measured SHA-256 is one part of a record's cost, beside AES-CBC";

/// Each claim with each stack that was measured with AES instructions and without.
pub(crate) fn of_hardware(ratios: &[CompareRatio]) -> Vec<CompareClaim> {
    let switched = |ratio: &&CompareRatio| {
        ratio.side == CompareSide::Both && (ratio.from.hardware(), ratio.to.hardware()) == (Some(false), Some(true))
    };
    let about = |claim: &'static Claim<Hardware>| {
        let published = &claim.decided_by;
        let of_cipher = ratios.iter().filter(switched).filter(|ratio| ratio.to.cipher.contains(published.cipher));
        of_cipher.map(|ratio| {
            let is_near = ratio.ci95.is_some_and(|[low, high]| low <= published.ratio && published.ratio <= high);
            let stack = format!("{}, TLS {}, both sides", ratio.server, ratio.to.tls.number());
            CompareClaim {
                measured: Some(ratio.median),
                ci95: ratio.ci95,
                verdict: verdict(true, ratio.median, ratio.ci95).to_owned(),
                why: (!is_near).then(|| ANOTHER_PROCESSOR.to_owned()),
                ..claim.about(stack, Some(published.ratio))
            }
        })
    };
    let mut claims: Vec<CompareClaim> = OF_HARDWARE.iter().flat_map(about).collect();
    if !claims.is_empty() {
        let about = OF_SHA256.about("every stack".to_owned(), Some(OF_SHA256.decided_by));
        claims.push(CompareClaim { why: Some(NOT_ALONE.to_owned()), ..about });
    }
    claims
}

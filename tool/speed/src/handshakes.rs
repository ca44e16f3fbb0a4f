//! The handshakes that are held against the operations.

use reprise_model::document::{CompareOver, CompareRow};
use reprise_pairs::{Audience, Case, Described, Effort, HandshakePlan, Handshakes, Keys, Launcher, describe};

use crate::floor;
use crate::plan::SpeedPlan;

/// How many times as long a sample of handshakes takes as one of an operation: it has to bring all of its code and data into the caches that
/// another process has had.
const AS_LONG: u64 = 5;

/// The handshakes that are predicted, over memory and what else the plan says.
pub(crate) fn all_handshakes(
    plan: &SpeedPlan<'_>,
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> Vec<(CompareOver, Vec<CompareRow>)> {
    let cases = floor::cases();
    let transports = CompareOver::ALL.into_iter().filter(|over| *over == CompareOver::Memory || *over == plan.over);
    let made = transports.filter_map(|over| {
        let made =
            (!audience.stops()).then(|| handshakes(&SpeedPlan { over, ..*plan }, &cases, false, launcher, audience))?;
        Some((over, made?))
    });
    made.collect()
}

/// Handshakes of each stack with itself, or also with each other, over what the plan says.
pub fn handshakes(
    plan: &SpeedPlan<'_>,
    cases: &[Case],
    crossed: bool,
    launcher: &Launcher,
    audience: &mut dyn Audience,
) -> Option<Vec<CompareRow>> {
    let keys = Keys::make(cases.iter().map(|case| (case.key, case.chain))).ok()?;
    let handshakes = HandshakePlan {
        cases,
        stacks: plan.stacks,
        crossed,
        keys: &keys,
        effort: Effort { sample_ns: plan.effort.sample_ns * AS_LONG, ..plan.effort },
        seed: plan.seed,
        over: plan.over,
    };
    let stacks = describe(plan.stacks, launcher);
    let usable: Vec<&Described<'_>> = stacks.iter().filter(|stack| stack.info.is_ok()).collect();
    let mut made = Handshakes::prepare(&handshakes, &usable, &[], launcher, audience);
    made.measure(&handshakes, audience);
    Some(made.rows(plan.seed))
}

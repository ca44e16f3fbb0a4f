//! What comes before TLS: bytes in the clear, for the prologue.

use reprise_model::Nanos;

use super::{Attempt, Boundary, Progress};
use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::input::Input;
use crate::prologue::PrologueStep;

impl<E: Endpoint, X: Exchange> Attempt<E, X> {
    pub(super) fn receive_in_the_clear(&mut self, input: &mut Input<'_>) -> Result<Progress, Fault> {
        let Some(prologue) = &mut self.prologue else { return Ok(Progress::Waiting) };
        let step = prologue.receive(input.rest(), &mut self.outgoing);
        self.seen.received += input.rest().len() as u64;
        input.take(usize::MAX);
        self.step(step?, input.at())
    }

    /// A timed stage ends in a boundary; without one TLS begins at once.
    pub(super) fn step(&mut self, step: PrologueStep, now: Nanos) -> Result<Progress, Fault> {
        self.reached = match step {
            PrologueStep::Waiting => return Ok(Progress::Waiting),
            PrologueStep::Over(None) => return self.begin_tls(now).map(|()| Progress::Waiting),
            PrologueStep::Over(Some(phase)) => Some(Boundary::Passed { phase, is_last: true }),
            PrologueStep::Passed(phase) => Some(Boundary::Passed { phase, is_last: false }),
        };
        Ok(Progress::Boundary)
    }
}

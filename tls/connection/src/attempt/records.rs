//! Splits the bytes into records, each of which the endpoint gets whole.

use reprise_model::{Ended, Nanos};
use reprise_wire::Record;

use super::{Attempt, Boundary, Progress};
use crate::endpoint::{Endpoint, EndpointEvent};
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::input::Input;

impl<E: Endpoint, X: Exchange> Attempt<E, X> {
    /// Takes whole records until the end of a phase.
    pub(super) fn receive_records(&mut self, shared: &mut E::Shared, input: &mut Input<'_>) -> Result<Progress, Fault> {
        let at = input.at();
        if self.held.is_empty() {
            let (used, progress) = self.take_records(shared, input.rest(), at);
            input.take(used);
            self.seen.received += used as u64;
            if progress == Ok(Progress::Waiting) {
                self.seen.received += self.held.hold(input);
            }
            return progress;
        }
        self.seen.received += self.held.hold(input);
        let mut held = std::mem::take(&mut self.held);
        let (used, progress) = self.take_records(shared, held.rest(), at);
        held.take(used);
        self.held = held;
        progress
    }

    /// Says how many bytes were taken, too.
    pub(super) fn take_records(
        &mut self,
        shared: &mut E::Shared,
        bytes: &mut [u8],
        at: Nanos,
    ) -> (usize, Result<Progress, Fault>) {
        let mut used = 0;
        loop {
            if !self.seen.was_told_done && self.is_done() {
                self.seen.was_told_done = true;
                return (used, Ok(Progress::Done));
            }
            if self.seen.ended == Ended::CloseNotify {
                // What comes after it is not of TLS.
                return (used + bytes.get(used..).map_or(0, <[u8]>::len), Ok(Progress::Waiting));
            }
            let rest = bytes.get_mut(used..).unwrap_or_default();
            let length = match Record::parse(rest) {
                Ok(Some((_, length))) => length,
                Ok(None) => return (used, Ok(Progress::Waiting)),
                Err(error) => {
                    let is_first = !self.seen.spoke_tls;
                    return (used, Err(self.endpoint.refuse(rest, error, is_first, at, &mut self.outgoing)));
                }
            };
            self.seen.spoke_tls = true;
            used += length;
            let record = rest.get_mut(..length).unwrap_or_default();
            match self.endpoint.receive(shared, at, record, &mut self.outgoing) {
                Ok(EndpointEvent::Nothing) => {}
                Ok(EndpointEvent::Ready) => {
                    self.reached = Some(Boundary::Ready);
                    return (used, Ok(Progress::Boundary));
                }
                Ok(EndpointEvent::Data(data)) => {
                    if let Err(fault) = self.take_data(data, at) {
                        return (used, Err(fault));
                    }
                }
                Ok(EndpointEvent::Closed) => {
                    self.seen.ended = Ended::CloseNotify;
                    if let Err(fault) = self.end_response(at) {
                        return (used, Err(fault));
                    }
                }
                Err(fault) => return (used, Err(fault)),
            }
        }
    }
}

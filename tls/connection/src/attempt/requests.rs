//! The requests, and what answers them.

use reprise_model::{Answer, Bytes, FaultName, Nanos};

use super::{Attempt, Stage};
use crate::clock::Departing;
use crate::endpoint::Endpoint;
use crate::exchange::{Exchange, Reply};
use crate::fault::Fault;

impl<E: Endpoint, X: Exchange> Attempt<E, X> {
    pub(super) fn ask(&mut self, now: Nanos) -> Result<(), Fault> {
        let request = self.exchange.request()?;
        self.endpoint.send(now, request, &mut self.outgoing)?;
        let is_first = self.seen.answered == 0;
        self.clock.will_leave(if is_first { Departing::FirstRequest } else { Departing::NextRequest });
        Ok(())
    }

    pub(super) fn send(&mut self, now: Nanos, data: &[u8]) -> Result<(), Fault> {
        if data.is_empty() { Ok(()) } else { self.endpoint.send(now, data, &mut self.outgoing) }
    }

    pub(super) fn take_data(&mut self, data: &[u8], at: Nanos) -> Result<(), Fault> {
        // A service that is not HTTP may speak first: that it does shows that it has finished.
        if self.wanted == 0 {
            return Ok(());
        }
        if self.seen.answered >= self.wanted {
            // All that was wanted has come: what follows is of no interest, be it broken.
            let _ = self.exchange.receive(data);
            return Ok(());
        }
        let reply = self.exchange.receive(data)?;
        let outgoing = self.exchange.take_outgoing();
        if !self.is_peer_closed() {
            self.send(at, &outgoing)?;
        }
        self.take_reply(reply, at)
    }

    pub(super) fn take_reply(&mut self, reply: Reply, at: Nanos) -> Result<(), Fault> {
        if reply != Reply::Awaited {
            self.clock.answered(self.seen.answered == 0, reply == Reply::Done, at);
        }
        if reply == Reply::Done {
            let status = self.exchange.status();
            let (body, location) = (Bytes(self.exchange.body()), self.exchange.location());
            let keeps_alive = self.exchange.keeps_alive();
            self.seen.answer = self.seen.answer.or(Some(Answer { status, body, location, keeps_alive }));
            if let Some(status) = status {
                count_status(&mut self.statuses, status);
            }
            self.seen.answered += 1;
            if self.seen.answered < self.wanted {
                return self.ask(at);
            }
        }
        Ok(())
    }

    /// The peer has ended the connection: a response that ends with it is whole.
    pub(super) fn end_response(&mut self, at: Nanos) -> Result<(), Fault> {
        if self.stage != Stage::Open || self.seen.answered >= self.wanted {
            return Ok(());
        }
        let reply = self.exchange.receive_end()?;
        if self.seen.answered + 1 < self.wanted {
            return Err(Fault::new(FaultName::NoResponse));
        }
        self.take_reply(reply, at)
    }
}

fn count_status(counts: &mut Vec<(u16, u64)>, status: u16) {
    match counts.iter_mut().find(|(known, _)| *known == status) {
        Some((_, count)) => *count += 1,
        None => counts.push((status, 1)),
    }
}

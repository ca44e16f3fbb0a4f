//! One side that is made ready.

use std::time::Duration;

use reprise_model::KeyPairs;
use reprise_stack::Side;
use serde::{Deserialize, Serialize};

use super::dialer::Dialer;
use super::end::Setup;
use super::server::Server;
use crate::ask::Ask;
use crate::cell::{Cell, side_context};
use crate::child::Child;
use crate::cores;
use crate::failed::Failed;
use crate::job::Job;
use crate::shares::Shares;
use crate::transport::Transport;

/// Makes one side of a pair ready: its context.
#[derive(Clone, Serialize, Deserialize)]
pub struct PrepareSide {
    /// The pair.
    pub job: Job,
    /// Which side.
    pub is_client: bool,
    /// The core that the process is to stay on.
    pub core: Option<usize>,
    /// How long it waits for its peer.
    pub patience: Duration,
    /// Whether it reads along what its peer and itself send. It does not while its instructions are counted: its peer does.
    pub witnesses: bool,
}

/// One side that was made ready.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SideReady {
    /// Its number.
    pub cell: usize,
    /// What a reading of the clock costs, which was taken off.
    pub reading_ns: u64,
}

impl Ask for PrepareSide {
    const NAME: &'static str = "PrepareSide";
    type Answer = SideReady;

    fn answer(self, child: &mut Child) -> Result<SideReady, Failed> {
        if let Some(core) = self.core {
            cores::stay_on(core);
        }
        let case = self.job.case;
        if case.bulk.is_some() {
            return Err(Failed::unsupported("data in bulk is measured over memory alone"));
        }
        if case.key_pairs == KeyPairs::Ahead {
            // Its server serves without a pause in which pairs could be made.
            return Err(Failed::unsupported("over loopback, no key pairs are made ahead: measure it over memory"));
        }
        let (at, which) = if self.is_client { (&self.job.client, Side::Client) } else { (&self.job.server, Side::Server) };
        let stack = child.stack(at)?;
        let context = side_context(&*stack, which, case, &self.job.certificates)?;
        let setup = Setup { context, case, patience: self.patience, witnesses: self.witnesses };
        let (cell, clock) = if self.is_client {
            let transport = Dialer::new(setup);
            let clock = transport.clock();
            let cell = Cell { case, transport, contexts: Vec::new(), session: None, shares: Shares::default() };
            (child.keep(cell), clock)
        } else {
            let server = Server::new(setup);
            let clock = server.clock();
            (child.keep(server), clock)
        };
        Ok(SideReady { cell, reading_ns: clock.reading.0 })
    }
}

//! A pair of stacks and the handshake that they are to make.

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::cell::Cell;
use crate::certificates::Certificates;
use crate::child::Child;
use crate::failed::Failed;
use crate::stacks::{FoundStack, StackRef};

/// A pair of stacks and the handshake that they are to make.
#[derive(Clone, Serialize, Deserialize)]
pub struct Job {
    /// The client.
    pub client: StackRef,
    /// The server.
    pub server: StackRef,
    /// The handshake.
    pub case: Case,
    /// What both know of each other before.
    pub certificates: Certificates,
}

impl Job {
    /// Of two stacks that were found.
    pub fn new(client: &FoundStack, server: &FoundStack, case: Case, certificates: &Certificates) -> Self {
        Self { client: client.at.clone(), server: server.at.clone(), case, certificates: certificates.clone() }
    }

    /// Both sides, over memory.
    pub(crate) fn cell(&self, child: &mut Child) -> Result<Cell, Failed> {
        let (client, server) = (child.stack(&self.client)?, child.stack(&self.server)?);
        Cell::new(&*client, &*server, self.case, &self.certificates)
    }
}

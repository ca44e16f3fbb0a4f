//! What connections are made over, what the client says on each, and what is known of it then.

use reprise_model::{Kind, Nanos};
use reprise_stack::{SessionPlan, StackAccount, StackSession};

use crate::case::{Case, REQUEST};
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::witness::WireFacts;

/// What connections are made over, one after the other.
pub trait Transport {
    /// Makes one and ends it; what the client learned is then in [`Transport::take_session`].
    ///
    /// # Errors
    /// Where the handshake fails.
    fn connect(&mut self, session: Option<StackSession>, says: Says) -> Result<Connected, Failed>;

    /// The newest session that the client has learned.
    fn take_session(&mut self) -> Option<StackSession>;

    /// How time was taken.
    fn clock(&self) -> CpuClock;
}

/// What the client says in the span that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// [`REQUEST`], once its handshake is complete.
    Request,
    /// The same as early data, where there is a session; and once more where the server has rejected it.
    Early,
}

impl Says {
    /// What a case asks for.
    pub fn of(case: Case) -> Self {
        match (case.kind, case.request) {
            (Kind::Early, _) => Self::Early,
            (_, true) => Self::Request,
            _ => Self::Nothing,
        }
    }

    /// Early data only goes with a session.
    pub fn plan(self, session: Option<StackSession>) -> SessionPlan {
        let early_data = (self == Self::Early && session.is_some()).then(|| REQUEST.to_vec());
        SessionPlan { session, early_data }
    }
}

/// One connection, as far as the sides that are here know it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connected {
    /// CPU time of the client's side.
    pub client: Nanos,
    /// And of the server's.
    pub server: Nanos,
    /// What of it decides how many connections make a sample.
    pub cost: Nanos,
    /// What the wire says; `None` where nobody reads along.
    pub observed: Option<WireFacts>,
    /// What the client's library says, and the server's.
    pub accounts: [Option<StackAccount>; 2],
    /// How many intervals of the clock the CPU time is made of.
    pub turns: u64,
    /// Bytes that the client sent.
    pub sent: u64,
    /// Bytes that the server sent.
    pub received: u64,
    /// Of them, those of the flight that its ServerHello begins; `None` where flights are not told apart.
    pub server_flight: Option<u64>,
}

impl Connected {
    /// The kind that was observed.
    pub fn kind(&self) -> Option<Kind> {
        self.observed.map(|observed| observed.kind)
    }
}

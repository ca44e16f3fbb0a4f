//! What a load is made with: an endpoint and an exchange for one connection after the other.

use reprise_connection::{Endpoint, Fault};
use reprise_model::Kind;
use reprise_wire::NamedGroup;

use crate::lean::{LeanClient, LeanShared};
use crate::options::{Options, Plan};

/// An endpoint that a load can be made with.
pub(crate) trait LoadClient: Endpoint<Plan = Plan, Shared: Send> + Default + Send {
    /// What the connections of one thread share, with so many sessions held.
    fn share(options: &Options, sessions: usize) -> Result<Self::Shared, Fault>;

    /// The groups that servers wanted last, by a HelloRetryRequest, each with the place of the name under which it was; none
    /// where the retry is answered.
    fn wanted_groups(_shared: &Self::Shared) -> Vec<(usize, NamedGroup)> {
        Vec::new()
    }
}

impl LoadClient for LeanClient {
    fn share(options: &Options, sessions: usize) -> Result<LeanShared, Fault> {
        let kinds: Vec<Kind> = options.mix.iter().map(|(kind, _)| *kind).collect();
        LeanShared::new(options.tls.clone(), sessions, &kinds).map_err(Fault::new)
    }

    fn wanted_groups(shared: &LeanShared) -> Vec<(usize, NamedGroup)> {
        shared.wanted_groups().collect()
    }
}

//! What a load is made with: an endpoint and an exchange for one connection after the other.

use std::sync::Arc;

use reprise_attempt::exchange::{Application, Http1, Negotiated};
use reprise_attempt::{Endpoint, Exchange, Fault};
use reprise_trace::Kind;
use reprise_wire::NamedGroup;

use crate::lean::{LeanClient, LeanShared};
use crate::options::{Options, Plan, Question};

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

/// An exchange that a load can be made with: one for each place, so that the usual one pays for no choice.
pub(crate) trait LoadExchange: Exchange + Send {
    /// One for the question of these options.
    fn asking(question: &Question) -> Self;
}

impl LoadExchange for Http1 {
    /// Nothing is asked of it where the question is another: see [`crate::run`].
    fn asking(question: &Question) -> Self {
        match question {
            Question::Http1 { request, is_head } => Self::new(Arc::clone(request), *is_head),
            Question::Negotiated(_) => Self::new(Arc::from([]), false),
        }
    }
}

impl LoadExchange for Negotiated {
    fn asking(question: &Question) -> Self {
        match question {
            Question::Http1 { .. } => Application::Silent.exchange(false),
            Question::Negotiated(application) => application.exchange(false),
        }
    }
}

//! Why a server does not resume sessions, concluded from what became of each connection.
//!
//! A hypothesis is a small model of what stands at the other end: how many nodes there are and how one is chosen, and what
//! each remembers of a session. It predicts, for an [`JudgedConnection`] with its whole history, the probability of each [`ConnectionOutcome`]. A
//! [`Judge`] weighs every attempt under every hypothesis, so a cause is concluded only against all its rivals. An
//! [`ServerExamination`] chooses the connections: each is the one that tells the leading hypotheses apart best for its price.
//!
//! Nothing here opens a socket, reads a clock or draws at random: an examination is asked for a [`NextConnection`] and told the answer.
//!
//! ```
//! use reprise_judge::{Answered, ConnectionAnswer, Budget, JudgedCause, ServerExamination, ConnectionOutcome};
//! use reprise_model::document::Confidence;
//!
//! // A server that gives sessions and accepts none.
//! let mut examination = ServerExamination::new(Budget { connections: 60, seconds: 40.0 });
//! let mut now = 0.0;
//! while let Some(request) = examination.next_request() {
//!     now += request.after.unwrap_or(0.03);
//!     let (outcome, answered) = (ConnectionOutcome::Full, Answered::Well);
//!     examination.answer(request, ConnectionAnswer { outcome, answered, key: Some("a"), now, sessions: 1 });
//! }
//! let conclusions = examination.conclusions();
//! assert_eq!((conclusions[0].cause, conclusions[0].confidence), (JudgedCause::NeverAccepted, Confidence::Certain));
//! ```
//!
//! `docs/decisions/0052-judge.md` says what is modelled, what is not, and what was measured.

mod answers;
mod attempt;
mod breaking;
mod cause;
mod choice;
mod conclusion;
#[cfg(test)]
mod enumeration;
mod examination;
mod experiment;
mod hypothesis;
mod judge;
mod memory;
mod nodes;
mod one_node;
mod prior;
mod restarts;
mod rotations;
mod route;
mod routed;
mod unknown;

pub use answers::Answered;
pub use attempt::{ConnectionOutcome, JudgedConnection, OfferVariation, OfferedSession, PriorOffers, SeenConnection};
pub use cause::{Causes, JudgedCause};
pub use conclusion::{Conclusion, LIKELY};
pub use examination::{Budget, ConnectionAnswer, NextConnection, ServerExamination};
pub use judge::Judge;

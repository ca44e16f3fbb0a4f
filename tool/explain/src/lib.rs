//! The critical path of a handshake that was measured: round trips and operations in the order of time, what they leave unexplained,
//! and what a change of key, group, round trip or kind would bring.
//!
//! No constant comes from the handshake that is explained: operations are measured one by one, now, and a round trip is `connect`. What a
//! change predicts keeps what the handshake that it is derived from leaves unexplained.

mod change;
mod error;
mod explain;
mod layout;
mod measured;
mod model_error;
mod plan;
mod seen;
mod server;

pub use change::Change;
pub use error::ExplainError;
pub use explain::explain;
pub use measured::Measured;
pub use plan::ExplainPlan;

//! How fast the operations are that handshakes and records are made of, in every library, with and without the CPU's help; and the floor:
//! the least that a handshake can cost on this machine.
//!
//! [`speed`] asks a child process for each stack to repeat each operation of the catalogue, in an order in which each precedes each equally
//! often.

mod catalogue;
mod check;
mod cost;
mod costs;
mod floor;
mod handshake;
mod handshakes;
mod job;
mod measure;
mod plan;
mod prediction;
mod primitive_cell;
mod rules;
mod signers;
mod tcp;

pub use catalogue::{Primitive, catalogue};
pub use costs::{Costs, measured_as};
pub use floor::least_of_server;
pub use handshake::{Handshake, Step, Work};
pub use handshakes::handshakes;
pub use measure::speed;
pub use plan::SpeedPlan;
pub use tcp::tcp;

use reprise_pairs::Question;

/// What a child process is asked of operations.
pub const QUESTIONS: &[Question] = &[
    Question::of::<primitive_cell::PreparePrimitive>(),
    Question::of::<primitive_cell::RunPrimitive>(),
    Question::of::<tcp::TcpConnections>(),
];

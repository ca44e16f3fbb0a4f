//! How fast the operations are that handshakes and records are made of, in every library, with and without the CPU's help; and the floor:
//! the least that a handshake can cost on this machine.
//!
//! [`speed`] asks a child process for each stack to repeat each operation of the catalogue, in an order in which each precedes each equally
//! often.

mod catalogue;
mod cell;
mod check;
mod costs;
mod floor;
mod handshake;
mod measure;
mod message;
mod prediction;
mod rules;

pub use catalogue::{Primitive, catalogue};
pub use measure::{SpeedPlan, speed};

pub(crate) use cell::{PrimitiveCell, tcp_connections};
pub(crate) use costs::{Costs, measured_as};
pub(crate) use floor::least_of_server;
pub(crate) use handshake::{Handshake, Step, Work};
pub(crate) use measure::{handshakes, tcp};
pub(crate) use message::{PrimitiveJob, PrimitiveReady};

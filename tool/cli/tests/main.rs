//! The program as its users run it: a module for each command, and for what all commands share.

mod board;
mod clock;
mod compare;
mod diagnose;
mod diagnose_client;
mod differential;
mod effects;
mod explain;
mod explain_a_result;
mod fleet;
mod habits;
mod hostile;
mod isolation;
mod layers;
mod load;
mod measure;
mod session_keys;
mod speed;
mod trace;
mod usage;

//! Loads of real servers and of servers that misbehave.

mod accounting;
mod dying_target;
mod endings;
mod groups;
mod hostile;
mod other_servers;
mod phases;
mod tickets_not_renewed;
mod verdict;
mod witness;

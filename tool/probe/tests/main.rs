//! Measurements of scripted servers in virtual time.

mod crossing;
mod observer;
mod turns;

//! Firmware on emulated boards and as the host runs it, and the clients of both.

mod board;
mod clients;
mod firmware;
mod portable;
mod sanitized;

//! `reprise diagnose --isolation`: servers that are strict and open at once, in different ways. What enters where its holder is refused
//! is found, and nothing else is accused.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod apache;
mod balanced;
mod caddy;
mod go;
mod haproxy;
mod nginx;
mod node;
mod own_sessions;
mod passive;
mod scene;
mod usage;

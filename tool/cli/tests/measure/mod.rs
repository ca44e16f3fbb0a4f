//! `reprise measure` as its users meet it: the binary against real servers, embedded ones, and bad ones.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod baseline;
mod certificates;
mod client_authentication;
mod client_keys;
mod clients;
mod conditions;
mod connection_reuse;
mod connections_that_ask_why;
mod diagnosed;
mod dns_over_tls;
mod dying_target;
mod early_data;
mod embedded_lab;
mod every_server;
mod http2;
#[cfg(unix)]
mod interruption;
mod key_log;
mod negotiation;
mod network;
mod outputs;
mod pacing;
mod pages;
mod pre_shared_keys;
mod protocols_unspoken;
mod proxies;
mod proxy_protocol;
mod refused_starttls;
mod requests;
mod resumption;
mod saved_sessions;
mod ticket_requests;
mod tickets_without_request;
mod unreachable;
mod watch;

//! `reprise compare` and `reprise stacks` as a user runs them, with plugins of the libraries that are installed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod built_in;
mod every_pair;
mod exercise;
mod gate;
mod hostile;
mod link;
mod loopback;
mod massif;
mod memory;
mod plugins;
mod post_quantum;
mod pregenerate;
mod psk;
mod resumed_run;
mod threads;
mod throughput;

use serde_json::Value;

fn strings<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap()).collect()
}

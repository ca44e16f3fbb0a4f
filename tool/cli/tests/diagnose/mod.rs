//! `reprise diagnose SERVER` against real servers that are misconfigured on purpose: the cause comes out by its name, and what is
//! printed to fix it fixes it. The table of them stands in the guide.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

/// A test for each, named by the cause and the software, and the list of them for the table.
macro_rules! examined {
    ($($name:ident: $broken:expr;)+) => {
        pub(crate) static ALL: &[&$crate::diagnose::broken::Broken] = &[$(&$broken),+];
        mod tests {
            use super::*;
            $(#[test] fn $name() { $broken.examine(); })+
        }
    };
}

mod answers;
mod apache;
mod applied;
mod balanced;
mod broken;
mod caddy;
mod compiled;
mod data_channel;
mod envoy;
mod gnutls_api;
mod haproxy;
mod nginx;
mod nodes;
mod offers;
mod openssl;
mod openssl_api;
mod postfix;
mod processor_time;
mod programs;
mod python;
mod services;
mod sessiond;
mod slow;
mod stunnel;
mod table;

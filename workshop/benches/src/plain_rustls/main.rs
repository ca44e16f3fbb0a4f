//! A loop over rustls as one would write it: client and server in one thread, each side's CPU on the thread's clock. What
//! `reprise compare` says of rustls is held against it; `plain/openssl.c` is the same over OpenSSL.
//!
//! `plain-rustls`, then on standard input lines as `reprise_benches::rows` writes them, answered by `CLIENT SERVER`: mean nanoseconds of
//! a connection, or of the transfer of 64 KiB over one. `seal BYTES COUNT` is answered by `0 NANOSECONDS`: what the cipher alone takes
//! for as much data in pieces of so many bytes.

#![allow(clippy::print_stdout)]

mod ahead;
mod clock;
mod configs;
mod ends;
mod known_chain;
mod row;
mod seal;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{Write, stdin, stdout};

use crate::ends::Ends;
use crate::row::Row;

/// Bytes of one transfer, of whole records at most.
const TRANSFER: usize = 1 << 16;

fn main() -> anyhow::Result<()> {
    let mut prepared = HashMap::new();
    for line in stdin().lines() {
        let line = line?;
        let [client, server] = match line.strip_prefix("seal ") {
            Some(asked) => [0, seal::seal(asked)?],
            None => {
                let (row, count) = Row::parse(&line)?;
                let ends = match prepared.entry(row) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let ends = Ends::prepared(place.key())?;
                        place.insert(ends)
                    }
                };
                ends.measure(count)?
            }
        };
        println!("{client} {server}");
        stdout().flush()?;
    }
    Ok(())
}

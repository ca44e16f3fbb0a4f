//! Seal and open of one ticket, beside rustls' own ticketer, in turns, by processor time; medians. `-- --check` fails above the bound.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, ensure};
use reprise_session::ticket::{Limits, SealPurpose, Times, open, seal};
use reprise_session::{KeyRing, PolicyBuilder, Rotation, SystemRandom};
use reprise_session_benches::Used;
use rustls::crypto::aws_lc_rs::Ticketer;
use rustls_pki_types::UnixTime;

const ROUNDS: usize = 15;
const TICKETS: u32 = 20_000;
/// This library's time as a part of rustls'.
const BOUND: f64 = 1.5;

fn main() -> anyhow::Result<()> {
    let now = UnixTime::now();
    let ring = KeyRing::generate(&Rotation::new(Duration::from_secs(3600))?, now, &SystemRandom)?;
    let policy = PolicyBuilder::new().build();
    let limits = Limits::new().lifetime(Duration::from_secs(3600)).chain(Duration::from_secs(86_400));
    let times = Times { first_authentication: now, issued: now };
    let theirs = Ticketer::new()?;
    // A TLS 1.3 session without and with a client certificate.
    for length in [110, 700] {
        let state = vec![7; length];
        let (mut our_rounds, mut their_rounds) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            our_rounds.push(time(|| {
                let ticket =
                    seal(&ring, &policy, SealPurpose::Ticket, times, &state, &SystemRandom).context("not sealed")?;
                black_box(open(&ring, &policy, SealPurpose::Ticket, &limits, now, &ticket)?);
                Ok(())
            })?);
            their_rounds.push(time(|| {
                let ticket = theirs.encrypt(&state).context("not sealed")?;
                black_box(theirs.decrypt(&ticket).context("not opened")?);
                Ok(())
            })?);
        }
        let (ours, theirs) = (median(our_rounds), median(their_rounds));
        println!(
            "seal and open, {length} bytes: {ours:6.0} ns, rustls' ticketer {theirs:6.0} ns, ratio {:.2}",
            ours / theirs
        );
        if std::env::args().any(|argument| argument == "--check") {
            ensure!(ours / theirs <= BOUND, "above {BOUND}");
        }
    }
    Ok(())
}

/// Nanoseconds each.
fn time(mut once: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let begun = Used::so_far()?;
    for _ in 0..TICKETS {
        once()?;
    }
    Ok(Used::so_far()?.since(begun).cpu.as_nanos() as f64 / f64::from(TICKETS))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

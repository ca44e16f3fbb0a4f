//! The links that handshakes are replayed over: `--rtt`, `--bandwidth`, `--loss`, `--initcwnd`.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use reprise_compare::{LinkPlan, Scenario};
use reprise_model::document::{CompareLink, CompareOver};
use reprise_pairs::Case;

use crate::values;

/// A link that is not there.
#[derive(Args, Clone)]
#[command(next_help_heading = "Virtual link")]
pub(crate) struct LinkArgs {
    /// Replay each handshake over TCP in virtual time, at these round-trip times: a range as 0..200ms, or a list as 1ms,50ms
    #[arg(long, value_name = "RANGE", value_parser = round_trips)]
    rtt: Option<values::List<u64>>,
    /// Bandwidths of the link, as 10mbit, 1gbit, or 64kbit; unlimited by default
    #[arg(long, value_name = "RATES", value_delimiter = ',', value_parser = bandwidth, requires = "rtt")]
    bandwidth: Vec<u64>,
    /// The share of packets that are lost, as 1%; mean, 95th and 99th percentile are shown
    #[arg(long, value_name = "PERCENT", value_parser = loss, requires = "rtt")]
    loss: Option<f64>,
    /// Segments that a side may send at first, as 'ip route … initcwnd N' sets it: several, to see which chains need a round trip more
    #[arg(long, value_name = "SEGMENTS", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=1000), requires = "rtt")]
    initcwnd: Vec<u64>,
}

/// What Linux begins with (RFC 6928).
const INITCWND: u64 = 10;

/// The round-trip times of a range, in milliseconds, beside its ends.
const STEPS_MS: [f64; 7] = [0.5, 2.0, 10.0, 50.0, 100.0, 200.0, 500.0];

/// Of more links no table can be read.
const MOST_LINKS: usize = 200;

impl LinkArgs {
    /// Every round-trip time by every bandwidth and initial window; `None` where there is no `--rtt`.
    pub(super) fn plan(
        &self,
        scenario: &Scenario,
        cases: &[Case],
        over: CompareOver,
        seed: u64,
    ) -> Result<Option<LinkPlan>> {
        let Some(values::List(rtts)) = &self.rtt else { return Ok(None) };
        ensure!(over == CompareOver::Memory, "'--rtt' replays what was recorded over memory: remove '--over loopback'");
        let has_handshakes = !scenario.weighs() && cases.iter().all(|case| case.bulk.is_none());
        ensure!(has_handshakes, "'{}' measures no handshakes: --rtt has nothing to replay", scenario.name);
        let bandwidths: Vec<Option<u64>> =
            if self.bandwidth.is_empty() { vec![None] } else { self.bandwidth.iter().copied().map(Some).collect() };
        let windows = if self.initcwnd.is_empty() { &[INITCWND][..] } else { &self.initcwnd };
        let loss = self.loss.unwrap_or_default();
        let mut links = Vec::new();
        for &initcwnd in windows {
            for &bandwidth in &bandwidths {
                links.extend(rtts.iter().map(|&rtt_ns| CompareLink { rtt_ns, bandwidth, loss, initcwnd }));
            }
        }
        ensure!(links.len() <= MOST_LINKS, "these are {} links, more than {MOST_LINKS}: name fewer", links.len());
        Ok(Some(LinkPlan { links, seed }))
    }
}

/// A range or a list, in nanoseconds.
fn round_trips(text: &str) -> Result<values::List<u64>, String> {
    let one = |text: &str| match text.ends_with(|c: char| c.is_ascii_alphabetic()) || text == "0" {
        true => values::parse_wait(text).map(nanoseconds),
        false => Err(format!("invalid round-trip time '{text}': use 0, 0.5ms, 80ms or 1s")),
    };
    let Some((from, to)) = text.split_once("..") else {
        return text.split(',').map(one).collect::<Result<_, _>>().map(values::List);
    };
    // '0..200ms': the unit is that of the end.
    let unit = to.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let has_unit = from.ends_with(|c: char| c.is_ascii_alphabetic());
    let from = one(&if has_unit { from.to_owned() } else { format!("{from}{unit}") })?;
    let to = one(to)?;
    if from >= to {
        return Err(format!("invalid range '{text}': its end must be above its begin"));
    }
    let steps = STEPS_MS.iter().map(|ms| (ms * 1e6) as u64).filter(|step| from < *step && *step < to);
    Ok(values::List([from].into_iter().chain(steps).chain([to]).collect()))
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// Bits per second, with the units of `tc`.
fn bandwidth(text: &str) -> Result<u64, String> {
    let complain = || format!("invalid bandwidth '{text}': use 64kbit, 10mbit or 1gbit; at least 1kbit, at most 1000gbit");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(complain)?;
    let (number, unit) = text.split_at(digits);
    let bits = match unit.to_ascii_lowercase().as_str() {
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        _ => return Err(complain()),
    };
    let rate = number.parse::<f64>().map_err(|_| complain())? * bits;
    if (1e3..=1e12).contains(&rate) { Ok(rate as u64) } else { Err(complain()) }
}

/// A share.
fn loss(text: &str) -> Result<f64, String> {
    let complain = || format!("invalid loss '{text}': use 1% or 0.5%; at most 50%");
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok()).ok_or_else(complain)?;
    if (0.0..=50.0).contains(&percent) { Ok(percent / 100.0) } else { Err(complain()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_steps_and_the_unit_of_its_end() {
        let ms = |text: &str| -> Vec<f64> { round_trips(text).unwrap().0.into_iter().map(|ns| ns as f64 / 1e6).collect() };
        assert_eq!(ms("0..10ms"), [0.0, 0.5, 2.0, 10.0]);
        assert_eq!(ms("40..150ms"), [40.0, 50.0, 100.0, 150.0]);
        assert_eq!(ms("1ms,0.05s"), [1.0, 50.0]);
        for wrong in ["", "10ms..1ms", "0..", "1..2..3", "5 ms", "-1ms", "0..2h", "5", "1,5"] {
            assert!(round_trips(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bandwidth_and_loss_have_units() {
        assert_eq!(bandwidth("64kbit"), Ok(64_000));
        assert_eq!(bandwidth("2.5Mbit"), Ok(2_500_000));
        assert!(["10", "mbit", "10mb", "0kbit", "NaNmbit"].map(bandwidth).iter().all(Result::is_err));
        assert_eq!(loss("1%"), Ok(0.01));
        assert!(["1", "-1%", "60%", "NaN%", "%"].map(loss).iter().all(Result::is_err));
    }
}

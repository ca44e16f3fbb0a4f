//! The values of flags that `load` alone has.

use std::net::IpAddr;
use std::time::Duration;

use reprise_load::{Stage, WeightedName};
use reprise_model::Kind;
use reprise_wire::NamedGroup;

use crate::values::{self, List};

pub(super) fn parse_step(text: &str) -> Result<(f64, Duration), String> {
    let complain = || format!("invalid latency limit '{text}': use QUANTILE=DURATION, such as p99=20ms");
    let (quantile, latency) = text.split_once('=').ok_or_else(complain)?;
    let digits = quantile.strip_prefix('p').ok_or_else(complain)?;
    let percent: f64 = digits.parse().map_err(|_| complain())?;
    // Not a number is neither.
    if percent > 0.0 && percent <= 100.0 {
        Ok(((percent * 1e6).round() / 1e8, values::parse_duration(latency)?))
    } else {
        Err(complain())
    }
}

pub(super) fn parse_stage(text: &str) -> Result<Stage, String> {
    let complain = || format!("invalid stage '{text}': use DURATION:RATE, such as 30s:500");
    let (duration, rate) = text.split_once(':').ok_or_else(complain)?;
    Ok(Stage { duration: values::parse_long_duration(duration)?, rate: values::parse_rate(rate)? })
}

/// Shares of connections, in per cent and in ascending order.
pub(super) fn parse_sweep(text: &str) -> Result<List<u32>, String> {
    let complain = || format!("invalid sweep '{text}': use resumed=0..100, or resumed=0,50,100; in per cent");
    let share = |text: &str| text.parse::<u32>().ok().filter(|share| *share <= 100).ok_or_else(complain);
    let shares = text.strip_prefix("resumed=").ok_or_else(complain)?;
    let mut shares: Vec<u32> = match shares.split_once("..") {
        Some((first, last)) => {
            let (first, last) = (share(first)?, share(last)?);
            let distance = last.checked_sub(first).filter(|distance| *distance > 0).ok_or_else(complain)?;
            (0..=4).map(|quarter| first + distance * quarter / 4).collect()
        }
        None => shares.split(',').map(share).collect::<Result<_, _>>()?,
    };
    shares.sort_unstable();
    shares.dedup();
    Ok(List(shares))
}

/// A share in per cent, as one of 1.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
    share.map(|share| share / 100.0).ok_or_else(|| format!("invalid share '{text}': use per cent, 0 to 100"))
}

/// Processors; a container may have a part of one.
pub(super) fn parse_cores(text: &str) -> Result<f64, String> {
    let cores = text.parse::<f64>().ok().filter(|cores| (0.01..=100_000.0).contains(cores));
    cores.ok_or_else(|| format!("invalid number of processors '{text}': use 8, or 0.5"))
}

fn parse_weight(text: &str) -> Result<(&str, u32), String> {
    let (name, weight) = text.split_once('=').unwrap_or((text, "1"));
    let weight = weight.parse().ok().filter(|weight| (1..=1_000_000).contains(weight));
    weight.map(|weight| (name, weight)).ok_or_else(|| format!("invalid weight of '{name}': use a number from 1 to 1000000"))
}

/// Kinds by weight.
pub(super) fn parse_mix(text: &str) -> Result<List<(Kind, u32)>, String> {
    let mut mix: Vec<(Kind, u32)> = Vec::new();
    for part in text.split(',') {
        let (name, weight) = parse_weight(part)?;
        let kind = match name.parse() {
            Ok(kind @ (Kind::Full | Kind::Id | Kind::Ticket)) => kind,
            Ok(other) => {
                return Err(format!(
                    "load makes no connections of the kind {other}, only full, id and ticket: 'reprise measure --kinds {other}' \
                     measures them"
                ));
            }
            Err(_) => return Err(format!("unknown kind '{name}': use full, id or ticket")),
        };
        if mix.iter().any(|(known, _)| *known == kind) {
            return Err(format!("{kind} is listed twice"));
        }
        mix.push((kind, weight));
    }
    Ok(List(mix))
}

/// Names by weight; an address is not sent.
pub(super) fn parse_names(text: &str) -> Result<List<WeightedName>, String> {
    let parse = |part| {
        let (name, weight) = parse_weight(part)?;
        let name = values::parse_server_name(name)?;
        Ok(WeightedName { name: name.parse::<IpAddr>().is_err().then_some(name), weight })
    };
    text.split(',').map(parse).collect::<Result<_, String>>().map(List)
}

pub(super) fn parse_groups(text: &str) -> Result<List<NamedGroup>, String> {
    const SPOKEN: [NamedGroup; 4] =
        [NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1, NamedGroup::X25519MLKEM768];
    values::parse_groups_of(text, &SPOKEN)
}

/// Processors by their numbers, in the order in which threads take them.
pub(super) fn parse_processors(text: &str) -> Result<List<usize>, String> {
    let number = |text: &str| {
        let number = text.parse::<usize>().ok().filter(|number| *number < 4096);
        number.ok_or_else(|| format!("invalid processor list '{text}': use 1,3 or 2-5"))
    };
    let mut processors = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((first, last)) => processors.extend(number(first)?..=number(last)?),
            None => processors.push(number(part)?),
        }
    }
    if processors.is_empty() { Err(format!("empty processor list '{text}'")) } else { Ok(List(processors)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_has_weights() {
        assert_eq!(parse_mix("full=70,id=10,ticket=20").unwrap().0, [(Kind::Full, 70), (Kind::Id, 10), (Kind::Ticket, 20)]);
        assert_eq!(parse_mix("ticket").unwrap().0, [(Kind::Ticket, 1)]);
        for wrong in ["", "full=0", "full=x", "full,full", "psk", "early", "full=-1"] {
            assert!(parse_mix(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_kind_that_no_load_makes_is_refused_with_the_others() {
        for wrong in ["early", "psk=2", "0rtt=1", "full=1,early-data"] {
            let said = parse_mix(wrong).unwrap_err();
            assert!(said.contains("full, id") && said.contains("ticket"), "{said}");
            assert!(!said.contains("psk or early"), "{said}");
        }
    }

    #[test]
    fn names_have_weights_and_addresses_are_not_sent() {
        let names = parse_names("a.example=3,127.0.0.1").unwrap().0;
        let name = |name: Option<&str>, weight| WeightedName { name: name.map(str::to_owned), weight };
        assert_eq!(names, [name(Some("a.example"), 3), name(None, 1)]);
    }

    #[test]
    fn a_step_is_a_quantile_and_a_latency() {
        assert_eq!(parse_step("p99.9=20ms"), Ok((0.999, Duration::from_millis(20))));
        for wrong in ["p99", "99=1s", "p0=1s", "p101=1s", "p99=0s", "pNaN=1s"] {
            assert!(parse_step(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_stage_is_a_duration_and_a_rate() {
        assert_eq!(parse_stage("1m:0.5"), Ok(Stage { duration: Duration::from_secs(60), rate: 0.5 }));
        for wrong in ["", "30s", "500:30s", "0s:500", "30s:0", "30s:-1", "30s:500:1", ":500"] {
            assert!(parse_stage(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_sweep_has_shares_in_order() {
        assert_eq!(parse_sweep("resumed=0..100").unwrap().0, [0, 25, 50, 75, 100]);
        assert_eq!(parse_sweep("resumed=100,0,50,0").unwrap().0, [0, 50, 100]);
        assert_eq!(parse_sweep("resumed=99..100").unwrap().0, [99, 100]);
        for wrong in ["", "0..100", "resumed=", "resumed=101", "resumed=5..5", "resumed=50..0", "resumed=0...9", "resumed=x"]
        {
            assert!(parse_sweep(wrong).is_err(), "{wrong}");
        }
        assert_eq!((parse_share("80%"), parse_share("80")), (Ok(0.8), Ok(0.8)));
        assert!(
            ["-1", "101", "NaN", ""]
                .into_iter()
                .all(|wrong| parse_share(wrong).is_err() && parse_cores(wrong).is_err() || wrong == "101")
        );
    }

    #[test]
    fn processors_are_lists_and_ranges() {
        assert_eq!(parse_processors("1,3-5").unwrap().0, [1, 3, 4, 5]);
        for wrong in ["", "x", "5-3", "1,,2", "4096"] {
            assert!(parse_processors(wrong).is_err(), "{wrong}");
        }
    }
}

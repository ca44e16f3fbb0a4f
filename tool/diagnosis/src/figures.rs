//! Figures as they stand in a sentence. Tables have their own, aligned, in `reprise-report`.

use reprise_model::{Kind, Nanos};

/// A ratio, as precise as a reader can use it: `1.07`, `5.6`, `26`.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if r < 1.995 => format!("{r:.2}"),
        r if r < 19.95 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

/// The same, of what it is at least.
pub fn ratio_rounded_down(low: f64) -> String {
    let decimals = match low {
        low if low < 2.0 => 100.0,
        low if low < 20.0 => 10.0,
        _ => 1.0,
    };
    ratio((low * decimals).floor() / decimals)
}

/// A ratio and its interval, in decimals that show how wide it is: `("3.28", "3.24–3.32")`. Below ten it keeps a
/// decimal however wide that is: 1.4 is not 1.
pub fn ratio_and_interval(ratio: f64, [low, high]: [f64; 2]) -> (String, String) {
    let decimals = match (high - low) / 2.0 {
        half if half >= 0.5 && low >= 9.95 => 0,
        half if half >= 0.05 => 1,
        _ => 2,
    };
    (format!("{ratio:.decimals$}"), format!("{low:.decimals$}–{high:.decimals$}"))
}

/// A share of one, in per cent: `82 %`.
pub fn percent(share: f64) -> String {
    percent_to(0, share)
}

/// With so many decimals, or with as many as it takes: what is neither none nor all is never called so, `99.6 %`.
pub fn percent_to(decimals: usize, share: f64) -> String {
    let shown = |decimals: usize| format!("{:.decimals$}", share * 100.0);
    let is_called_none_or_all = |decimals: &usize| {
        let rounded = shown(*decimals).parse().unwrap_or(share * 100.0);
        [0.0, 1.0].iter().any(|whole| share != *whole && rounded == whole * 100.0)
    };
    let decimals = (decimals..MOST_DECIMALS).find(|decimals| !is_called_none_or_all(decimals)).unwrap_or(MOST_DECIMALS);
    format!("{} %", shown(decimals))
}

/// No count is so large that it takes more.
const MOST_DECIMALS: usize = 9;

/// Spans in the unit and with the decimals of the largest, without the unit; and the unit.
pub fn in_one_unit(spans_ns: &[u64]) -> (Vec<String>, &'static str) {
    let largest = spans_ns.iter().copied().max().unwrap_or_default();
    let (per_unit, unit) = match largest {
        ns if ns < 1_000_000 => (1e3, "µs"),
        ns if ns < 10_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let decimals = match largest as f64 / per_unit {
        largest if largest < 10.0 => 2,
        largest if largest < 100.0 => 1,
        _ => 0,
    };
    (spans_ns.iter().map(|ns| format!("{:.decimals$}", *ns as f64 / per_unit)).collect(), unit)
}

/// Two spans in one unit, which the second carries: `("3.42", "0.61 ms")`.
pub fn from_to(from_ns: u64, to_ns: u64) -> (String, String) {
    let (mut shown, unit) = in_one_unit(&[from_ns, to_ns]);
    let to = shown.pop().unwrap_or_default();
    (shown.pop().unwrap_or_default(), format!("{to} {unit}"))
}

/// One span, `3.42 ms`.
pub fn span(ns: u64) -> String {
    Nanos(ns).to_string()
}

/// How long ago something was, in the unit that people would use.
pub fn duration(ns: u64) -> String {
    match ns / 1_000_000_000 {
        0 => "less than a second".to_owned(),
        1 => "a second".to_owned(),
        seconds @ 2..120 => format!("{seconds} seconds"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} hours", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// What a session is resumed by.
pub fn means(kind: Kind) -> &'static str {
    match kind {
        Kind::Full => "full handshake",
        Kind::Id => "session ID",
        Kind::Ticket => "ticket",
        Kind::Psk => "external PSK",
        Kind::Early => "ticket with early data",
    }
}

/// "1 connection", "100 connections".
pub fn connections(count: u64) -> String {
    if count == 1 { "1 connection".to_owned() } else { format!("{count} connections") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_near_one_is_shown_more_closely_than_a_large_one() {
        assert_eq!([0.997, 1.994, 5.61, 19.94, 26.435].map(ratio), ["1.00", "1.99", "5.6", "19.9", "26"]);
    }

    #[test]
    fn an_interval_is_as_precise_as_it_is_narrow() {
        assert_eq!(ratio_and_interval(3.28, [3.24, 3.32]), ("3.28".into(), "3.24–3.32".into()));
        assert_eq!(ratio_and_interval(5.61, [5.50, 5.72]), ("5.6".into(), "5.5–5.7".into()));
        assert_eq!(ratio_and_interval(26.4, [25.1, 27.6]), ("26".into(), "25–28".into()));
    }

    #[test]
    fn a_wide_interval_near_one_tells_its_ends_apart() {
        assert_eq!(ratio_and_interval(1.27, [0.45, 1.45]), ("1.3".into(), "0.5–1.4".into()));
        assert_eq!(ratio_and_interval(2.39, [1.61, 6.87]), ("2.4".into(), "1.6–6.9".into()));
    }

    #[test]
    fn two_spans_share_the_unit_of_the_larger() {
        let pair = |from, to| from_to(from, to);
        assert_eq!(pair(3_420_000, 611_000), ("3.42".into(), "0.61 ms".into()));
        assert_eq!(pair(611_400, 42_000), ("611".into(), "42 µs".into()));
        assert_eq!(pair(1_846_000_000, 69_900_000), ("1846".into(), "70 ms".into()));
        assert_eq!(pair(84_000, 91_300_000), ("0.1".into(), "91.3 ms".into()));
    }

    #[test]
    fn a_share_is_a_percentage() {
        assert_eq!(percent(0.354), "35 %");
    }

    #[test]
    fn a_share_is_none_or_all_only_where_it_is() {
        assert_eq!([0.0, 1.0].map(percent), ["0 %", "100 %"]);
        assert_eq!(
            [2989.0 / 3000.0, 29_999.0 / 30_000.0, 0.004, 0.000_04].map(percent),
            ["99.6 %", "99.997 %", "0.4 %", "0.004 %"]
        );
        assert_eq!([0.994, 0.006].map(percent), ["99 %", "1 %"]);
        assert_eq!([1.0, 0.9991, 0.999_91].map(|share| percent_to(1, share)), ["100.0 %", "99.9 %", "99.99 %"]);
    }
}

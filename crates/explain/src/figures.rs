//! Figures as they stand in a sentence. Tables have their own, aligned, in `reprise-report`.

use reprise_trace::{Kind, Nanos};

/// A ratio, as precise as a reader can use it: `1.07`, `5.6`, `26`.
pub(crate) fn ratio(ratio: f64) -> String {
    match ratio {
        r if r < 1.995 => format!("{r:.2}"),
        r if r < 19.95 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

/// An interval of a ratio, `5.5–5.7`.
pub(crate) fn ratio_interval([low, high]: [f64; 2]) -> String {
    format!("{}–{}", ratio(low), ratio(high))
}

/// A share of one, in per cent: `82 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Two spans in the unit of the larger one, which alone carries it if the second is the larger: `("3.42", "0.61 ms")`.
pub(crate) fn from_to(from_ns: u64, to_ns: u64) -> (String, String) {
    let (per_unit, unit) = match from_ns.max(to_ns) {
        ns if ns < 1_000_000 => (1e3, "µs"),
        ns if ns < 10_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let decimals = match from_ns.max(to_ns) as f64 / per_unit {
        largest if largest < 10.0 => 2,
        largest if largest < 100.0 => 1,
        _ => 0,
    };
    let shown = |ns: u64| format!("{:.decimals$}", ns as f64 / per_unit);
    (shown(from_ns), format!("{} {unit}", shown(to_ns)))
}

/// One span, `3.42 ms`.
pub(crate) fn span(ns: u64) -> String {
    Nanos(ns).to_string()
}

/// What a session is resumed by.
pub(crate) fn means(kind: Kind) -> &'static str {
    match kind {
        Kind::Full => "full handshake",
        Kind::Id => "session ID",
        Kind::Ticket => "ticket",
        Kind::Psk => "external PSK",
        Kind::Early => "ticket with early data",
    }
}

/// "1 connection", "100 connections".
pub(crate) fn connections(count: u64) -> String {
    if count == 1 { "1 connection".to_owned() } else { format!("{count} connections") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_near_one_is_shown_more_closely_than_a_large_one() {
        assert_eq!([0.997, 1.994, 5.61, 19.94, 26.435].map(ratio), ["1.00", "1.99", "5.6", "19.9", "26"]);
        assert_eq!(ratio_interval([0.98, 1.02]), "0.98–1.02");
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
}

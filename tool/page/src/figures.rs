//! Figures in tables: one unit for a table, one number of decimals for a column, decimal points under one another.

use reprise_model::document::Statistics;

/// A figure that was formatted and not yet aligned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figure {
    /// `3.42`; a minus sign is U+2212.
    value: String,
    /// `±0.02`, or nothing.
    spread: String,
    /// Whether it is a gain or is none, whatever its row is.
    pub is_gain: Option<bool>,
}

impl Figure {
    /// Where nothing is aligned with it.
    pub fn text(&self) -> String {
        format!("{} {}", self.value, self.spread).trim_end().to_owned()
    }

    /// Without its spread.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// A gain, or none: what is worse is not shown as one in the row of what is better.
    pub fn gained(self, is_gain: bool) -> Self {
        Self { is_gain: Some(is_gain), ..self }
    }

    /// A figure as it stands.
    pub fn plain(value: impl Into<String>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }

    /// A count, `100`.
    pub fn count(count: u64) -> Self {
        Self::plain(count.to_string())
    }

    /// A difference of counts, `3874` or `−12`.
    pub fn difference(difference: i64) -> Self {
        Self::plain(with_sign(difference as f64, 0))
    }

    /// A large value with its interval, `9881 ±12`.
    pub fn rounded(median: f64, ci95: Option<[f64; 2]>) -> Self {
        let spread = ci95.map(|[low, high]| format!("±{:.0}", (high - low) / 2.0)).unwrap_or_default();
        Self { value: with_sign(median, 0), spread, is_gain: None }
    }

    /// A ratio with its interval, `5.61 ±0.06`.
    pub fn ratio(median: f64, ci95: Option<[f64; 2]>) -> Self {
        let decimals = match median {
            // Far below 1 two decimals would say nothing.
            ..0.0995 => 3,
            ..99.995 => 2,
            _ => 1,
        };
        let spread = ci95.map(|[low, high]| format!("±{:.decimals$}", (high - low) / 2.0)).unwrap_or_default();
        Self { value: with_sign(median, decimals), spread, is_gain: None }
    }

    /// A change of what is now `ratio` times as much, in per cent and with both ends of its interval, which is seldom
    /// symmetrical: `+4.1 (+3.5 to +4.7)`.
    pub fn change(ratio: f64, ci95: Option<[f64; 2]>) -> Self {
        let decimals = if (ratio - 1.0).abs() < 0.0995 { 1 } else { 0 };
        let percent = |ratio: f64| {
            let shown = with_sign((ratio - 1.0) * 100.0, decimals);
            let is_more = ratio > 1.0 && shown.contains(|digit: char| ('1'..='9').contains(&digit));
            if is_more { format!("+{shown}") } else { shown }
        };
        let spread = ci95.map(|[low, high]| format!("({} to {})", percent(low), percent(high))).unwrap_or_default();
        Self { value: percent(ratio), spread, is_gain: None }
    }

    /// Bytes in thousands, `47.3 ±0.2`; of a spread that would read as nothing, nothing.
    pub fn kilobytes(bytes: u64, ci95: Option<[u64; 2]>) -> Self {
        let half = ci95.map_or(0, |[low, high]| high.saturating_sub(low) / 2);
        let spread = if half < 50 { String::new() } else { format!("±{}", with_sign(half as f64 / 1e3, 1)) };
        Self { value: with_sign(bytes as f64 / 1e3, 1), spread, is_gain: None }
    }

    /// A time that was taken once, `812` or `48.61`.
    pub fn time(unit: Unit, ns: i64) -> Self {
        Self::plain(unit.shown(ns))
    }

    /// A share in per cent, `82`.
    pub fn percent(share: f64) -> Self {
        Self::plain(with_sign(share * 100.0, 0))
    }
}

/// The unit of all times in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
}

impl Unit {
    /// Microseconds where no time needs more than four digits in them.
    pub fn of_all(medians_ns: impl IntoIterator<Item = u64>) -> Self {
        if medians_ns.into_iter().all(|ns| ns < 10_000_000) { Self::Micros } else { Self::Millis }
    }

    /// The unit's symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Millis => "ms",
        }
    }

    /// A time that was taken once: what is below a microsecond is not worth telling.
    pub fn shown(self, ns: i64) -> String {
        let decimals = match self {
            Self::Micros => 0,
            Self::Millis => 2,
        };
        with_sign(ns as f64 / self.nanos(), decimals)
    }

    /// How many nanoseconds it is.
    pub fn nanos(self) -> f64 {
        match self {
            Self::Micros => 1e3,
            Self::Millis => 1e6,
        }
    }
}

/// How the times of one column are shown.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    unit: Unit,
    decimals: usize,
}

impl Scale {
    /// Three significant figures of the column's largest median; more, up to three decimals, where its smallest interval
    /// would otherwise look like nothing.
    pub fn of_column<'a>(unit: Unit, column: impl IntoIterator<Item = &'a Statistics>) -> Self {
        let (mut largest, mut smallest_half) = (0.0_f64, f64::INFINITY);
        for statistics in column {
            largest = largest.max(statistics.median_ns as f64 / unit.nanos());
            smallest_half = half_interval(statistics).map_or(smallest_half, |half| smallest_half.min(half / unit.nanos()));
        }
        let for_medians = match largest {
            // A phase that takes no time at all, as `receive` does where the response comes whole.
            0.0 => 0,
            n if n < 1.0 => 3,
            n if n < 10.0 => 2,
            n if n < 100.0 => 1,
            _ => 0,
        };
        let visible = |decimals: &usize| largest == 0.0 || smallest_half >= 0.5 * 0.1_f64.powi(*decimals as i32);
        let decimals = (for_medians..for_medians + 2).find(visible).unwrap_or(for_medians);
        Self { unit, decimals: decimals.min(3) }
    }

    /// A median and half its interval, `3.42 ±0.02`.
    pub fn median(self, statistics: &Statistics) -> Figure {
        let decimals = self.decimals;
        if statistics.max_ns == 0 {
            return Figure::plain(with_sign(0.0, decimals));
        }
        let spread = half_interval(statistics).map(|half| format!("±{:.decimals$}", half / self.unit.nanos()));
        Figure {
            value: with_sign(statistics.median_ns as f64 / self.unit.nanos(), decimals),
            spread: spread.unwrap_or_default(),
            is_gain: None,
        }
    }

    /// A difference of medians, `2.81` or `−0.02`.
    pub fn difference(self, ns: i64) -> Figure {
        Figure::plain(with_sign(ns as f64 / self.unit.nanos(), self.decimals))
    }
}

/// The figures of one column as texts of one width: digits end under one another, and so do decimal points, as times of a
/// column have the same decimals and so have its ratios; then spreads.
pub fn align(column: &[Option<Figure>]) -> Vec<String> {
    let widest = |part: fn(&Figure) -> &str| column.iter().flatten().map(|it| part(it).chars().count()).max().unwrap_or(0);
    let (value, spread) = (widest(|it| &it.value), widest(|it| &it.spread));
    let gap = usize::from(spread > 0);
    let line = |it: &Figure| format!("{:>value$}{:gap$}{:<spread$}", it.value, "", it.spread);
    column.iter().map(|figure| figure.as_ref().map(line).unwrap_or_default()).collect()
}

fn half_interval(statistics: &Statistics) -> Option<f64> {
    statistics.ci95_ns.map(|[low, high]| high.saturating_sub(low) as f64 / 2.0)
}

/// A count as what may be less than none.
pub fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// With a true minus sign, and none before a zero.
fn with_sign(value: f64, decimals: usize) -> String {
    let magnitude = format!("{:.decimals$}", value.abs());
    let is_zero = !magnitude.contains(|digit: char| digit.is_ascii_digit() && digit != '0');
    if value < 0.0 && !is_zero { format!("−{magnitude}") } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(median_ns: u64, half: u64) -> Statistics {
        Statistics {
            median_ns,
            ci95_ns: Some([median_ns - half, median_ns + half]),
            mean_ns: median_ns,
            min_ns: median_ns,
            max_ns: median_ns,
            p90_ns: median_ns,
            p95_ns: Some(median_ns),
            p99_ns: median_ns,
        }
    }

    fn shown(unit: Unit, median_ns: u64, half: u64) -> String {
        let statistics = statistics(median_ns, half);
        align(&[Some(Scale::of_column(unit, [&statistics]).median(&statistics))]).remove(0)
    }

    #[test]
    fn a_table_in_which_four_digits_suffice_is_in_microseconds() {
        assert_eq!(Unit::of_all([42_000, 9_999_999]), Unit::Micros);
        assert_eq!(Unit::of_all([42_000, 10_000_000]), Unit::Millis);
    }

    #[test]
    fn a_median_keeps_three_figures_and_its_interval_stays_visible() {
        assert_eq!(shown(Unit::Millis, 3_420_000, 20_000), "3.42 ±0.02");
        assert_eq!(shown(Unit::Millis, 48_612_000, 310_000), "48.6 ±0.3");
        assert_eq!(shown(Unit::Millis, 1_846_000_000, 2_100_000), "1846 ±2");
        assert_eq!(shown(Unit::Millis, 1_846_000_000, 210_000), "1846.0 ±0.2");
        assert_eq!(shown(Unit::Micros, 611_400, 3_200), "611 ±3");
        assert_eq!(shown(Unit::Micros, 42_100, 40), "42.10 ±0.04");
    }

    #[test]
    fn a_single_sample_has_no_spread() {
        let single = Statistics { ci95_ns: None, ..statistics(3_420_000, 0) };
        assert_eq!(align(&[Some(Scale::of_column(Unit::Millis, [&single]).median(&single))]), ["3.42"]);
    }

    #[test]
    fn digits_and_spreads_stand_under_one_another() {
        let scale = Scale { unit: Unit::Millis, decimals: 2 };
        let column = [
            Some(scale.median(&statistics(13_420_000, 20_000))),
            None,
            Some(scale.difference(-12_000)),
            Some(Figure::ratio(5.612, Some([5.55, 5.67]))),
            Some(Figure::ratio(26.437, None)),
        ];
        let expected = ["13.42 ±0.02", "", "−0.01      ", " 5.61 ±0.06", "26.44      "];
        assert_eq!(align(&column), expected);
    }

    #[test]
    fn a_difference_that_rounds_to_nothing_has_no_sign() {
        let scale = Scale { unit: Unit::Millis, decimals: 2 };
        assert_eq!(scale.difference(-4_000), scale.difference(0));
        assert_eq!(Figure::difference(-12).value, "−12");
        assert_eq!(Figure::percent(-0.031).value, "−3");
    }

    #[test]
    fn a_change_has_a_sign_unless_it_is_none() {
        let shown = |ratio, ci95| align(&[Some(Figure::change(ratio, ci95))]).remove(0);
        assert_eq!(shown(1.041, Some([1.035, 1.047])), "+4.1 (+3.5 to +4.7)");
        assert_eq!(shown(0.88, Some([0.8, 1.01])), "−12 (−20 to +1)");
        assert_eq!(shown(1.0001, None), "0.0");
    }
}

//! From values to places, and where an axis has its ticks.

/// A range of values on a range of places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    /// Where `low` and `high` are drawn.
    pub(super) places: [f64; 2],
}

/// What a file claims beyond this is drawn at the end of its axis.
const LARGEST: f64 = 1e15;

impl Scale {
    /// From zero, with room at the end.
    pub(super) fn from_zero(high: f64, places: [f64; 2]) -> Self {
        let high = if high.is_finite() && high > 1.0 / LARGEST { high.min(LARGEST) } else { 1.0 };
        let step = step(high);
        Self { low: 0.0, high: (high / step).ceil() * step, is_logarithmic: false, places }
    }

    /// Of these values: from the first that is not zero, or from zero.
    pub(super) fn of_values(values: impl Iterator<Item = f64>, is_logarithmic: bool, places: [f64; 2]) -> Self {
        let usable = |value: &f64| *value < LARGEST && (!is_logarithmic || *value > 1.0 / LARGEST);
        let (low, high) =
            values.filter(usable).fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        if !is_logarithmic || !low.is_finite() || low <= 0.0 {
            return Self::from_zero(high, places);
        }
        // Equal values have a place, and what a file claims to be next to nothing does not take all of it.
        let (low, high) = (below(low.max(high * 1e-9)), above(high.max(low * 1.01)));
        Self { low, high, is_logarithmic, places }
    }

    /// Where a value is drawn; what is outside, at the end.
    pub(super) fn place(self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let [from, to] = self.places;
        rounded(from + (to - from) * share.clamp(0.0, 1.0))
    }

    /// The name of its axis, which says where equal distances are equal ratios.
    pub(super) fn named(self, label: &str) -> String {
        if self.is_logarithmic { format!("{label} (log scale)") } else { label.to_owned() }
    }

    /// Round values, at most `most` of them, with their names.
    pub(super) fn ticks(self, most: usize) -> Vec<(f64, String)> {
        let values: Vec<f64> = if self.is_logarithmic {
            self.logarithmic_ticks(most)
        } else {
            let wide = [1.0, 2.0, 5.0].map(|factor| step(self.high) * factor);
            let fits = |step: &&f64| (self.high / **step + 1e-9) as usize <= most;
            let step = wide.iter().find(fits).copied().unwrap_or(self.high);
            (0..=(self.high / step + 1e-9) as usize).map(|index| index as f64 * step).collect()
        };
        values.into_iter().map(|value| (value, name(value))).collect()
    }

    /// 1, 2 and 5 of each decade, or fewer of them.
    fn logarithmic_ticks(self, most: usize) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let is_inside = |value: &f64| *value >= self.low * 0.999 && *value <= self.high * 1.001;
        let of = |steps: &[f64]| -> Vec<f64> {
            let values = decades.clone().flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
            values.filter(is_inside).collect()
        };
        let [finest, coarser, decades] = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(of);
        let fits = [finest, coarser, decades.clone()].into_iter().find(|ticks| ticks.len() <= most);
        fits.unwrap_or_else(|| decades.iter().copied().step_by(decades.len().div_ceil(most.max(1)).max(1)).collect())
    }
}

/// A tenth of a pixel is enough.
pub(super) fn rounded(place: f64) -> f64 {
    (place * 10.0).round() / 10.0
}

/// As few digits as the value has.
pub(super) fn name(value: f64) -> String {
    let digits = match value.abs() {
        ..0.01 => 4,
        ..1.0 => 3,
        ..100.0 => 2,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// 1, 2 or 5 times a power of ten, of which five to ten reach the value.
fn step(high: f64) -> f64 {
    let rough = high / 5.0;
    let decade = 10_f64.powf(rough.log10().floor());
    match rough / decade {
        ..2.0 => decade,
        ..5.0 => 2.0 * decade,
        _ => 5.0 * decade,
    }
}

/// The next of 1, 2, 5 times a power of ten that is not above the value.
fn below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    [5.0, 2.0].into_iter().map(|factor| factor * decade).find(|it| *it <= value * 1.0001).unwrap_or(decade)
}

/// The next that is not below it.
fn above(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * decade).find(|it| *it >= value * 0.9999).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: Scale, most: usize) -> Vec<String> {
        scale.ticks(most).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            names(Scale::from_zero(0.87, [0.0, 100.0]), 10),
            ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]
        );
        assert_eq!(names(Scale::from_zero(37.0, [0.0, 100.0]), 5), ["0", "10", "20", "30", "40"]);
        let wide = Scale::of_values([0.7, 180.0].into_iter(), true, [0.0, 100.0]);
        assert_eq!(names(wide, 10), ["0.5", "1", "2", "5", "10", "20", "50", "100", "200"]);
        assert_eq!(names(wide, 3), ["1", "10", "100"]);
    }

    #[test]
    fn every_value_has_its_place_inside() {
        for scale in [
            Scale::of_values([3.0, 40.0].into_iter(), true, [10.0, 110.0]),
            Scale::of_values([3.0, 40.0].into_iter(), false, [10.0, 110.0]),
            Scale::of_values([f64::NAN, f64::INFINITY].into_iter(), true, [10.0, 110.0]),
            Scale::of_values([5.0].into_iter(), true, [10.0, 110.0]),
            Scale::of_values([5e-324, 1e308].into_iter(), true, [10.0, 110.0]),
            Scale::from_zero(0.0, [10.0, 110.0]),
        ] {
            assert!(scale.ticks(5).len() <= 6, "{scale:?}");
            for value in [0.0, 3.0, 5.0, 40.0, 1e300] {
                assert!((10.0..=110.0).contains(&scale.place(value)), "{scale:?} {value}");
            }
        }
    }
}

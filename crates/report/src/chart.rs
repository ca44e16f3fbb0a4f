//! Charts as data: what is drawn, before any format. Terminal and Markdown leave them out, since a table of the same page says the
//! same; HTML draws them. A chart holds a few hundred points, however many samples there are.

/// One chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What there is to see, in words, for those who do not see it.
    pub(crate) description: String,
    pub(crate) plot: Plot,
}

/// How it is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Plot {
    Lines(Lines),
    Intervals(Intervals),
    Bars(Bars),
}

/// One line for each series.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Whether a value holds until the next one, as in a distribution of samples.
    pub(crate) is_stepped: bool,
}

/// What an axis shows.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// With the unit.
    pub(crate) label: String,
    pub(crate) is_logarithmic: bool,
    /// Where the ticks are and what they are called; empty where the drawing is to choose.
    pub(crate) ticks: Vec<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// In ascending order of the first.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A point with its interval in each row.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    /// With the unit.
    pub(crate) label: String,
    pub(crate) points: Points,
    pub(crate) rows: Vec<Interval>,
}

/// What the points of a chart are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Points {
    /// Ratios: 1 is in sight, and marked.
    Ratios,
    /// Values of a unit. The least and the greatest are those of all charts of a page, so that one can be held against the other.
    Values { unit: &'static str, ends: [f64; 2] },
}

/// A value and its interval.
#[derive(Clone, Debug)]
pub(crate) struct Interval {
    pub(crate) name: String,
    pub(crate) at: f64,
    pub(crate) interval: Option<[f64; 2]>,
}

/// Bars in groups; each is as long as its parts together.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// With the unit.
    pub(crate) label: String,
    /// What the parts are called.
    pub(crate) parts: Vec<String>,
    pub(crate) groups: Vec<BarGroup>,
}

/// The bars that are compared with one another first.
#[derive(Clone, Debug)]
pub(crate) struct BarGroup {
    /// Empty where there is only one group.
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// Where it begins; most begin at zero.
    pub(crate) begin: f64,
    pub(crate) parts: Vec<f64>,
}

/// Rows of a chart, at most. The rest is in the table.
const MOST_ROWS: usize = 40;

/// Points of a line, at most.
const MOST_POINTS: usize = 150;

impl Axis {
    /// An axis whose scale follows the values: logarithmic where the largest is over ten times the smallest.
    pub(crate) fn of_values(label: String, values: impl Iterator<Item = f64> + Clone) -> Self {
        let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
        Self { label, is_logarithmic: low > 0.0 && high > 10.0 * low, ticks: Vec::new() }
    }

    /// An axis that begins at zero.
    pub(crate) fn from_zero(label: &str) -> Self {
        Self { label: label.to_owned(), is_logarithmic: false, ticks: Vec::new() }
    }
}

impl Series {
    /// The share of values at or below each, in per cent. The smallest and the largest are always among the points.
    pub(crate) fn distribution(name: String, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (count, kept) = (values.len(), values.len().min(MOST_POINTS));
        // Evenly by rank: where there are many samples, there are many points.
        let rank = |index: usize| if kept > 1 { index * (count - 1) / (kept - 1) } else { 0 };
        let point = |rank: usize| Some((*values.get(rank)?, 100.0 * (rank + 1) as f64 / count as f64));
        Self { name, points: (0..kept).filter_map(|index| point(rank(index))).collect() }
    }

    /// Values of one second each. Where there are many seconds, a point is the mean of several, so that none is lost.
    pub(crate) fn over_seconds(name: String, values: &[u64]) -> Self {
        let seconds = values.len().div_ceil(MOST_POINTS).max(1);
        let point = |(index, chunk): (usize, &[u64])| {
            let mean = chunk.iter().map(|value| *value as f64).sum::<f64>() / chunk.len().max(1) as f64;
            ((index * seconds) as f64 + chunk.len() as f64 / 2.0, mean)
        };
        Self { name, points: values.chunks(seconds).enumerate().map(point).collect() }
    }
}

impl Intervals {
    /// A chart of these, cut to [`MOST_ROWS`]; `None` where there is nothing to draw.
    pub(crate) fn into_chart(mut self, title: &str) -> Option<Chart> {
        self.rows.retain(|row| row.at.is_finite() && row.at > 0.0);
        let left_out = self.rows.len().saturating_sub(MOST_ROWS);
        self.rows.truncate(MOST_ROWS);
        let sentence = |row: &Interval| match row.interval {
            Some([low, high]) => format!("{}: {:.2}, {low:.2} to {high:.2}", row.name, row.at),
            None => format!("{}: {:.2}", row.name, row.at),
        };
        let sentences: Vec<String> = self.rows.iter().map(sentence).collect();
        let rest = if left_out > 0 { format!(" {left_out} more are in the table.") } else { String::new() };
        let description = format!("{}. {}.{rest}", self.label, sentences.join("; "));
        (!self.rows.is_empty()).then(|| Chart { title: title.to_owned(), description, plot: Plot::Intervals(self) })
    }
}

impl Bar {
    pub(crate) fn total(&self) -> f64 {
        self.parts.iter().sum()
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> f64 {
        self.begin + self.total()
    }
}

impl Bars {
    /// Every bar in words, and how many were left out.
    fn described(&self, left_out: usize) -> String {
        let bars = self.groups.iter().flat_map(|group| group.bars.iter().map(move |bar| (group.name.as_str(), bar)));
        let sentences: Vec<String> = bars
            .map(|(group, bar)| {
                let name = if group.is_empty() { bar.name.clone() } else { format!("{group}, {}", bar.name) };
                format!("{name}: {:.3}", bar.total())
            })
            .collect();
        let rest = if left_out > 0 { format!(" {left_out} more are in the table.") } else { String::new() };
        format!("In {}. {}.{rest}", self.label, sentences.join("; "))
    }

    /// A chart of these, cut to [`MOST_ROWS`]; `None` where there is nothing to draw.
    pub(crate) fn into_chart(self, title: &str) -> Option<Chart> {
        let (bars, left_out) = self.limited();
        let description = bars.described(left_out);
        (!bars.groups.is_empty()).then(|| Chart { title: title.to_owned(), description, plot: Plot::Bars(bars) })
    }

    /// The same with at most [`MOST_ROWS`] bars, and how many were left out.
    fn limited(mut self) -> (Self, usize) {
        let mut left = MOST_ROWS;
        let mut left_out = 0;
        for group in &mut self.groups {
            left_out += group.bars.len().saturating_sub(left);
            group.bars.truncate(left);
            left -= group.bars.len();
        }
        self.groups.retain(|group| !group.bars.is_empty());
        (self, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_keeps_its_ends_however_many_samples() {
        let series = Series::distribution(String::new(), (1..=100_000).rev().map(f64::from).collect());
        assert_eq!(series.points.len(), MOST_POINTS);
        assert_eq!(series.points.first(), Some(&(1.0, 0.001)));
        assert_eq!(series.points.last(), Some(&(100_000.0, 100.0)));
        let few = Series::distribution(String::new(), vec![3.0, 1.0]);
        assert_eq!(few.points, [(1.0, 50.0), (3.0, 100.0)]);
        assert_eq!(Series::distribution(String::new(), Vec::new()).points, []);
    }

    #[test]
    fn many_seconds_become_means_of_several() {
        let series = Series::over_seconds(String::new(), &vec![7; 100_000]);
        assert!(series.points.len() <= MOST_POINTS && series.points.iter().all(|point| point.1 == 7.0));
        assert_eq!(Series::over_seconds(String::new(), &[4, 6]).points, [(0.5, 4.0), (1.5, 6.0)]);
    }

    #[test]
    fn bars_beyond_the_most_are_counted() {
        let group = |name: &str| BarGroup {
            name: name.to_owned(),
            bars: vec![Bar { name: String::new(), begin: 0.0, parts: vec![1.0] }; MOST_ROWS],
        };
        let bars = Bars { label: String::new(), parts: Vec::new(), groups: vec![group("one"), group("two")] };
        let (kept, left_out) = bars.limited();
        assert_eq!((kept.groups.len(), left_out), (1, MOST_ROWS));
    }
}

//! Charts as data: what is drawn, before any format. Terminal and Markdown leave them out, since a table of the same page says the
//! same; HTML draws them. A chart holds a few hundred points, however many samples there are.

use crate::figures::Figure;

/// One chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Above the drawing.
    pub title: String,
    /// What there is to see, in words, for those who do not see it.
    pub description: String,
    /// How it is drawn.
    pub plot: Plot,
}

/// How it is drawn.
#[derive(Clone, Debug)]
pub enum Plot {
    /// Points joined by lines.
    Lines(Lines),
    /// Points with intervals.
    Intervals(Intervals),
    /// Bars of parts.
    Bars(Bars),
}

/// One line for each series.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// From the first in the legend to the last.
    pub series: Vec<Series>,
    /// Whether a value holds until the next one, as in a distribution of samples.
    pub is_stepped: bool,
}

/// What an axis shows.
#[derive(Clone, Debug)]
pub struct Axis {
    /// With the unit.
    pub label: String,
    /// Whether equal steps are equal factors.
    pub is_logarithmic: bool,
    /// Where the ticks are and what they are called; empty where the drawing is to choose.
    pub ticks: Vec<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// In ascending order of the first.
    pub points: Vec<(f64, f64)>,
}

/// A point with its interval in each row.
#[derive(Clone, Debug)]
pub struct Intervals {
    /// With the unit.
    pub label: String,
    /// Whether they are ratios, or values of a unit.
    pub points: Points,
    /// From the top.
    pub groups: Vec<Group<Interval>>,
}

/// The rows that are compared with one another first. All groups of a chart have one scale.
#[derive(Clone, Debug)]
pub struct Group<T> {
    /// Empty where there is only one group.
    pub name: String,
    /// From the top.
    pub rows: Vec<T>,
}

/// What the points of a chart are.
#[derive(Clone, Copy, Debug)]
pub enum Points {
    /// Ratios: 1 is in sight, and marked.
    Ratios,
    /// Values of this unit.
    Values(&'static str),
}

/// A value and its interval.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Beside the point.
    pub name: String,
    /// The value.
    pub at: f64,
    /// Its 95 % interval; `None` where there are too few samples.
    pub interval: Option<[f64; 2]>,
    /// The value as the table of the page has it.
    pub shown: Figure,
}

/// Bars in groups; each is as long as its parts together.
#[derive(Clone, Debug)]
pub struct Bars {
    /// With the unit.
    pub label: String,
    /// What the parts are called.
    pub parts: Vec<String>,
    /// From the top.
    pub groups: Vec<Group<Bar>>,
    /// How far the scale goes at least: as far as in the charts of a page that compare the same.
    pub reach: f64,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Beside the bar.
    pub name: String,
    /// Where it begins; most begin at zero.
    pub begin: f64,
    /// The length of each part.
    pub parts: Vec<f64>,
    /// The total as the table of the page has it.
    pub shown: Figure,
}

/// Rows of a chart, at most. The rest is in the table.
const MOST_ROWS: usize = 240;

/// Points of a line, at most.
const MOST_POINTS: usize = 150;

impl Axis {
    /// An axis whose scale follows the values: logarithmic where the largest is over ten times the smallest.
    pub fn of_values(label: String, values: impl Iterator<Item = f64> + Clone) -> Self {
        let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
        Self { label, is_logarithmic: low > 0.0 && high > 10.0 * low, ticks: Vec::new() }
    }

    /// An axis that begins at zero.
    pub fn from_zero(label: &str) -> Self {
        Self { label: label.to_owned(), is_logarithmic: false, ticks: Vec::new() }
    }
}

impl Series {
    /// The share of values at or below each, in per cent. The smallest and the largest are always among the points.
    pub fn distribution(name: String, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (count, kept) = (values.len(), values.len().min(MOST_POINTS));
        // Evenly by rank: where there are many samples, there are many points.
        let rank = |index: usize| if kept > 1 { index * (count - 1) / (kept - 1) } else { 0 };
        let point = |rank: usize| Some((*values.get(rank)?, 100.0 * (rank + 1) as f64 / count as f64));
        Self { name, points: (0..kept).filter_map(|index| point(rank(index))).collect() }
    }

    /// Values of one second each. Where there are many seconds, a point is the mean of several, so that none is lost.
    pub fn over_seconds(name: String, values: &[u64]) -> Self {
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
    pub fn into_chart(self, title: &str) -> Option<Chart> {
        let is_drawn = |row: &Interval| row.at.is_finite() && row.at > 0.0;
        let (groups, left_out) = limited(self.groups, is_drawn);
        let sentence = |row: &Interval| match row.interval {
            Some([low, high]) => format!("{}: {}, {low:.2} to {high:.2}", row.name, row.shown.value()),
            None => format!("{}: {}", row.name, row.shown.value()),
        };
        let description = described(&self.label, &groups, left_out, sentence);
        let plot = Plot::Intervals(Self { groups, ..self });
        (!description.is_empty()).then(|| Chart { title: title.to_owned(), description, plot })
    }
}

impl Bar {
    /// How long it is: the sum of its parts.
    pub fn total(&self) -> f64 {
        self.parts.iter().sum()
    }

    /// Where it ends.
    pub fn end(&self) -> f64 {
        self.begin + self.total()
    }
}

impl Bars {
    /// A chart of these, without empty bars and cut to [`MOST_ROWS`]; `None` where there is nothing to draw.
    pub fn into_chart(self, title: &str) -> Option<Chart> {
        let (groups, left_out) = limited(self.groups, |bar: &Bar| bar.total() > 0.0);
        let sentence = |bar: &Bar| format!("{}: {}", bar.name, bar.shown.value());
        let description = described(&self.label, &groups, left_out, sentence);
        let plot = Plot::Bars(Self { groups, ..self });
        (!description.is_empty()).then(|| Chart { title: title.to_owned(), description, plot })
    }
}

/// The first [`MOST_ROWS`] of the rows that can be drawn, and how many more there are.
fn limited<T>(mut groups: Vec<Group<T>>, is_drawn: impl Fn(&T) -> bool) -> (Vec<Group<T>>, usize) {
    let mut left = MOST_ROWS;
    let mut left_out = 0;
    for group in &mut groups {
        group.rows.retain(&is_drawn);
        left_out += group.rows.len().saturating_sub(left);
        group.rows.truncate(left);
        left -= group.rows.len();
    }
    groups.retain(|group| !group.rows.is_empty());
    (groups, left_out)
}

/// Every row in words; nothing where there is none.
fn described<T>(label: &str, groups: &[Group<T>], left_out: usize, sentence: impl Fn(&T) -> String) -> String {
    let of_group = |group: &Group<T>| {
        let sentences = group.rows.iter().map(&sentence).collect::<Vec<_>>().join("; ");
        if group.name.is_empty() { sentences } else { format!("{}: {sentences}", group.name) }
    };
    let groups: Vec<String> = groups.iter().map(of_group).collect();
    let rest = if left_out > 0 { format!(" {left_out} more are in the table.") } else { String::new() };
    if groups.is_empty() { String::new() } else { format!("{label}. {}.{rest}", groups.join(". ")) }
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
    fn empty_rows_are_left_out_and_those_beyond_the_most_counted() {
        let group = |name: &str| Group { name: name.to_owned(), rows: vec![1.0; MOST_ROWS] };
        let empty = Group { name: "none".to_owned(), rows: vec![0.0] };
        let (kept, left_out) = limited(vec![empty, group("one"), group("two")], |value| *value > 0.0);
        assert_eq!((kept.len(), left_out), (1, MOST_ROWS));
        assert_eq!(described("µs", &kept, left_out, f64::to_string).matches("one: 1; 1").count(), 1);
    }
}

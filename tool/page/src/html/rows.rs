//! Charts of rows: bars, and points with their intervals. A name stands above its row, so that it has the whole width.

use maud::{Markup, html};

use super::drawing::{Drawing, fill_class, fitted, text, tick};
use super::scale::{Scale, rounded};
use crate::chart::{Bar, Bars, Group, Interval, Intervals, Points};

/// From one row to the next.
const ROW: f64 = 36.0;

/// For the name of a group.
const GROUP: f64 = 28.0;

/// Right of a bar or an interval: its value.
const RIGHT: f64 = 84.0;

/// Below the rows: ticks and the name of the axis.
const BOTTOM: f64 = 44.0;

pub(super) fn bars(bars: &Bars, width: f64) -> Drawing {
    let all = || bars.groups.iter().flat_map(|group| &group.rows);
    let scale = Scale::from_zero(all().map(Bar::end).fold(bars.reach, f64::max), [0.0, width - RIGHT]);
    let Placed { names, rows, end } = placed(&bars.groups);
    let shapes = html! {
        (axis(scale, &bars.label, end, width))
        @for (y, name) in names { (text("group", 0.0, y, &fitted(name, width))) }
        @for (y, bar) in rows {
            (text("name", 0.0, y + 13.0, &fitted(&bar.name, width)))
            @for (index, [from, to]) in parts(bar).into_iter().enumerate() {
                @let (left, right) = (scale.place(from), scale.place(to));
                @if right > left { rect class=(fill_class(index)) x=(left) y=(y + 18.0) width=(rounded(right - left)) height="13" {} }
            }
            (text("value", scale.place(bar.end()) + 5.0, y + 29.0, bar.shown.value()))
        }
    };
    Drawing { width, height: end + BOTTOM, shapes }
}

/// Where the names of groups and the rows have their places, and where the last one ends.
struct Placed<'a, T> {
    names: Vec<(f64, &'a str)>,
    rows: Vec<(f64, &'a T)>,
    end: f64,
}

fn placed<T>(groups: &[Group<T>]) -> Placed<'_, T> {
    let mut placed = Placed { names: Vec::new(), rows: Vec::new(), end: 0.0 };
    for group in groups {
        if !group.name.is_empty() {
            placed.end += GROUP;
            placed.names.push((placed.end - 8.0, group.name.as_str()));
        }
        for row in &group.rows {
            placed.rows.push((placed.end, row));
            placed.end += ROW;
        }
    }
    placed
}

/// From where to where each part goes.
fn parts(bar: &Bar) -> Vec<[f64; 2]> {
    let mut from = bar.begin;
    bar.parts
        .iter()
        .map(|part| {
            let to = from + part;
            [std::mem::replace(&mut from, to), to]
        })
        .collect()
}

pub(super) fn intervals(intervals: &Intervals, width: f64) -> Drawing {
    let ends = |row: &Interval| row.interval.unwrap_or([row.at; 2]);
    let Placed { names, rows, end } = placed(&intervals.groups);
    let (reference, unit) = match intervals.points {
        Points::Ratios => (Some(1.0), "×"),
        Points::Values(unit) => (None, unit),
    };
    let values = rows.iter().flat_map(|(_, row)| [row.at, ends(row)[0], ends(row)[1]]);
    let all = values.chain(reference).filter(|value| *value > 0.0);
    let (left, right) = (14.0, width - RIGHT);
    let scale = Scale::of_values(all, true, [left, right]);
    let reference = reference.map(|value| scale.place(value));
    let shapes = html! {
        (axis(scale, &intervals.label, end, width))
        @for (y, name) in names { (text("group", 0.0, y, &fitted(name, width))) }
        @for (y, row) in rows {
            @let [low, high] = ends(row).map(|value| scale.place(value));
            @let middle = y + 24.0;
            (text("name", 0.0, y + 13.0, &fitted(&row.name, width)))
            // Not through the names.
            @if let Some(place) = reference {
                path.reference d=(format!("M{place} {}V{}", y + 17.0, y + ROW - 4.0)) {}
            }
            path.whisker d=(format!("M{low} {middle}H{high}M{low} {}V{}M{high} {}V{}", middle - 5.0, middle + 5.0, middle - 5.0, middle + 5.0)) {}
            circle.point cx=(scale.place(row.at)) cy=(middle) r="4.5" {}
            (text("value", high.max(scale.place(row.at)) + 8.0, y + 28.0, &format!("{}{unit}", row.shown.value())))
        }
    };
    Drawing { width, height: end + BOTTOM, shapes }
}

/// Ticks below the rows, with lines through them, and the name of the axis.
fn axis(scale: Scale, label: &str, end: f64, width: f64) -> Markup {
    html! {
        @for (value, name) in scale.ticks((width / 60.0) as usize) {
            @let place = scale.place(value);
            path.grid d=(format!("M{place} 0V{}", end + 4.0)) {}
            (tick(place, end + 18.0, &name, width))
        }
        (text("axis middle", width / 2.0, end + 38.0, &fitted(&scale.named(label), width)))
    }
}

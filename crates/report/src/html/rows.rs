//! Charts of rows: bars, and points with their intervals. A name stands above its row, so that it has the whole width.

use maud::{Markup, html};

use super::drawing::{Drawing, fill_class, fitted, text};
use super::scale::{Scale, name, rounded};
use crate::chart::{Bar, Bars, Interval, Intervals, Points};

/// From one row to the next.
const ROW: f64 = 36.0;

/// For the name of a group.
const GROUP: f64 = 28.0;

/// Right of a bar: its total.
const TOTAL: f64 = 62.0;

/// Below the rows: ticks and the name of the axis.
const BOTTOM: f64 = 44.0;

pub(super) fn bars(bars: &Bars, width: f64) -> Drawing {
    let all = || bars.groups.iter().flat_map(|group| &group.bars);
    let scale = Scale::from_zero(all().map(Bar::end).fold(0.0, f64::max), [0.0, width - TOTAL]);
    // Where each group's name and each bar has its place.
    let (mut names, mut rows, mut end) = (Vec::new(), Vec::new(), 0.0);
    for group in &bars.groups {
        if !group.name.is_empty() {
            end += GROUP;
            names.push((end - 8.0, fitted(&group.name, width)));
        }
        for bar in &group.bars {
            rows.push((end, bar));
            end += ROW;
        }
    }
    let shapes = html! {
        (axis(scale, &bars.label, 0.0, end, width))
        @for (y, name) in names { (text("group", 0.0, y, &name)) }
        @for (y, bar) in rows {
            (text("name", 0.0, y + 13.0, &fitted(&bar.name, width)))
            @for (index, [from, to]) in parts(bar).into_iter().enumerate() {
                @let (left, right) = (scale.place(from), scale.place(to));
                @if right > left { rect class=(fill_class(index)) x=(left) y=(y + 18.0) width=(rounded(right - left)) height="13" {} }
            }
            (text("value", scale.place(bar.end()) + 5.0, y + 29.0, &name(significant(bar.total()))))
        }
    };
    Drawing { width, height: end + BOTTOM, shapes }
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
    let values = || intervals.rows.iter().flat_map(|row| [row.at, ends(row)[0], ends(row)[1]]);
    let (in_sight, reference, unit) = match intervals.points {
        Points::Ratios => ([1.0; 2], Some(1.0), "×"),
        Points::Values { unit, ends } => (ends, None, unit),
    };
    let all = values().chain(in_sight).filter(|value| *value > 0.0);
    let (left, right) = (14.0, width - TOTAL);
    let scale = Scale::of_values(all, true, [left, right]);
    let end = intervals.rows.len() as f64 * ROW;
    let reference = reference.map(|value| scale.place(value));
    let shapes = html! {
        (axis(scale, &intervals.label, left, end, width))
        @for (index, row) in intervals.rows.iter().enumerate() {
            @let y = index as f64 * ROW;
            @let [low, high] = ends(row).map(|value| scale.place(value));
            @let middle = y + 24.0;
            (text("name", 0.0, y + 13.0, &fitted(&row.name, width)))
            // Not through the names.
            @if let Some(place) = reference {
                path.reference d=(format!("M{place} {}V{}", y + 17.0, y + ROW - 4.0)) {}
            }
            path.whisker d=(format!("M{low} {middle}H{high}M{low} {}V{}M{high} {}V{}", middle - 5.0, middle + 5.0, middle - 5.0, middle + 5.0)) {}
            circle.point cx=(scale.place(row.at)) cy=(middle) r="4.5" {}
            (text("value", high.max(scale.place(row.at)) + 8.0, y + 28.0, &format!("{}{unit}", name(significant(row.at)))))
        }
    };
    Drawing { width, height: end + BOTTOM, shapes }
}

/// Ticks below the rows, with lines through them, and the name of the axis.
fn axis(scale: Scale, label: &str, left: f64, end: f64, width: f64) -> Markup {
    let right = scale.places[1];
    html! {
        @for (value, name) in scale.ticks((width / 60.0) as usize) {
            @let place = scale.place(value);
            path.grid d=(format!("M{place} 0V{}", end + 4.0)) {}
            (text(if value == 0.0 { "tick" } else { "tick middle" }, place, end + 18.0, &name))
        }
        (text("axis middle", (left + right) / 2.0, end + 38.0, &fitted(label, width)))
    }
}

/// Three digits of a value.
fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let factor = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * factor).round() / factor
}

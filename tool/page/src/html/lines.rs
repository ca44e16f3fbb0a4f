//! Lines over two axes.

use maud::html;

use super::drawing::{Drawing, fitted, line_class, text, tick};
use super::scale::{Scale, rounded};
use crate::chart::{Axis, Lines, Series};

/// Around the plot: for the names of the axes and their ticks.
const LEFT: f64 = 46.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;

pub(super) fn draw(lines: &Lines, width: f64) -> Drawing {
    let height = (width * 0.45).max(230.0);
    let (left, right, top, bottom) = (LEFT, width - RIGHT, TOP, height - BOTTOM);
    let points = || lines.series.iter().flat_map(|series| &series.points);
    let x = scale(&lines.x, points().map(|point| point.0), [left, right]);
    let y = scale(&lines.y, points().map(|point| point.1), [bottom, top]);
    let shapes = html! {
        (text("axis", 0.0, 12.0, &fitted(&y.named(&lines.y.label), width)))
        @for (value, name) in ticks(&lines.y, y, 6) {
            @let place = y.place(value);
            path.grid d=(format!("M{left} {place}H{right}")) {}
            (text("tick end", left - 6.0, place + 4.0, &name))
        }
        @for (value, name) in ticks(&lines.x, x, (width / 60.0) as usize) {
            @let place = x.place(value);
            path.grid d=(format!("M{place} {top}V{}", bottom + 4.0)) {}
            (tick(place, bottom + 18.0, &name, width))
        }
        (text("axis middle", (left + right) / 2.0, height - 6.0, &fitted(&x.named(&lines.x.label), right - left)))
        @for (index, series) in lines.series.iter().enumerate() {
            path class=(line_class(index)) d=(path(series, lines.is_stepped, x, y)) {}
            // A single point is no line.
            @if let [point] = series.points.as_slice() {
                circle class=(line_class(index)) cx=(x.place(point.0)) cy=(y.place(point.1)) r="3" {}
            }
        }
    };
    Drawing { width, height: rounded(height), shapes }
}

fn scale(axis: &Axis, values: impl Iterator<Item = f64> + Clone, places: [f64; 2]) -> Scale {
    let named = axis.ticks.iter().map(|tick| tick.0);
    Scale::of_values(values.chain(named), axis.is_logarithmic, places)
}

fn ticks(axis: &Axis, scale: Scale, most: usize) -> Vec<(f64, String)> {
    if axis.ticks.is_empty() { scale.ticks(most) } else { axis.ticks.clone() }
}

/// A step goes right, then up: the share holds until the next value.
fn path(series: &Series, is_stepped: bool, x: Scale, y: Scale) -> String {
    let mut path = String::new();
    for (index, point) in series.points.iter().enumerate() {
        let (x, y) = (x.place(point.0), y.place(point.1));
        path.push_str(&match (index, is_stepped) {
            (0, _) => format!("M{x} {y}"),
            (_, true) => format!("H{x}V{y}"),
            (_, false) => format!("L{x} {y}"),
        });
    }
    path
}

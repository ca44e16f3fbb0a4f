//! A chart as inline SVG, drawn twice: for wide screens and paper, and for phones, where it would otherwise shrink until nobody can
//! read it. The style shows one of them.

use maud::{Markup, html};

use super::drawing::{fill_class, frame, line_class};
use super::{lines, rows};
use crate::chart::{Chart, Plot};

/// The sizes that a chart is drawn in, with their classes. Text has 12 px in both.
const SIZES: [(&str, f64); 2] = [("wide", 720.0), ("narrow", 340.0)];

pub(super) fn chart(chart: &Chart, id: &str) -> Markup {
    html! {
        figure {
            figcaption { (chart.title) }
            @for (class, width) in SIZES {
                @let drawing = match &chart.plot {
                    Plot::Lines(lines) => lines::draw(lines, width),
                    Plot::Intervals(intervals) => rows::intervals(intervals, width),
                    Plot::Bars(bars) => rows::bars(bars, width),
                };
                (frame(&drawing, class, &format!("{id}-{class}"), &chart.title, &chart.description))
            }
            (legend(&chart.plot))
        }
    }
}

/// The names of lines and of the parts of bars, each with its sample.
fn legend(plot: &Plot) -> Markup {
    let (names, is_line): (Vec<(usize, &str)>, bool) = match plot {
        Plot::Lines(lines) => (lines.series.iter().map(|series| series.name.as_str()).enumerate().collect(), true),
        Plot::Bars(bars) => {
            let all = || bars.groups.iter().flat_map(|group| &group.rows);
            let is_drawn = |index: usize| all().any(|bar| bar.parts.get(index).is_some_and(|part| *part > 0.0));
            let parts = bars.parts.iter().map(String::as_str).enumerate();
            (parts.filter(|(index, _)| is_drawn(*index)).collect(), false)
        }
        Plot::Intervals(_) => return Markup::default(),
    };
    html! {
        ul.legend {
            @for (index, name) in names {
                li {
                    svg viewBox="0 0 28 12" width="28" height="12" aria-hidden="true" {
                        @if is_line { path class=(line_class(index)) d="M0 6H28" {} }
                        @else { rect class=(fill_class(index)) y="1" width="28" height="10" {} }
                    }
                    (name)
                }
            }
        }
    }
}

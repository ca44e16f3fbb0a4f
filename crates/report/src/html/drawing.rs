//! A chart as inline SVG, drawn twice: for wide screens and paper, and for phones, where it would otherwise shrink until nobody can
//! read it. The style shows one of them. Colours are classes, so that dark mode and print set their own; lines differ in their
//! dashes too, and bars are named.

use maud::{Markup, html};

use super::{lines, rows};
use crate::chart::{Chart, Plot};

/// The sizes that a chart is drawn in, with their classes. Text has 12 px in both.
const SIZES: [(&str, f64); 2] = [("wide", 720.0), ("narrow", 340.0)];

/// More series than these repeat colours; dashes differ by then.
pub(super) const COLORS: usize = 6;

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

/// Shapes and the space that they take.
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Markup,
}

/// The frame of every drawing: its size, its name and what is to be seen.
pub(super) fn frame(drawing: &Drawing, class: &str, id: &str, title: &str, description: &str) -> Markup {
    let Drawing { width, height, shapes } = drawing;
    let (title_id, description_id) = (format!("{id}-t"), format!("{id}-d"));
    html! {
        svg.(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-labelledby=(format!("{title_id} {description_id}")) {
            title id=(title_id) { (title) }
            desc id=(description_id) { (description) }
            (shapes)
        }
    }
}

/// The names of lines and of the parts of bars, each with its sample.
fn legend(plot: &Plot) -> Markup {
    let (names, is_line): (Vec<&str>, bool) = match plot {
        Plot::Lines(lines) => (lines.series.iter().map(|series| series.name.as_str()).collect(), true),
        Plot::Bars(bars) => (bars.parts.iter().map(String::as_str).collect(), false),
        Plot::Intervals(_) => return Markup::default(),
    };
    html! {
        ul.legend {
            @for (index, name) in names.into_iter().enumerate() {
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

pub(super) fn line_class(index: usize) -> String {
    format!("line c{} d{}", index % COLORS, index % (COLORS - 1))
}

pub(super) fn fill_class(index: usize) -> String {
    format!("f{}", index % COLORS)
}

/// A text of 12 px.
pub(super) fn text(class: &str, x: f64, y: f64, text: &str) -> Markup {
    html! { text.(class) x=(x) y=(y) { (text) } }
}

/// The text, cut where it would not fit into so many pixels. The table has all of it.
pub(super) fn fitted(text: &str, width: f64) -> String {
    let most = (width / CHARACTER).max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// What a character of 12 px takes, on average, in the widest of the usual fonts.
const CHARACTER: f64 = 7.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_fit_is_cut_visibly() {
        assert_eq!(fitted("ticket", 70.0), "ticket");
        assert_eq!(fitted("a very long name", 70.0), "a very lo…");
    }
}

//! What drawings are made of. Colours are classes, so that dark mode and print set their own; lines differ in their dashes too,
//! and bars are named.

use maud::{Markup, html};

use super::scale::rounded;

/// More series than these repeat colours; dashes differ by then.
pub(super) const COLORS: usize = 6;

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
    // What tells two long names apart is at their ends as often as at their beginnings.
    let (head, tail) = (most / 2, (most - 1) / 2);
    let count = text.chars().count();
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// The name of a tick, in the middle of its place unless it would leave the drawing.
pub(super) fn tick(place: f64, y: f64, name: &str, width: f64) -> Markup {
    let half = name.chars().count() as f64 * CHARACTER / 2.0;
    text("tick middle", rounded(place.clamp(half, (width - half).max(half))), y, name)
}

/// What a character of 12 px takes, on average, in the widest of the usual fonts.
const CHARACTER: f64 = 7.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_fit_is_cut_visibly() {
        assert_eq!(fitted("ticket", 77.0), "ticket");
        assert_eq!(fitted("a very long name", 77.0), "a ver…name");
    }
}

//! A chart as a file of its own, for a document that is no page of a result: the same drawing, with its style and its legend in it.

use maud::{Markup, PreEscaped, html};

use super::STYLE;
use super::drawing::{Drawing, fill_class, text};
use super::{rows, scale};
use crate::chart::{self, Bar, Bars};
use crate::figures::Figure;

/// Bars that are compared with one another first.
#[derive(Clone, Debug)]
pub struct Group {
    /// Empty where there is only one group.
    pub name: String,
    /// From the top: the name of each, and the length of its parts.
    pub bars: Vec<(String, Vec<f64>)>,
}

const WIDTH: f64 = 720.0;

/// Above the bars: a line of 12 px for each part of a bar, after the title.
const LINE: f64 = 20.0;

/// Bars as an SVG file. `label` names the axis with its unit, `parts` the parts of every bar.
///
/// ```
/// use reprise_page::html::picture::{Group, bars};
/// let handshakes = Group { name: "TLS 1.3".to_owned(), bars: vec![("ticket".to_owned(), vec![250.0, 2.0])] };
/// let file = bars("What a handshake costs", "CPU time, µs", &["servers", "store"], &[handshakes]);
/// assert!(file.starts_with("<svg") && file.contains("servers"));
/// ```
#[must_use]
pub fn bars(title: &str, label: &str, parts: &[&str], groups: &[Group]) -> String {
    let bar = |(name, parts): &(String, Vec<f64>)| {
        let shown = Figure::plain(scale::name(significant(parts.iter().sum())));
        Bar { name: name.clone(), begin: 0.0, parts: parts.clone(), shown }
    };
    let group = |group: &Group| chart::Group { name: group.name.clone(), rows: group.bars.iter().map(bar).collect() };
    let names = parts.iter().map(|&part| part.to_owned()).collect();
    let bars = Bars { label: label.to_owned(), parts: names, groups: groups.iter().map(group).collect(), reach: 0.0 };
    let Drawing { width, height, shapes } = rows::bars(&bars, WIDTH);
    let top = LINE * (1 + parts.len()) as f64;
    let (outer, height) = (width + 2.0 * LINE, height + top + 2.0 * LINE);
    let picture: Markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {outer} {height}")) role="img" {
            title { (title) }
            style { (PreEscaped(STYLE)) }
            rect width=(outer) height=(height) fill="var(--page)" {}
            g transform=(format!("translate({LINE} {LINE})")) {
                (text("group", 0.0, 12.0, title))
                @for (index, part) in parts.iter().enumerate() {
                    @let y = LINE * (index + 1) as f64;
                    rect class=(fill_class(index)) y=(y + 3.0) width="28" height="10" {}
                    (text("name", 36.0, y + 12.0, part))
                }
                g transform=(format!("translate(0 {top})")) { (shapes) }
            }
        }
    };
    picture.into_string()
}

/// Three digits of a value.
fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let factor = 10_f64.powf(2.0 - value.abs().log10().floor());
    (value * factor).round() / factor
}

//! Ladders on a terminal: side by side where there is room, else one below the other. Without colour the text is the same.

use anstyle::Effects;

use super::{QUIET, Style, TITLE, visible};
use crate::ladder::{Ladder, LadderCell, LadderMessage, Rung};

/// Between the two sides.
const GAP: usize = 4;

/// What a skipped message is marked with in place of its time and size.
const SKIPPED: &str = "skipped";

const STRUCK: anstyle::Style = anstyle::Style::new().effects(Effects::DIMMED.insert(Effects::STRIKETHROUGH));

pub(super) fn render(ladder: &Ladder, style: Style) -> String {
    let sides = ladder.titles.iter().enumerate();
    let mut panels: Vec<Panel> = sides.map(|(side, title)| Panel::of(ladder, side, title, style)).collect();
    let width = panels.iter().map(|panel| panel.width).sum::<usize>() + GAP * panels.len().saturating_sub(1);
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    if style.width.is_none_or(|available| width <= available) {
        let height = panels.iter().map(|panel| panel.lines.len()).max().unwrap_or_default();
        let last = panels.len().saturating_sub(1);
        for row in 0..height {
            let cells = panels.iter().enumerate().map(|(side, panel)| {
                let text = panel.lines.get(row).cloned().unwrap_or_default();
                // What closes the last cell's paint stands behind its blanks: only the others need them.
                if side == last { text.painted.clone() } else { text.padded(panel.width + GAP) }
            });
            line(&cells.collect::<String>());
        }
    } else {
        for (index, panel) in panels.iter_mut().enumerate() {
            if index > 0 {
                line("");
            }
            panel.lines.iter().filter(|text| text.width > 0).for_each(|text| line(&text.painted));
        }
    }
    out
}

/// One side, line by line.
struct Panel {
    lines: Vec<Text>,
    width: usize,
}

/// A painted text and the columns that it takes.
#[derive(Clone, Debug, Default)]
struct Text {
    painted: String,
    width: usize,
}

impl Text {
    fn padded(&self, width: usize) -> String {
        format!("{}{}", self.painted, " ".repeat(width.saturating_sub(self.width)))
    }

    fn push(&mut self, text: &str, paint: anstyle::Style, style: Style) {
        self.painted.push_str(&style.paint(paint, text));
        self.width += text.chars().count();
    }
}

impl Panel {
    fn of(ladder: &Ladder, side: usize, title: &str, style: Style) -> Self {
        let widest = |part: fn(&LadderMessage) -> &str| {
            let shown = ladder.cells(side).filter_map(|cell| match cell {
                LadderCell::Message(message) => Some(part(message).chars().count()),
                LadderCell::Empty | LadderCell::Skipped(_) => None,
            });
            shown.max().unwrap_or_default()
        };
        let columns = Columns { at: widest(|it| &it.at).max(5), size: widest(|it| &it.size).max(4) };
        let header = columns.header(ladder.unit, title, style);
        let of_cells = ladder.cells(side).map(|cell| columns.cell(cell, style).width);
        let width = of_cells.chain([header.width]).max().unwrap_or_default();

        let mut rule = Text::default();
        rule.push(&"─".repeat(width), QUIET, style);
        let mut end = Text::default();
        end.push(&"╌".repeat(width), QUIET, style);
        let mut lines = vec![header, rule];
        for rung in &ladder.rungs {
            lines.push(match rung {
                Rung::Messages(cells) => cells.get(side).map(|cell| columns.cell(cell, style)).unwrap_or_default(),
                Rung::HandshakeEnd => end.clone(),
            });
        }
        Self { lines, width }
    }
}

/// How wide the figures are.
struct Columns {
    at: usize,
    size: usize,
}

impl Columns {
    fn header(&self, unit: &str, title: &str, style: Style) -> Text {
        let mut text = Text::default();
        text.push(&format!("{unit:>at$}  {:>size$}    ", "B", at = self.at, size = self.size), QUIET, style);
        text.push(title, TITLE, style);
        text
    }

    fn cell(&self, cell: &LadderCell, style: Style) -> Text {
        let mut text = Text::default();
        match cell {
            LadderCell::Empty => {}
            LadderCell::Message(LadderMessage { at, size, arrow, name }) => {
                let figures = format!("{at:>at_width$}  {size:>size_width$}  ", at_width = self.at, size_width = self.size);
                text.push(&figures, anstyle::Style::new(), style);
                text.push(&format!("{arrow} {}", visible(name)), anstyle::Style::new(), style);
            }
            LadderCell::Skipped(message) => {
                let figures = format!("{SKIPPED:>width$}  ", width = self.at + 2 + self.size);
                text.push(&figures, QUIET, style);
                text.push(&format!("{} {}", message.arrow, visible(&message.name)), STRUCK, style);
            }
        }
        text
    }
}

//! Handshakes side by side, before any format.

use crate::figures::Figure;
use crate::table::{Rows, Table};

/// The messages of one or two connections.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// The name of each side.
    pub titles: Vec<String>,
    /// The unit of all times.
    pub unit: &'static str,
    /// From the first message.
    pub rungs: Vec<Rung>,
}

/// One line of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rung {
    /// A cell for each side.
    Messages(Vec<LadderCell>),
    /// What follows is no handshake any more.
    HandshakeEnd,
}

/// One side of a rung.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LadderCell {
    /// Nothing went over the wire here on this side.
    Empty,
    /// A message of this side.
    Message(LadderMessage),
    /// What the full handshake has here and this one did without.
    Skipped(LadderMessage),
}

/// A message as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderMessage {
    /// When, in the unit of the ladder.
    pub at: String,
    /// Bytes.
    pub size: String,
    /// Which way it went, and whether under encryption.
    pub arrow: &'static str,
    /// As the RFCs call it.
    pub name: String,
}

impl Ladder {
    /// What stands on one side, from the top.
    pub fn cells(&self, side: usize) -> impl Iterator<Item = &LadderCell> {
        self.rungs.iter().filter_map(move |rung| match rung {
            Rung::Messages(cells) => cells.get(side),
            Rung::HandshakeEnd => None,
        })
    }

    /// The same as a table, a row for each rung.
    pub fn table(&self) -> Table {
        let rungs = self.rungs.iter().filter_map(|rung| match rung {
            Rung::Messages(cells) => Some(cells.as_slice()),
            Rung::HandshakeEnd => None,
        });
        let shown = |cell: Option<&LadderCell>| match cell {
            Some(LadderCell::Message(LadderMessage { at, size, arrow, name })) => {
                [at.clone(), size.clone(), format!("{arrow} {name}")]
            }
            Some(LadderCell::Skipped(LadderMessage { arrow, name, .. })) => {
                ["skipped".to_owned(), String::new(), format!("{arrow} {name}")]
            }
            Some(LadderCell::Empty) | None => [const { String::new() }; 3],
        };
        let mut rows = Rows::of(rungs);
        for (side, title) in self.titles.iter().enumerate() {
            let shown = |cells: &[LadderCell]| shown(cells.get(side));
            rows = rows
                .figures(self.unit, "", |cells| Figure::plain(&shown(cells)[0]))
                .figures("B", "", |cells| Figure::plain(&shown(cells)[1]))
                .words(title, |cells| {
                    let [.., name] = shown(cells);
                    name
                });
        }
        rows.table()
    }
}

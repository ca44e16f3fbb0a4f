//! What became of a kind that was asked for.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Version};

use super::COUNT;

/// A column of the tables: what was asked for.
pub(super) struct Column {
    pub(super) heading: &'static str,
    tls: Version,
    kind: Kind,
}

/// What a server does without being told to, if it does it at all.
pub(super) const COLUMNS: [Column; 5] = [
    Column { heading: "1.2 `full`", tls: Version::Tls12, kind: Kind::Full },
    Column { heading: "1.2 `id`", tls: Version::Tls12, kind: Kind::Id },
    Column { heading: "1.2 `ticket`", tls: Version::Tls12, kind: Kind::Ticket },
    Column { heading: "1.3 `full`", tls: Version::Tls13, kind: Kind::Full },
    Column { heading: "1.3 `ticket`", tls: Version::Tls13, kind: Kind::Ticket },
];

/// The server gave nothing that this could be asked with, or has no switch for it.
pub(super) const NOT_OFFERED: &str = "–";
const REFUSED: &str = "refused";

impl Column {
    pub(super) fn cell(&self, document: &MeasureDocument) -> String {
        cell(document.run(self.tls, self.kind))
    }
}

/// All, none or some of the samples; and how, where there is more than one way.
pub(super) fn cell(run: Option<&Run>) -> String {
    match run {
        None => NOT_OFFERED.to_owned(),
        Some(run) if run.n == 0 => REFUSED.to_owned(),
        Some(run) if run.n < u64::from(COUNT) => format!("{} of {COUNT}", run.n),
        Some(run) => run.observed.psk_mode.map_or_else(|| "yes".to_owned(), |mode| format!("`{}`", mode.name())),
    }
}

/// What a server can do in one column is what it did under any setting.
pub(super) fn best(rows: &[Vec<String>], column: usize) -> String {
    let did = |cell: &&String| ![NOT_OFFERED, REFUSED].contains(&cell.as_str());
    let mut cells = rows.iter().filter_map(|cells| cells.get(column));
    cells.find(did).map_or_else(|| NOT_OFFERED.to_owned(), String::clone)
}

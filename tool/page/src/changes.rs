//! What became of figures against an earlier result, in words.

use reprise_model::document::{Change, Provenance};

use crate::page::Block;

/// "Against nginx.json of 2026-10-01T08:00:00Z".
pub fn heading(files: usize, file: &str, provenance: Option<&Provenance>) -> Block {
    Block::Heading(match (provenance, files) {
        (Some(provenance), 2..) => format!("Against {files} results, the last of them {file} of {}", provenance.time),
        (Some(provenance), _) => format!("Against {file} of {}", provenance.time),
        (None, _) => format!("Against {file}"),
    })
}

/// A change in a table: none has no word.
pub fn word(change: Change) -> &'static str {
    match change {
        Change::Slower => "slower",
        Change::Faster => "faster",
        Change::None => "",
        Change::Unknown => "unknown",
    }
}

/// How many figures changed, and how many would by chance alone: each interval misses the truth in 5 of 100 cases.
pub fn count(changes: impl Iterator<Item = Change> + Clone) -> String {
    let of = |wanted: Change| changes.clone().filter(|change| *change == wanted).count();
    let (slower, faster, same) = (of(Change::Slower), of(Change::Faster), of(Change::None));
    let compared = slower + faster + same;
    if compared == 0 {
        return "Too few samples to tell a change from chance: at least six are needed on each side.".to_owned();
    }
    let chance = (compared as f64 * 0.05).round().max(1.0);
    let changed = match (slower, faster) {
        (0, 0) => return format!("None of {compared} medians changed beyond its interval."),
        (slower, 0) => format!("{slower} slower"),
        (0, faster) => format!("{faster} faster"),
        (slower, faster) => format!("{slower} slower and {faster} faster"),
    };
    format!("{changed} of {compared} medians changed beyond their intervals; about {chance} would by chance alone.")
}

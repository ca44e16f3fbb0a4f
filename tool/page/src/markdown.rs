//! Pages as GitHub's Markdown: what the terminal shows, with every column.

use crate::page::{Block, Item, Page};
use crate::table::{Alignment, Column, Row, Table};

/// The page as Markdown.
pub fn render(page: &Page) -> String {
    let title = format!("# {}\n", escaped(&page.title));
    let blocks = page.written(true).map(|block| match block {
        Block::Heading(text) => format!("## {}\n", escaped(text)),
        Block::Facts(facts) => {
            facts.iter().map(|fact| format!("- {}: {}\n", escaped(&fact.name), escaped(&fact.value))).collect()
        }
        Block::Table(table) => self::table(table),
        Block::Ladder(ladder) => self::table(&ladder.table()),
        Block::Paragraph(text) => format!("{}\n", escaped(text)),
        Block::Code(commands) => format!("```sh\n{commands}\n```\n"),
        Block::Aside(text) => format!("<sub>{}</sub>\n", escaped(text)),
        Block::Item(item) => self::item(item),
        // Not among what is written.
        Block::Chart(_) | Block::Summary(_) | Block::Secondary(_) => String::new(),
    });
    std::iter::once(title).chain(blocks).collect::<Vec<_>>().join("\n")
}

fn table(table: &Table) -> String {
    let header = |column: &Column| match column.unit.as_str() {
        "" => escaped(&column.name),
        unit => format!("{} {}", escaped(&column.name), escaped(unit)),
    };
    let rule = |column: &Column| match column.alignment {
        Alignment::Left => ":---".to_owned(),
        Alignment::Right => "---:".to_owned(),
    };
    let head = [table.columns.iter().map(header).collect(), table.columns.iter().map(rule).collect()];
    let rows = table.rows.iter().map(cells);
    head.into_iter().chain(rows).map(|cells: Vec<String>| format!("| {} |\n", cells.join(" | "))).collect()
}

/// The cells of a row; its note stands in the last cell that is not empty, since GitHub's tables have no spans.
fn cells(row: &Row) -> Vec<String> {
    let mut cells: Vec<String> = row.cells.iter().map(|cell| escaped(cell.trim())).collect();
    let place = cells.iter_mut().rev().find(|cell| !cell.is_empty());
    if let (Some(cell), Some(note)) = (place, &row.note) {
        cell.push_str(&format!(" ({})", escaped(note)));
    }
    cells
}

fn item(item: &Item) -> String {
    let slug = item.slug.as_ref().map(|slug| format!(" {}", name(slug))).unwrap_or_default();
    let confidence = item.confidence.map(|confidence| format!(", {confidence}")).unwrap_or_default();
    let mut out = format!("- **{}**{confidence}: {}{slug}\n", item.label, escaped(&item.text));
    for evidence in &item.evidence {
        out.push_str(&format!("  - {}\n", escaped(evidence)));
    }
    for step in &item.remedy {
        out.push_str(&format!("  - → {}\n", escaped(step)));
    }
    out
}

/// A fixed name as code; one that a saved file made up, as text.
fn name(slug: &str) -> String {
    let is_fixed = slug.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if is_fixed { format!("`{slug}`") } else { escaped(slug) }
}

/// Text that means itself: nothing in it ends a cell, opens a tag or makes a link. Underscores within words are safe.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '`' | '[' | ']' | '\\' => out.extend(['\\', letter]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            control if control.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_stays_in_its_cell() {
        assert_eq!(escaped("a|b\n<img>"), "a\\|b &lt;img>");
    }
}

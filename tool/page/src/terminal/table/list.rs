//! A table that is wider than the terminal, row by row: its words, and below them a figure a line.

use crate::table::{Alignment, Column, Row, Table};
use crate::terminal::{Style, TITLE, in_lines, tone, visible};

/// Before a figure's name.
const INDENT: &str = "  ";

/// The lines. `above`: for each row the words of a column that is not in the table any more, empty where they are as in the row above.
pub(super) fn render(table: &Table, above: &[String], style: Style) -> Vec<String> {
    let width = style.width.unwrap_or(usize::MAX);
    let is_figure = |column: &Column| column.alignment == Alignment::Right;
    let heads = table.columns.iter().position(is_figure).unwrap_or(1).max(1);
    let names: Vec<String> = table.columns.iter().map(name).collect();
    let longest = names.iter().skip(heads).map(|name| name.chars().count()).max().unwrap_or_default();
    let mut lines = Vec::new();
    let mut head: Vec<String> = vec![String::new(); heads + 1];
    for (place, row) in table.rows.iter().enumerate() {
        if place > 0 {
            lines.push(String::new());
        }
        // What is said once in a table is said in each part of a list.
        let cells = table.columns.iter().zip(&names).zip(&row.cells).take(heads);
        let cells = cells.map(|((column, name), cell)| match is_figure(column) {
            true => format!("{name} {}", cell.trim()),
            false => visible(cell.trim()),
        });
        let own = above.get(place).cloned().into_iter().chain(cells);
        // What stands behind the first word that is new says nothing where it is empty.
        let mut is_new = false;
        for (known, cell) in head.iter_mut().zip(own) {
            is_new |= !cell.is_empty();
            if is_new {
                *known = cell;
            }
        }
        let words: Vec<&str> = head.iter().map(String::as_str).filter(|words| !words.is_empty()).collect();
        lines.extend(in_lines(&words.join(", "), "", INDENT, width).iter().map(|text| style.paint(TITLE, text)));
        for (name, cell) in names.iter().zip(&row.cells).skip(heads).filter(|(_, cell)| is_said(cell)) {
            lines.extend(
                figure(name, &visible(cell.trim()), longest, width).iter().map(|text| style.paint(tone(row.tone), text)),
            );
        }
        lines.extend(noted(row, width));
    }
    lines
}

/// With its unit, or the second half of its name.
fn name(column: &Column) -> String {
    [column.name.as_str(), column.unit.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Blanks and bars say nothing in a list.
fn is_said(cell: &str) -> bool {
    cell.contains(|letter: char| letter.is_alphanumeric() || letter == '–')
}

fn figure(name: &str, cell: &str, longest: usize, width: usize) -> Vec<String> {
    let label = format!("{INDENT}{name:<longest$}");
    let label = if longest == 0 { INDENT.to_owned() } else { label + INDENT };
    let rest = " ".repeat(label.chars().count());
    match label.chars().count() + 12 <= width {
        true => in_lines(cell, &label, &rest, width),
        // Too little room beside the name.
        false => [format!("{INDENT}{name}")].into_iter().chain(in_lines(cell, "    ", "    ", width)).collect(),
    }
}

fn noted(row: &Row, width: usize) -> Vec<String> {
    row.note.iter().flat_map(|note| in_lines(note, INDENT, INDENT, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figure;
    use crate::table::Rows;

    #[test]
    fn a_row_becomes_a_paragraph_that_fits() {
        let rows = Rows::of([("1.3", "full", 1.5), ("1.3", "resumed by ticket", 12.5)]);
        let rows = rows.words("TLS", |row| row.0).once(|row| row.0).words("kind", |row| row.1);
        let ratio = |row: (&str, &str, f64)| Figure::ratio(row.2, Some([row.2 - 0.1, row.2 + 0.1]));
        let table = rows.figures("tls", "ms", ratio).figures("n", "", |_| Figure::count(100)).table();
        let lines = render(&table, &[], Style { color: false, width: Some(30) });
        assert_eq!(
            lines,
            [
                "1.3, full",
                "  tls ms  1.50 ±0.10",
                "  n       100",
                "",
                "1.3, resumed by ticket",
                "  tls ms  12.50 ±0.10",
                "  n       100",
            ]
        );
    }

    #[test]
    fn an_empty_word_is_not_that_of_the_row_above() {
        let rows = Rows::of([("1.3", "full", "slower"), ("1.3", "ticket", "")]);
        let rows = rows.words("TLS", |row| row.0).once(|row| row.0).words("kind", |row| row.1).words("is", |row| row.2);
        let table = rows.figures("n", "", |_| Figure::count(100)).table();
        let lines = render(&table, &[], Style { color: false, width: Some(30) });
        assert_eq!(lines, ["1.3, full, slower", "  n  100", "", "1.3, ticket", "  n  100"]);
    }

    #[test]
    fn words_alone_are_told_by_their_columns() {
        let rows = Rows::of([("cipher suite", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256")]);
        let table = rows.words("what", |row| row.0).words("before", |row| row.1).words("after", |row| row.2).table();
        let lines = render(&table, &[], Style { color: false, width: Some(40) });
        assert_eq!(lines, ["cipher suite", "  before  TLS_AES_128_GCM_SHA256", "  after   TLS_CHACHA20_POLY1305_SHA256"]);
    }
}

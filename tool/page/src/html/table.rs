//! Tables: headers that say what they head, figures under one another, and a frame that scrolls where a screen is narrow.

use maud::{Markup, html};

use super::tone;
use crate::table::{Alignment, Column, Row, Table};

/// `name` is what the table is about, for a screen reader.
pub(super) fn render(table: &Table, name: &str) -> Markup {
    let table = without_bars(table.clone());
    let groups = table.rows.chunk_by(|_, row| !row.begins_group);
    html! {
        div.scroll role="group" aria-label=(format!("Table: {name}")) tabindex="0" {
            table {
                caption { (name) }
                thead {
                    tr { @for column in &table.columns { (header(column)) } }
                }
                @for group in groups {
                    tbody {
                        @for row in group { (self::row(row, &table.columns)) }
                    }
                }
            }
        }
    }
}

/// Bars of characters are for where nothing can be drawn.
fn without_bars(table: Table) -> Table {
    let is_bar = |index: usize| table.rows.iter().any(|row| row.cells.get(index).is_some_and(|cell| cell.contains('█')));
    match (0..table.columns.len()).find(|index| is_bar(*index)) {
        Some(index) => table.without_column(index),
        None => table,
    }
}

fn header(column: &Column) -> Markup {
    let class = class(column, None);
    if column.name.is_empty() && column.unit.is_empty() {
        return html! { td class=(class) {} };
    }
    html! {
        th scope="col" class=(class) {
            (column.name)
            @if !column.unit.is_empty() { " " span.unit { (column.unit) } }
        }
    }
}

fn row(row: &Row, columns: &[Column]) -> Markup {
    let filled = row.cells.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |last| last + 1);
    let free = columns.len().saturating_sub(filled);
    html! {
        tr.(tone(row.tone)) {
            @for (index, (cell, column)) in row.cells.iter().zip(columns).take(filled).enumerate() {
                @let note = row.note.as_ref().filter(|_| free == 0 && index + 1 == filled);
                @let class = class(column, row.gains.get(index).copied().flatten());
                (self::cell(cell, column, class, index == 0, note))
            }
            @if free > 0 {
                // A note stands in place of the figures that are not there.
                @match &row.note {
                    Some(note) => td.note colspan=(free) { (note) },
                    None => @for column in columns.iter().skip(filled) { td class=(class(column, None)) {} },
                }
            }
        }
    }
}

fn cell(text: &str, column: &Column, class: &str, is_first: bool, note: Option<&String>) -> Markup {
    let content = html! {
        @if column.alignment == Alignment::Right { (with_quiet_spread(text)) } @else { span.short[text.trim().chars().count() <= 28] { (text.trim()) } }
        @if let Some(note) = note { " " span.note { (note) } }
    };
    if is_first && column.alignment == Alignment::Left && !text.trim().is_empty() {
        html! { th scope="row" { (content) } }
    } else {
        html! { td class=(class) { (content) } }
    }
}

/// The medians are what is read first: spreads step back.
fn with_quiet_spread(text: &str) -> Markup {
    match text.find('±') {
        Some(place) => {
            let (value, spread) = text.split_at(place);
            html! { (value) span.spread { (spread) } }
        }
        None => html! { (text) },
    }
}

fn class(column: &Column, is_gain: Option<bool>) -> &'static str {
    match (column.alignment, is_gain) {
        (Alignment::Left, _) => "words",
        (Alignment::Right, None) => "figures",
        (Alignment::Right, Some(true)) => "figures better",
        (Alignment::Right, Some(false)) => "figures no-gain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figure;
    use crate::table::{Rows, Tone};

    #[test]
    fn a_note_stands_where_figures_are_missing() {
        let rows = Rows::of([("ticket", 0, None), ("id", 1, Some("3 ±1"))]).words("kind", |row| row.0).grouped(|row| row.0);
        let rows = rows.figures("n", "", |row| Figure::count(row.1)).figures("tls", "ms", |row| row.2.map(Figure::plain));
        let table = rows.noted(|_| Some("refused".to_owned())).toned(|_| Tone::Warning).table();
        let html = render(&table, "Costs").into_string();
        assert!(html.contains("<th scope=\"row\"><span class=\"short\">ticket</span></th>"), "{html}");
        assert!(html.contains("<td class=\"note\" colspan=\"1\">refused</td>"), "{html}");
        assert!(html.contains("3 <span class=\"spread\">±1</span> <span class=\"note\">refused</span>"), "{html}");
        assert_eq!(html.matches("<tbody>").count(), 2);
    }
}

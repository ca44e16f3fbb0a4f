//! Tables on a terminal. What does not fit is left out by whole columns: a figure is never wrapped or cut. Words of the last column are
//! wrapped. What is too wide even so is a list: see `list`.

mod list;

use comfy_table::{CellAlignment, ContentArrangement, TableComponent, presets};

use super::{PROSE, QUIET, Style, TITLE, in_lines, tone, visible, wrapped};
use crate::table::{Alignment, Row, Table, Tone};

/// Between two columns.
const GAP: u16 = 2;

/// From so many columns on, a table that is too wide all the same becomes a list; below, nothing helps.
const LISTED: usize = 30;

/// The table, and below it, if `says_omitted`, the names of the columns that were left out for the width. Where it is wider than a page, what its groups have in
/// common stands above each of them.
pub(super) fn render(table: Table, style: Style, says_omitted: bool) -> String {
    let groups = table.rows.iter().filter(|row| row.begins_group).count() + 1;
    // Groups of a row or two are no reason for as many empty lines.
    let is_spaced = table.rows.len() > 2 * groups;
    let (above, table) = with_groups_above(table, style.width.unwrap_or(PROSE));
    let (table, left_out) = fit(table, style.width);
    let drawn = draw(&table);
    let mut drawn = drawn.lines().map(str::trim_end);
    let header: Vec<&str> = drawn.by_ref().take(header_lines(&table) + 1).collect();
    let folding = style.width.filter(|_| ends_in_words(&table));
    let rows: Vec<Vec<String>> = table.rows.iter().zip(drawn).map(|(row, text)| folded(text, row, folding)).collect();
    let widest = rows.iter().flatten().map(|text| text.chars().count()).max().unwrap_or_default();
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    if style.width.is_some_and(|width| width >= LISTED && widest > width) {
        list::render(&table, &above, style).into_iter().for_each(&mut line);
    } else {
        let mut above = above.into_iter();
        let width = folding.unwrap_or(usize::MAX).max(widest);
        for text in header {
            line(style.paint(QUIET, &text.chars().take(width).collect::<String>()));
        }
        for (row, lines) in table.rows.iter().zip(rows) {
            if row.begins_group && (is_spaced || !above.as_slice().is_empty()) {
                line(String::new());
            }
            if let Some(words) = above.next().filter(|words| !words.is_empty()) {
                wrapped(&words, "", "  ", style).iter().for_each(|text| line(style.paint(TITLE, text)));
            }
            let (beside, below) = note(row, lines.last().map_or(0, |text| text.chars().count()), style.width);
            lines.iter().for_each(|text| line(painted(text, beside.as_deref(), row, style)));
            below.iter().for_each(|text| line(style.paint(tone(row.tone), text)));
        }
    }
    if says_omitted && !left_out.is_empty() {
        let said = format!("Columns omitted: {}.", left_out.join(", "));
        wrapped(&said, "", "", style).iter().for_each(|text| line(style.paint(QUIET, text)));
    }
    out
}

/// Whether columns of the table are left out for the width.
pub(super) fn is_cut(table: &Table, style: Style) -> bool {
    !fit(table.clone().without_secondary(), style.width).1.is_empty()
}

/// Words of so many columns are worth a line of their own.
const LONG: usize = 24;

/// Of a table that is too wide: the words of its first column, row by row, and the table without them; else no words. Only of a table that has
/// them once a group.
fn with_groups_above(table: Table, width: usize) -> (Vec<String>, Table) {
    let words: Vec<String> = table.rows.iter().filter_map(|row| row.cells.first()).map(|cell| visible(cell)).collect();
    let is_grouped = table.rows.iter().any(|row| row.begins_group) && words.iter().any(String::is_empty);
    let is_long = words.iter().any(|words| words.chars().count() >= LONG);
    if !is_grouped || !is_long || drawn_width(&table) <= width {
        return (Vec::new(), table);
    }
    (words, table.without_column(0))
}

/// The table without as many of its dispensable columns as the width asks for, and the names of those.
fn fit(mut table: Table, width: Option<usize>) -> (Table, Vec<String>) {
    let mut left_out = Vec::new();
    while width.is_some_and(|width| drawn_width(&table) > width) {
        let ranks = table.columns.iter().enumerate().filter_map(|(index, column)| Some((column.rank?, index)));
        let Some((_, index)) = ranks.min() else { break };
        left_out.extend(table.columns.get(index).map(|column| column.name.clone()).filter(|name| !name.is_empty()));
        table = table.without_column(index);
    }
    (table, left_out)
}

fn drawn_width(table: &Table) -> usize {
    draw(table).lines().map(|line| line.trim_end().chars().count()).max().unwrap_or_default()
}

fn ends_in_words(table: &Table) -> bool {
    table.columns.last().is_some_and(|column| column.alignment == Alignment::Left)
}

/// Less than this of a line is no place for words.
const NARROW: usize = 16;

/// A row's last cell in as many lines as this width asks for, under one another.
fn folded(drawn: &str, row: &Row, width: Option<usize>) -> Vec<String> {
    let cell = row.cells.last().map(|cell| visible(cell)).unwrap_or_default();
    let ahead = drawn.chars().count().saturating_sub(cell.chars().count());
    let room = width.filter(|width| drawn.chars().count() > *width && row.note.is_none());
    let Some(room) = room.and_then(|width| width.checked_sub(ahead)).filter(|room| *room >= NARROW) else {
        return vec![drawn.to_owned()];
    };
    let gap = |line| if line == 0 { drawn.chars().take(ahead).collect() } else { " ".repeat(ahead) };
    in_lines(&cell, "", "", room).into_iter().enumerate().map(|(line, text)| gap(line) + &text).collect()
}

/// Header, rule and rows, a line each (the header one or two); gaps are not drawn.
fn draw(table: &Table) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn
        .load_preset(presets::NOTHING)
        .set_style(TableComponent::HeaderLines, '─')
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(table.columns.iter().map(|column| match header_lines(table) {
            1 => column.name.clone(),
            _ => format!("{}\n{}", column.name, column.unit),
        }));
    drawn.add_rows(table.rows.iter().map(|row| row.cells.iter().map(|cell| visible(cell))));
    let last = table.columns.len().saturating_sub(1);
    for (index, (drawn, column)) in drawn.column_iter_mut().zip(&table.columns).enumerate() {
        drawn.set_padding((0, if index == last { 0 } else { GAP }));
        drawn.set_cell_alignment(match column.alignment {
            Alignment::Left => CellAlignment::Left,
            Alignment::Right => CellAlignment::Right,
        });
    }
    drawn.to_string()
}

fn header_lines(table: &Table) -> usize {
    if table.columns.iter().all(|column| column.unit.is_empty()) { 1 } else { 2 }
}

/// What is said of a row: beside its figures where there is room, else below them.
fn note(row: &Row, drawn: usize, width: Option<usize>) -> (Option<String>, Vec<String>) {
    let Some(note) = row.note.as_deref().map(visible) else { return (None, Vec::new()) };
    match width {
        Some(width) if drawn + usize::from(GAP) + note.chars().count() > width => {
            (None, in_lines(&note, "    ", "    ", width))
        }
        _ => (Some(note), Vec::new()),
    }
}

fn painted(drawn: &str, note: Option<&str>, row: &Row, style: Style) -> String {
    let text = match note {
        Some(note) => format!("{drawn}  {note}"),
        None => drawn.to_owned(),
    };
    // The medians are what is read first: spreads step back.
    if row.tone == Tone::Plain { quiet_spreads(&text, style) } else { style.paint(tone(row.tone), &text) }
}

fn quiet_spreads(text: &str, style: Style) -> String {
    let mut parts = text.split('±');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (spread, rest) = part.split_at(part.find(' ').unwrap_or(part.len()));
        out.push_str(&style.paint(QUIET, &format!("±{spread}")));
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Figure;
    use crate::table::Rows;

    fn table() -> Table {
        let rows = Rows::of([("full", 1.0), ("ticket", 12.5)]).words("kind", |(kind, _)| kind).grouped(|(kind, _)| kind);
        let rows = rows.figures("n", "", |_| Figure::count(100)).dispensable(0);
        rows.figures("tls", "ms", |(_, ratio)| Figure::ratio(ratio, Some([ratio - 0.1, ratio + 0.1]))).table()
    }

    fn lines(width: Option<usize>) -> Vec<String> {
        render(table(), Style { color: false, width }, true).lines().map(str::to_owned).collect()
    }

    #[test]
    fn figures_stand_under_one_another_and_under_their_unit() {
        assert_eq!(
            lines(None),
            [
                "kind      n          tls",
                "                      ms",
                "────────────────────────",
                "full    100   1.00 ±0.10",
                "ticket  100  12.50 ±0.10",
            ]
        );
    }

    #[test]
    fn what_does_not_fit_goes_by_whole_columns_and_is_named() {
        assert_eq!(lines(Some(24)), lines(None));
        assert_eq!(
            lines(Some(23))[2..],
            ["───────────────────", "full     1.00 ±0.10", "ticket  12.50 ±0.10", "Columns omitted: n.",]
        );
        let words = |width| lines(Some(width)).join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(Some(5))[..5], lines(Some(23))[..5], "what is indispensable stays");
        assert_eq!(words(5), words(23));
    }

    #[test]
    fn groups_of_a_wide_table_have_their_words_above() {
        let long = "a handshake whose words would take more than half of the line";
        let rows = Rows::of([(long, 1.0), (long, 2.0), ("another", 3.0)]).words("kind", |(kind, _)| kind);
        let rows = rows.grouped(|(kind, _)| kind).words("stack", |_| "openssl");
        let table = rows.figures("cost", "", |(_, ratio)| Figure::ratio(ratio, Some([ratio - 0.1, ratio + 0.1]))).table();
        let lines = |width| render(table.clone(), Style { color: false, width: Some(width) }, true);
        let expected = [
            "stack         cost",
            "───────────────────",
            long,
            "openssl 1.00 ±0.10",
            "openssl 2.00 ±0.10",
            "",
            "another",
            "openssl 3.00 ±0.10",
        ];
        let narrow = lines(70);
        assert_eq!(
            narrow.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>(),
            expected.map(|line| line.split_whitespace().collect::<Vec<_>>()),
            "{narrow}"
        );
        assert!(lines(100).starts_with("kind"), "{}", lines(100));
    }

    #[test]
    fn words_at_the_end_are_folded_under_one_another() {
        let rows =
            Rows::of([("openssl", "it has no such call"), ("mine", "it has another call than this, in another version")]);
        let table = rows.words("stack", |(stack, _)| stack).words("reason", |(_, reason)| reason).table();
        let lines = |width| {
            render(table.clone(), Style { color: false, width }, true).lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            lines(Some(40)),
            [
                "stack    reason",
                "────────────────────────────────────────",
                "openssl  it has no such call",
                "mine     it has another call than this,",
                "         in another version",
            ]
        );
        assert_eq!(lines(Some(20))[2..], lines(None)[2..], "too little room");
        assert_eq!(lines(None).len(), 4);
    }

    #[test]
    fn spreads_are_dimmed_beside_their_figure() {
        let coloured = Style { color: true, width: None };
        assert_eq!(quiet_spreads("1.00 ±0.10  2 ±1", coloured), "1.00 \u{1b}[2m±0.10\u{1b}[0m  2 \u{1b}[2m±1\u{1b}[0m");
    }
}

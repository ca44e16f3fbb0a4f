//! The table of servers: as text, and as it stands in the guide.

use std::fmt;
use std::path::Path;
use std::{env, fs};

use super::COLUMNS;

/// What each server did.
#[derive(Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

/// What one server did under one setting.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) server: String,
    pub(super) version: String,
    pub(super) cache: String,
    pub(super) tickets: String,
    /// One for each of [`COLUMNS`].
    pub(super) cells: Vec<String>,
}

/// The page, from the root of the workspace.
const PAGE: &str = "docs/guide/8-servers.md";

/// Between these lines of the page the table stands.
const BEGIN: &str = "<!-- servers: this table is written by `cargo xtask servers` -->\n\n";
const END: &str = "\n<!-- servers: end -->\n";

/// Set by `cargo xtask servers`.
const WRITE: &str = "REPRISE_WRITE_SERVERS";

/// The guide says what was measured. A server of another version than the guide's may behave otherwise: what it did is
/// printed, not compared.
#[track_caller]
pub(super) fn hold_against_the_guide(measured: &Table) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let Some((before, table, after)) = around_the_table(&text) else { panic!("{PAGE} has no place for the table") };
    if env::var_os(WRITE).is_some() {
        fs::write(&path, format!("{before}{BEGIN}{measured}{END}{after}")).unwrap();
        return;
    }
    let differing = Table::parse(table).differing(measured);
    assert!(differing.is_empty(), "{PAGE} says otherwise; `cargo xtask servers` would write\n{}", differing.join("\n"));
}

fn around_the_table(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (table, after) = rest.split_once(END)?;
    Some((before, table, after))
}

impl Table {
    /// Reads what [`Table`]'s `Display` has written.
    fn parse(text: &str) -> Self {
        Self { rows: text.lines().skip(2).map(Row::parse).collect() }
    }

    /// The measured rows that this table has otherwise, or not at all, though it knows the server in that version.
    fn differing(&self, measured: &Self) -> Vec<String> {
        let knows = |row: &Row| self.rows.iter().any(|own| (&own.server, &own.version) == (&row.server, &row.version));
        let differing = measured.rows.iter().filter(|row| knows(row) && !self.rows.contains(row));
        differing.map(Row::to_string).collect()
    }
}

impl Row {
    fn parse(line: &str) -> Self {
        let mut fields = line.trim_matches('|').split('|').map(|field| field.trim().to_owned());
        let mut next = || fields.next().unwrap_or_default();
        let [server, version, cache, tickets] = [next(), next(), next(), next()];
        Self { server, version, cache, tickets, cells: fields.collect() }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = COLUMNS.map(|column| column.heading).join(" | ");
        writeln!(formatter, "| server | version | cache | tickets | {headings} |")?;
        writeln!(formatter, "|{}", " --- |".repeat(4 + COLUMNS.len()))?;
        self.rows.iter().try_for_each(|row| writeln!(formatter, "{row}"))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, version, cache, tickets, cells } = self;
        write!(formatter, "| {server} | {version} | {cache} | {tickets} | {} |", cells.join(" | "))
    }
}

#[test]
fn a_row_that_the_guide_has_otherwise_is_found() {
    let row = |version: &str, cell: &str| Row {
        server: "nginx".to_owned(),
        version: version.to_owned(),
        cache: "off".to_owned(),
        tickets: "on".to_owned(),
        cells: vec![cell.to_owned(); COLUMNS.len()],
    };
    let guide = Table { rows: vec![row("1.22.1", "yes")] };
    let read = Table::parse(&guide.to_string());
    assert_eq!(read.differing(&guide), [""; 0]);
    let refused = Table { rows: vec![row("1.22.1", "refused"), row("1.30.0", "refused")] };
    assert_eq!(read.differing(&refused), [row("1.22.1", "refused").to_string()]);
}

//! The table of servers: as text, and as it stands in the guide.

use std::fmt;
use std::path::Path;
use std::{env, fs};

/// What each server did.
pub(super) struct Table {
    /// What tells it from the other tables of the page.
    name: &'static str,
    headings: Vec<&'static str>,
    pub(super) rows: Vec<Row>,
}

/// What one server did, under one setting or in all.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) server: String,
    pub(super) version: String,
    /// One for each heading.
    pub(super) cells: Vec<String>,
}

/// The page, from the root of the workspace.
const PAGE: &str = "docs/guide/21-servers.md";

/// Set by `cargo xtask servers`.
const WRITE: &str = "REPRISE_WRITE_SERVERS";

/// The guide says what was measured. A server of another version than the guide's may behave otherwise: what it did is
/// printed, not compared.
#[track_caller]
pub(super) fn hold_against_the_guide(tables: &[Table]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let mut text = fs::read_to_string(&path).unwrap();
    for measured in tables {
        let Some((before, written, after)) = measured.place_in(&text) else {
            panic!("{PAGE} has no place for {}", measured.name);
        };
        let differing = measured.parse(written).differing(measured);
        if env::var_os(WRITE).is_some() {
            text = format!("{before}{measured}{after}");
        } else {
            let rows = differing.join("\n");
            assert!(rows.is_empty(), "{PAGE} says otherwise; `cargo xtask servers` would write\n{rows}");
        }
    }
    if env::var_os(WRITE).is_some() {
        fs::write(&path, text).unwrap();
    }
}

impl Table {
    pub(super) fn new(name: &'static str, headings: &[&'static str]) -> Self {
        Self { name, headings: headings.to_vec(), rows: Vec::new() }
    }

    /// The page before this table, the table as it stands there, and the page after it.
    fn place_in<'a>(&self, page: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let begin = format!("<!-- servers: {}, written by `cargo xtask servers` -->\n\n", self.name);
        let start = page.find(&begin)? + begin.len();
        let (before, rest) = page.split_at(start);
        let (table, after) = rest.split_at(rest.find("\n<!-- servers: end -->")?);
        Some((before, table, after))
    }

    /// Reads what `Display` has written.
    fn parse(&self, text: &str) -> Self {
        Self { rows: text.lines().skip(2).map(Row::parse).collect(), ..Self::new(self.name, &self.headings) }
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
        let [server, version] = [next(), next()];
        Self { server, version, cells: fields.collect() }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "| server | version | {} |", self.headings.join(" | "))?;
        writeln!(formatter, "|{}", " --- |".repeat(2 + self.headings.len()))?;
        self.rows.iter().try_for_each(|row| writeln!(formatter, "{row}"))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, version, cells } = self;
        write!(formatter, "| {server} | {version} | {} |", cells.join(" | "))
    }
}

#[test]
fn a_row_that_the_guide_has_otherwise_is_found() {
    let row = |version: &str, cell: &str| Row {
        server: "nginx".to_owned(),
        version: version.to_owned(),
        cells: vec!["on".to_owned(), cell.to_owned()],
    };
    let table = |rows| Table { rows, ..Table::new("settings", &["tickets", "1.3 `ticket`"]) };
    let guide = table(vec![row("1.22.1", "yes")]);
    let read = guide.parse(&guide.to_string());
    assert_eq!(read.differing(&guide), [""; 0]);
    let refused = table(vec![row("1.22.1", "refused"), row("1.30.0", "refused")]);
    assert_eq!(read.differing(&refused), [row("1.22.1", "refused").to_string()]);
}

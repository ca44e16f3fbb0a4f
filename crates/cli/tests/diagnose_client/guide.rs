//! The table of clients in the guide is what these tests check.

use std::path::Path;
use std::{env, fs};

use crate::cases::{CASES, Expected};

/// The page, from the root of the workspace.
const PAGE: &str = "docs/guide/03-diagnose-a-client.md";

const BEGIN: &str = "<!-- clients: written by the tests -->\n\n";
const END: &str = "\n<!-- clients: end -->";

/// Set to write the page instead.
const WRITE: &str = "REPRISE_WRITE_CLIENTS";

#[test]
fn the_guide_has_the_table_of_clients() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    if env::var_os(WRITE).is_some() {
        fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", table_of_clients())).unwrap();
    } else {
        assert_eq!(table, table_of_clients(), "{WRITE}=1 writes it");
    }
}

fn table_of_clients() -> String {
    let mut lines = vec![
        "| client | what it does | what is found | what is printed and fixes it |".to_owned(),
        "| --- | --- | --- | --- |".to_owned(),
    ];
    lines.extend(CASES.iter().map(|case| {
        let found = match &case.expected {
            Expected::Healthy => "nothing: it resumes".to_owned(),
            Expected::Found { id, severity, confidence, .. } => {
                format!("`{id}`, {}, {}", severity.name(), confidence.name())
            }
        };
        let fixed = case.code().map_or_else(|| "–".to_owned(), |code| format!("`{}`", code.replace('|', "¦")));
        format!("| {} | {} | {found} | {fixed} |", case.software, case.does)
    }));
    lines.join("\n") + "\n"
}

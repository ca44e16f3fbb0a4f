//! Which remedies no test applies: the guide names each, with what it was checked against, and there are not more of them.

use std::collections::{BTreeMap, BTreeSet};

use super::causes;
use crate::guide;

/// The tables of what tests applied; the last column holds the code.
const APPLIED: [(&str, &str); 2] = [("03-diagnose-a-client.md", "<!-- clients:"), ("22-causes-seen.md", "<!-- causes:")];
/// The table of the others.
const OTHERS: (&str, &str) = ("22-causes-seen.md", "<!-- untested:");

/// Not one more. Where tests apply another, this becomes less.
const AT_MOST: usize = 22;

#[test]
fn the_guide_names_every_remedy_that_no_test_applies() {
    let tables: Option<Vec<_>> = APPLIED.iter().map(|table| rows(*table)).collect();
    let (Some(tables), Some(others)) = (tables, rows(OTHERS)) else { return };
    let applied: BTreeSet<String> = tables.into_iter().flatten().flat_map(codes).collect();
    let named: BTreeSet<(String, String)> = others.iter().map(|row| (row[0].clone(), code(&row[1]))).collect();
    let untested = untested(&applied);
    let keys: BTreeSet<_> = untested.keys().cloned().collect();
    let lines: Vec<String> =
        untested.iter().map(|((software, code), causes)| format!("| {software} | `{code}` | {causes} |  |")).collect();
    assert_eq!(named, keys, "docs/guide/22-causes-seen.md should name these:\n{}", lines.join("\n"));
    assert!(named.len() <= AT_MOST, "{} remedies are not tested", named.len());
}

/// Software and code of what findings print, with the causes for which they do.
fn untested(applied: &BTreeSet<String>) -> BTreeMap<(String, String), String> {
    let found = causes().filter(|cause| !cause.found_by().is_empty());
    let mut untested: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (slug, fix) in found.flat_map(|cause| cause.all_fixes().map(|fix| (cause.slug, fix))) {
        if !fix.set.is_empty() && !applied.contains(&shown(&fix.set)) {
            let slugs = untested.entry((fix.software.to_owned(), shown(&fix.set))).or_default();
            if !slugs.contains(&format!("`{slug}`")) {
                slugs.push(format!("`{slug}`"));
            }
        }
    }
    untested.into_iter().map(|(key, slugs)| (key, slugs.join(", "))).collect()
}

/// As a table holds it.
fn shown(code: &str) -> String {
    code.replace('|', "¦")
}

/// The cells of each row of the table behind this mark. `None` where there is no guide.
fn rows((page, mark): (&str, &str)) -> Option<Vec<Vec<String>>> {
    let page = guide::page(page)?;
    let (_, rest) = page.split_once(mark).unwrap();
    let lines = rest.lines().skip(1).skip_while(|line| !line.starts_with("| --- ")).skip(1);
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    Some(lines.take_while(|line| line.starts_with('|')).map(cells).collect())
}

/// What stands in the last cell.
fn codes(row: Vec<String>) -> Vec<String> {
    row.last().map(|cell| cell.split("<br>").map(code).collect()).unwrap_or_default()
}

fn code(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}

//! Causes as they stand in `docs/causes`.

use reprise_diagnosis::{Cause, CausePage, Fix};
use reprise_page::markdown::escaped;

use super::{found_by, tables};

/// The cause's own page, with the fixes of others for which it names them, and the commands that find it. Its texts are Markdown as they are.
pub fn page(cause: &Cause) -> String {
    let mut out = format!("# `{}`: {}\n", cause.slug, cause.page.title);
    let other_names: Vec<String> = cause.page.other_names.iter().map(|name| format!("`{name}`")).collect();
    if !other_names.is_empty() {
        out.push_str(&format!("\nOther names: {}\n", other_names.join(", ")));
    }
    for (heading, text) in cause.page.texts() {
        out.push_str(&format!("\n## {heading}\n"));
        out.extend((!text.is_empty()).then(|| format!("\n{text}\n")));
    }
    for (heading, fixes) in tables(cause).iter().filter(|(_, fixes)| !fixes.is_empty()) {
        out.push_str(&format!("\n### {heading}\n\n{}", table(fixes)));
    }
    out.push_str(&format!("\n## Found by\n\n{}\n", found_by(cause)));
    out
}

/// The causes by their names, each with the page that [`page`] writes: a catalogue of the findings.
pub fn list(causes: impl Iterator<Item = &'static Cause>) -> String {
    let joined = |names: Vec<&str>| if names.is_empty() { "–".to_owned() } else { names.join(", ") };
    let row = |cause: &Cause| {
        let found_by = joined(cause.found_by().iter().map(|it| it.name()).collect());
        let severities = joined(cause.severities.iter().map(|it| it.name()).collect());
        let confidences = joined(cause.confidences.iter().map(|it| it.name()).collect());
        let title = escaped(cause.page.title);
        format!("| [`{0}`]({0}.md) | {title} | {found_by} | {severities} | {confidences} |\n", cause.slug)
    };
    let rows: String = causes.map(row).collect();
    format!("| cause | what it is | found by | severity | confidence |\n| :--- | :--- | :--- | :--- | :--- |\n{rows}")
}

fn table(fixes: &[&Fix]) -> String {
    let has_protocols = fixes.iter().any(|fix| !fix.protocols.is_empty());
    let row = |protocols: &str, cells: [&str; 3]| {
        let cells = has_protocols.then_some(protocols).into_iter().chain(cells);
        let cells = cells.map(|cell| if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") });
        format!("|{}\n", cells.collect::<String>())
    };
    let rule = ":---";
    let rows = fixes.iter().map(|fix| row(fix.protocols, [fix.software, &code(&fix.set), &escaped(&fix.note)]));
    [row(CausePage::PROTOCOL, CausePage::COLUMNS), row(rule, [rule; 3])].into_iter().chain(rows).collect()
}

/// Code within a table, between more backticks than it has in a row. A bar ends a cell there too, unless a backslash stands before it.
fn code(set: &str) -> String {
    if set.is_empty() {
        return String::new();
    }
    let longest = set.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let (fence, pad) = ("`".repeat(longest + 1), if longest > 0 { " " } else { "" });
    format!("{fence}{pad}{}{pad}{fence}", set.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a fix says, a page that is written with it is read as the same.
    #[test]
    fn a_fix_is_written_as_it_is_read() {
        let said =
            ["a | b", "a || b \\| c", "`a`", "a `` b", "<a> &lt; &amp;", "*a* [b](c) \\*", "C:\\dir\\", "_a_ # b", ""];
        let pairs = said.iter().flat_map(|set| said.iter().map(move |note| (*set, *note)));
        let fixes: Vec<Fix> = pairs
            .filter(|(set, note)| !(set.is_empty() && note.is_empty()))
            .map(|(set, note)| Fix { protocols: "", software: "nginx", set: set.into(), note: note.into() })
            .collect();
        let written =
            format!("# `a`: A\n\n## What fixes it\n\n### In the server\n\n{}", table(&fixes.iter().collect::<Vec<_>>()));
        let read = CausePage::of(written.leak());
        assert_eq!(read.server.own, fixes);
    }
}

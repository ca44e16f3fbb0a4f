//! Causes as they stand in `docs/causes`.

use reprise_diagnosis::{Cause, Fix};
use reprise_page::markdown::escaped;

use super::{FIXES, fixes, found_by, sections};

/// What is known of a cause. Its texts are Markdown as they are.
pub fn page(cause: &Cause) -> String {
    let mut out = format!("# `{}`: {}\n", cause.slug, cause.title);
    for (heading, text) in sections(cause) {
        out.push_str(&format!("\n## {heading}\n\n{text}\n"));
    }
    out.push_str(&format!("\n## {FIXES}\n\n"));
    if !cause.advice.is_empty() {
        out.push_str(&format!("{}\n\n", cause.advice));
    }
    for (heading, fixes) in fixes(cause) {
        out.extend(heading.map(|heading| format!("### {heading}\n\n")));
        out.extend(fixes.into_iter().map(fix));
        out.push('\n');
    }
    out.push_str(&format!("## Found by\n\n{}\n", found_by(cause)));
    out
}

/// The causes by their names, each with the page that [`page`] writes: a catalogue of the findings.
pub fn list(causes: impl Iterator<Item = &'static Cause>) -> String {
    let joined = |names: Vec<&str>| if names.is_empty() { "–".to_owned() } else { names.join(", ") };
    let row = |cause: &Cause| {
        let found_by = joined(cause.found_by().iter().map(|it| it.name()).collect());
        let severities = joined(cause.severities.iter().map(|it| it.name()).collect());
        let confidences = joined(cause.confidences.iter().map(|it| it.name()).collect());
        let title = escaped(cause.title);
        format!("| [`{0}`]({0}.md) | {title} | {found_by} | {severities} | {confidences} |\n", cause.slug)
    };
    let rows: String = causes.map(row).collect();
    format!("| cause | what it is | found by | severity | confidence |\n| :--- | :--- | :--- | :--- | :--- |\n{rows}")
}

/// "- nginx: `ssl_session_tickets on;` (its default)".
fn fix(fix: &Fix) -> String {
    let Fix { software, set, note, .. } = fix;
    match (*set, *note) {
        ("", note) => format!("- {software}: {}\n", escaped(note)),
        (set, "") => format!("- {software}: `{set}`\n"),
        (set, note) => format!("- {software}: `{set}` ({})\n", escaped(note)),
    }
}

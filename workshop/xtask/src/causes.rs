//! The pages of the causes: `docs/causes/`, made from the pages beside their rules and from what the rules find.

use reprise_diagnosis::causes;
use reprise_report::cause_page::markdown;

use crate::generated::{Files, Generated};

/// A page for each cause, and the list of them.
pub(crate) fn generated() -> Generated {
    let pages = causes().map(|cause| (format!("{}.md", cause.slug), markdown::page(cause)));
    let index = ("README.md".to_owned(), format!("{INTRODUCTION}\n{}", markdown::list(causes())));
    let wanted: Files = pages.chain([index]).collect();
    Generated { folder: "docs/causes", extension: "md", command: "cargo xtask causes", wanted }
}

const INTRODUCTION: &str = "\
# Why a connection does not resume, or gains nothing from resuming

Each cause has a fixed name, under which findings, SARIF rules and JUnit cases speak of it. Its page says what happens, how it
shows on the wire, how to confirm it by hand, what it costs, and what fixes it in which software. `reprise explain ID` prints
the same. These pages are written by `cargo xtask causes`; their source is `tool/diagnosis/src/causes/`.
";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// No text, row or letter of a source is lost: what is published has all of it, and tables where the source names another page.
    #[test]
    fn a_published_page_begins_with_its_source() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool/diagnosis/src/causes");
        for cause in causes() {
            let source = fs::read_to_string(folder.join(format!("{}.md", cause.slug))).unwrap();
            let published = markdown::page(cause);
            let mut rest = published.as_str();
            for line in source.lines().filter(|line| !line.is_empty() && !line.starts_with("As for [`")) {
                let Some((_, behind)) = rest.split_once(&format!("{line}\n")) else { panic!("{}: {line}", cause.slug) };
                rest = behind;
            }
            let is_whole = source.contains("\nAs for [`") || published.starts_with(&format!("{source}\n## Found by\n"));
            assert!(is_whole, "{}", cause.slug);
        }
    }
}

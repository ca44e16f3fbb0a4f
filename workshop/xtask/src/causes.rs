//! The pages of the causes: `docs/causes/`, made from what `reprise explain` prints.

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

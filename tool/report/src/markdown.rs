//! Pages as GitHub's Markdown.

use std::io::Write;

use crate::document::SCHEMAS;
use crate::format::Format;

/// `--markdown`.
pub static FORMAT: Format = Format {
    name: "markdown",
    help: "Write the tables as Markdown",
    schemas: SCHEMAS,
    write: |report, out| out.write_all(reprise_page::markdown::render(&report.page()).as_bytes()),
};

//! Pages as one HTML file each.

use std::io::Write;

use crate::document::SCHEMAS;
use crate::format::Format;

/// `--html`.
pub static FORMAT: Format = Format {
    name: "html",
    help: "Write the page with charts as one HTML file",
    schemas: SCHEMAS,
    write: |report, out| out.write_all(reprise_page::html::render(&report.page()).as_bytes()),
};

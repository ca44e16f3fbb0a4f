//! Any document as JSON: everything, indented, with a newline at the end.

use std::io::{self, Write};

use serde::Serialize;

use crate::document::SCHEMAS;
use crate::format::Format;

/// `--json`.
pub static FORMAT: Format = Format {
    name: "json",
    help: "Write the result as JSON (docs/schema/)",
    schemas: SCHEMAS,
    write: |report, out| write(&report.document, out),
};

pub(crate) fn write(document: &impl Serialize, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, document)?;
    out.write_all(b"\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_document_ends_in_a_newline() {
        let mut out = Vec::new();
        super::write(&serde_json::json!({"schema": "reprise.measure/1"}), &mut out).unwrap();
        assert_eq!(out, b"{\n  \"schema\": \"reprise.measure/1\"\n}\n");
    }
}

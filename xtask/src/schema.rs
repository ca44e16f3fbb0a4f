//! The published JSON Schema: `docs/schema/`, made from the types that write the documents.

use crate::generated::{Files, Generated};

/// A schema for each document.
pub(crate) fn generated() -> anyhow::Result<Generated> {
    let mut wanted = Files::new();
    let board = reprise_board::document::BoardDocument::json_schema();
    for (name, schema) in reprise_trace::schema::all().into_iter().chain([board]) {
        wanted.insert(name.to_owned(), format!("{}\n", serde_json::to_string_pretty(&schema)?));
    }
    Ok(Generated { folder: "docs/schema", extension: "json", command: "cargo xtask schema", wanted })
}

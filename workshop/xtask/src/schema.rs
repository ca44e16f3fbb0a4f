//! The published JSON Schema: `docs/schema/`, made from the types that write the documents.

use reprise_board::document::BoardDocument;
use reprise_model::schema;

use crate::generated::{Files, Generated};

/// A schema for each document.
pub(crate) fn generated() -> anyhow::Result<Generated> {
    let mut wanted = Files::new();
    let board = ("reprise.board.1.json", schema::of::<BoardDocument>(BoardDocument::SCHEMA));
    for (name, schema) in schema::all().into_iter().chain([board]) {
        wanted.insert(name.to_owned(), format!("{}\n", serde_json::to_string_pretty(&schema)?));
    }
    Ok(Generated { folder: "docs/schema", extension: "json", command: "cargo xtask schema", wanted })
}

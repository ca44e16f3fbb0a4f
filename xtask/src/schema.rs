//! The published JSON Schema: `docs/schema/`, made from the types that write the documents.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::workspace::Workspace;

/// Writes every schema, and removes those that no document has any more.
pub(crate) fn write(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = folder(workspace);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let wanted = wanted()?;
    for name in published(&folder)?.keys().filter(|name| !wanted.contains_key(*name)) {
        fs::remove_file(folder.join(name)).with_context(|| format!("cannot remove docs/schema/{name}"))?;
        println!("removed docs/schema/{name}");
    }
    for (name, text) in &wanted {
        fs::write(folder.join(name), text).with_context(|| format!("cannot write docs/schema/{name}"))?;
        println!("wrote docs/schema/{name}");
    }
    Ok(())
}

/// Fails, with every file named, when what is published is not what [`write()`] would write.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let differing = differing(&wanted()?, &published(&folder(workspace))?);
    if !differing.is_empty() {
        bail!("not what the types say; run `cargo xtask schema` and commit:\n  {}", differing.join("\n  "));
    }
    println!("docs/schema is what the types say");
    Ok(())
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("docs/schema")
}

/// Text of each schema by the name of its file.
type Schemas = BTreeMap<String, String>;

fn wanted() -> anyhow::Result<Schemas> {
    let mut schemas = Schemas::new();
    let board = reprise_board::document::BoardDocument::json_schema();
    for (name, schema) in reprise_trace::schema::all().into_iter().chain([board]) {
        schemas.insert(name.to_owned(), format!("{}\n", serde_json::to_string_pretty(&schema)?));
    }
    Ok(schemas)
}

fn published(folder: &Path) -> anyhow::Result<Schemas> {
    let mut schemas = Schemas::new();
    if !folder.exists() {
        return Ok(schemas);
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("json")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            schemas.insert(name, fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(schemas)
}

fn differing(wanted: &Schemas, published: &Schemas) -> Vec<String> {
    let missing_or_different = wanted.iter().filter_map(|(name, text)| match published.get(name) {
        None => Some(format!("docs/schema/{name} is missing")),
        Some(found) if found != text => Some(format!("docs/schema/{name} differs")),
        Some(_) => None,
    });
    let left_over = published.keys().filter(|name| !wanted.contains_key(*name));
    missing_or_different.chain(left_over.map(|name| format!("docs/schema/{name} belongs to no document"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schemas(entries: &[(&str, &str)]) -> Schemas {
        entries.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn missing_differing_and_left_over_schemas_are_named() {
        let wanted = schemas(&[("a.json", "1"), ("b.json", "2"), ("c.json", "3")]);
        let published = schemas(&[("b.json", "2"), ("c.json", "other"), ("d.json", "4")]);
        assert_eq!(
            differing(&wanted, &published),
            ["docs/schema/a.json is missing", "docs/schema/c.json differs", "docs/schema/d.json belongs to no document"]
        );
    }

    #[test]
    fn a_folder_that_is_not_there_publishes_nothing() {
        assert!(published(Path::new("no such folder")).unwrap().is_empty());
    }
}

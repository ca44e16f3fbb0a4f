//! A folder of documents that are made from the source: written, or compared with what is committed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::workspace::Workspace;

/// Text of each file by its name.
pub(crate) type Files = BTreeMap<String, String>;

/// What a folder should hold.
pub(crate) struct Generated {
    /// From the root of the workspace, `docs/schema`.
    pub(crate) folder: &'static str,
    /// Only files that end so are its own, `json`.
    pub(crate) extension: &'static str,
    /// What writes it, `cargo xtask schema`.
    pub(crate) command: &'static str,
    /// What it should hold.
    pub(crate) wanted: Files,
}

impl Generated {
    /// Writes every file, and removes those that nothing makes any more.
    pub(crate) fn write(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let (folder, name) = (self.path(workspace), self.folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for file in self.published(&folder)?.keys().filter(|file| !self.wanted.contains_key(*file)) {
            fs::remove_file(folder.join(file)).with_context(|| format!("cannot remove {name}/{file}"))?;
            println!("removed {name}/{file}");
        }
        for (file, text) in &self.wanted {
            fs::write(folder.join(file), text).with_context(|| format!("cannot write {name}/{file}"))?;
            println!("wrote {name}/{file}");
        }
        Ok(())
    }

    /// Fails, with every file named, when what is published is not what [`Generated::write`] would write.
    pub(crate) fn check(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let differing = self.differing(&self.published(&self.path(workspace))?);
        if !differing.is_empty() {
            bail!("not what the source says; run `{}` and commit:\n  {}", self.command, differing.join("\n  "));
        }
        println!("{} is what the source says", self.folder);
        Ok(())
    }

    fn path(&self, workspace: &Workspace) -> PathBuf {
        workspace.root().join(self.folder)
    }

    fn published(&self, folder: &Path) -> anyhow::Result<Files> {
        let mut files = Files::new();
        if !folder.exists() {
            return Ok(files);
        }
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.extension() == Some(OsStr::new(self.extension)) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.insert(name, fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?);
            }
        }
        Ok(files)
    }

    fn differing(&self, published: &Files) -> Vec<String> {
        let folder = self.folder;
        let missing_or_different = self.wanted.iter().filter_map(|(name, text)| match published.get(name) {
            None => Some(format!("{folder}/{name} is missing")),
            Some(found) if found != text => Some(format!("{folder}/{name} differs")),
            Some(_) => None,
        });
        let left_over = published.keys().filter(|name| !self.wanted.contains_key(*name));
        missing_or_different.chain(left_over.map(|name| format!("{folder}/{name} is made by nothing"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        entries.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
    }

    fn generated(wanted: &[(&str, &str)]) -> Generated {
        Generated { folder: "docs/made", extension: "json", command: "", wanted: files(wanted) }
    }

    #[test]
    fn missing_differing_and_left_over_files_are_named() {
        let made = generated(&[("a.json", "1"), ("b.json", "2"), ("c.json", "3")]);
        let published = files(&[("b.json", "2"), ("c.json", "other"), ("d.json", "4")]);
        assert_eq!(
            made.differing(&published),
            ["docs/made/a.json is missing", "docs/made/c.json differs", "docs/made/d.json is made by nothing"]
        );
    }

    #[test]
    fn a_folder_that_is_not_there_publishes_nothing() {
        assert!(generated(&[]).published(Path::new("no such folder")).unwrap().is_empty());
    }
}

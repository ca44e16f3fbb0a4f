//! Which stacks there are: those that are built in, and the plugins of a folder.

use std::io;
use std::path::{Path, PathBuf};

use reprise_stack::{Plugin, Stack, StackError, built_in};
use serde::{Deserialize, Serialize};

/// Where a stack is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StackRef {
    /// One of those that are built in, by name.
    BuiltIn(String),
    /// A plugin's file.
    Plugin(PathBuf),
}

/// A stack that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundStack {
    /// Its name in flags and tables: a plugin's is its file's, without the end.
    pub name: String,
    /// Where it is.
    pub at: StackRef,
}

/// Those that are built in, then the plugins of these folders in the order of their names. Of two of one name the first counts.
///
/// # Errors
/// If a folder is there and cannot be read.
pub fn find(folders: &[PathBuf]) -> io::Result<Vec<FoundStack>> {
    let mut found: Vec<FoundStack> = built_in()
        .iter()
        .map(|(name, _)| FoundStack { name: (*name).to_owned(), at: StackRef::BuiltIn((*name).to_owned()) })
        .collect();
    for folder in folders {
        let folder = &clean_path(folder);
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "so"));
        files.sort();
        for file in files {
            let plugin = FoundStack::plugin(&file);
            if found.iter().all(|it| it.name != plugin.name) {
                found.push(plugin);
            }
        }
    }
    Ok(found)
}

impl FoundStack {
    /// A plugin by its file.
    pub fn plugin(file: &Path) -> Self {
        let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Self { name, at: StackRef::Plugin(clean_path(file)) }
    }
}

/// Without `..`, `//` and links; as it is, where nothing is there.
pub fn clean_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl StackRef {
    /// The stack itself, in this process.
    pub(crate) fn open(&self) -> Result<Box<dyn Stack>, StackError> {
        match self {
            Self::BuiltIn(name) => {
                let known = built_in().into_iter().find(|(known, _)| known == name).map(|(_, stack)| stack);
                known.ok_or_else(|| StackError::Unsupported { what: format!("there is no built-in stack '{name}'") })
            }
            Self::Plugin(path) => Ok(Box::new(Plugin::load(path)?)),
        }
    }
}

//! The guide, with which tests compare what the program says.

use std::fs;
use std::path::Path;

/// A page by its file name. `None` in the package's archive, which has no guide: Cargo puts this file there.
pub(crate) fn page(name: &str) -> Option<String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_archive = package.join(".cargo_vcs_info.json").exists();
    (!is_archive).then(|| fs::read_to_string(package.join("../../docs/guide").join(name)).unwrap())
}

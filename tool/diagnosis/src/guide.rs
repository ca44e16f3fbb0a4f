//! The guide, with which tests compare what the program says.

use std::fs;
use std::path::Path;

/// A page by its file name. `None` in the package's archive, which has no guide.
pub(crate) fn page(name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    (!is_archive()).then(|| fs::read_to_string(folder.join(name)).unwrap())
}

/// Whether this is the package's archive: Cargo puts this file there.
pub(crate) fn is_archive() -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo_vcs_info.json").exists()
}

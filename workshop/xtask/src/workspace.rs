//! Where the workspace is, and what Cargo knows about it.

use std::path::Path;

use anyhow::Context;
use cargo_metadata::{Metadata, MetadataCommand};

/// The workspace that this program was built from.
pub(crate) struct Workspace {
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// Asks `cargo metadata`, without the dependencies from outside.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let metadata = MetadataCommand::new()
            .manifest_path(manifest)
            .no_deps()
            .exec()
            .context("cargo metadata failed: is this the checkout that xtask was built in?")?;
        Ok(Self { metadata })
    }

    /// The folder of the root manifest.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Where release builds end up.
    pub(crate) fn release_folder(&self) -> std::path::PathBuf {
        self.metadata.target_directory.as_std_path().join("release")
    }
}

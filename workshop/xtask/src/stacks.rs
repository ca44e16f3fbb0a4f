//! Plugins of TLS libraries in `target/stacks`, where a checkout's `reprise` looks for them.

use crate::programs::run;
use crate::workspace::Workspace;

/// By `reprise stacks install`: of the libraries that are installed, of all sources, or of the sources of these names.
pub(crate) fn build(workspace: &Workspace, sources: Option<Vec<String>>) -> anyhow::Result<()> {
    let output = workspace.metadata.target_directory.as_std_path().join("stacks");
    let mut install = workspace.cargo(&["run", "--quiet", "--package", "reprise-cli", "--", "stacks", "install", "--into"]);
    install.arg(output);
    match sources {
        None => &mut install,
        Some(names) if names.is_empty() => install.arg("--sources"),
        Some(names) => install.args(names),
    };
    run(&mut install)
}

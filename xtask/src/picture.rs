//! The picture in the README: the real output of a real run, as SVG.

use std::fs;
use std::process::Command;

use anstyle_svg::Term;
use anyhow::{Context, bail};

use crate::workspace::Workspace;

/// Runs `reprise measure` as on a terminal with colours, and draws what it printed.
pub(crate) fn draw(workspace: &Workspace) -> anyhow::Result<()> {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--package", "reprise-cli", "--", "measure"])
        .env("CLICOLOR_FORCE", "1")
        .current_dir(workspace.root())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("reprise measure failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let page = String::from_utf8(output.stdout).context("the page is no UTF-8")?;
    let path = workspace.root().join("docs/measure.svg");
    fs::write(&path, Term::new().render_svg(&page)).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote docs/measure.svg");
    Ok(())
}

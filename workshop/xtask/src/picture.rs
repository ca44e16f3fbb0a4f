//! The picture in the README: the real output of a real run, as SVG.

use std::fs;

use anstyle_svg::Term;
use anyhow::Context;

use crate::programs::output_of;
use crate::workspace::Workspace;

/// Runs `reprise measure` as on a terminal with colours, and draws what it printed.
pub(crate) fn draw(workspace: &Workspace) -> anyhow::Result<()> {
    let mut measure = workspace.cargo(&["run", "--quiet", "--release", "--package", "reprise-cli", "--", "measure"]);
    let page = output_of(measure.env("CLICOLOR_FORCE", "1"))?;
    let path = workspace.root().join("docs/measure.svg");
    fs::write(&path, Term::new().render_svg(&page)).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote docs/measure.svg");
    Ok(())
}

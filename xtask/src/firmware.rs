//! `cargo xtask firmware`: every image, its sizes by component, and whether building it again gives the same bytes.

use std::sync::atomic::AtomicBool;

use anyhow::{bail, ensure};
use reprise_board::{Cpu, Image, Optimization, Stack, Workshop, side_by_side};

use crate::workspace::Workspace;

/// Builds the images and prints their sizes. With `twice`, builds each a second time, from nothing, and fails where a byte
/// differs.
pub(crate) fn build(workspace: &Workspace, twice: bool) -> anyhow::Result<()> {
    let firmware = workspace.root().join("firmware");
    let output = workspace.metadata.target_directory.as_std_path().join("firmware");
    let workshop = Workshop { firmware, output };
    let mut images = Image::all();
    images.push(Image::usual(Cpu::Lx106, Stack::BearSsl, Optimization::Size));
    reprise_board::fetch_sources(&workshop.firmware, &workshop.output)?;
    let never = AtomicBool::new(false);
    let built = side_by_side(images.clone(), &never, |image| workshop.build(*image))?;
    for image in &built {
        println!("{}  {} B flash, {} B static RAM", image.name, image.sizes.total.flash, image.sizes.total.ram);
        for (component, size) in &image.sizes.components {
            println!("    {component:14} {:7} {:7}", size.flash, size.ram);
        }
        ensure!(image.sizes.total.flash > 0, "{}: its linker map tells nothing", image.name);
    }
    if twice {
        let again = tempfile::tempdir_in(workspace.metadata.target_directory.as_std_path())?;
        std::os::unix::fs::symlink(workshop.output.join("sources"), again.path().join("sources"))?;
        let elsewhere = Workshop { output: again.path().to_owned(), ..workshop };
        let rebuilt = side_by_side(images, &never, |image| elsewhere.build(*image))?;
        let differing: Vec<&str> = built
            .iter()
            .zip(&rebuilt)
            .filter(|(one, other)| one.sha256 != other.sha256)
            .map(|(one, _)| one.name.as_str())
            .collect();
        if !differing.is_empty() {
            bail!("built twice, and not the same: {}", differing.join(", "));
        }
        println!("{} images, each the same when built again", rebuilt.len());
    }
    Ok(())
}

//! `cargo xtask firmware`: every image, its sizes by component, and whether building it again gives the same bytes.

use anyhow::{bail, ensure};
use reprise_board::{BoardStack, Cpu, Firmware, Image, Optimization};

use crate::workspace::Workspace;

/// Builds the images and prints their sizes. With `twice`, builds each a second time, from nothing, and fails where a byte
/// differs.
pub(crate) fn build(workspace: &Workspace, twice: bool) -> anyhow::Result<()> {
    let folder = workspace.root().join("firmware");
    let output = workspace.metadata.target_directory.as_std_path().join("firmware");
    let firmware = Firmware { folder, output };
    let mut images = Image::all();
    images.push(Image::usual(Cpu::Lx106, BoardStack::BearSsl, Optimization::Size));
    let built = images.iter().map(|image| firmware.build(*image)).collect::<Result<Vec<_>, _>>()?;
    for image in &built {
        println!("{}  {} B flash, {} B static RAM", image.name, image.sizes.total.flash, image.sizes.total.ram);
        for (component, size) in &image.sizes.components {
            println!("    {component:14} {:7} {:7}", size.flash, size.ram);
        }
        ensure!(image.sizes.total.flash > 0, "{}: its linker map tells nothing", image.name);
    }
    if twice {
        let again = tempfile::tempdir_in(workspace.metadata.target_directory.as_std_path())?;
        std::os::unix::fs::symlink(firmware.output.join("sources"), again.path().join("sources"))?;
        let elsewhere = Firmware { output: again.path().to_owned(), ..firmware };
        let rebuilt = images.iter().map(|image| elsewhere.build(*image)).collect::<Result<Vec<_>, _>>()?;
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

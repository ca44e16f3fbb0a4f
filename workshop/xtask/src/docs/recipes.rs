//! Recipes for CI systems: what they run is what the page they stand on runs.

use std::fs;
use std::path::Path;

#[test]
fn every_command_of_a_recipe_runs_on_its_page() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let mut checked = 0;
    for page in fs::read_dir(guide).unwrap() {
        let page = page.unwrap().path();
        let text = fs::read_to_string(&page).unwrap();
        let run: Vec<&str> = blocks(&text, "```sh").flat_map(str::lines).collect();
        for line in blocks(&text, "```yaml").flat_map(str::lines) {
            let Some(begin) = line.find("reprise ").filter(|_| line.contains("run: reprise") || line.contains("- reprise"))
            else {
                continue;
            };
            // Where the output goes is the CI system's.
            let command = line[begin..].split(" >> ").next().unwrap();
            assert!(run.contains(&command), "{}: no ```sh block runs '{command}'", page.display());
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}

/// The insides of the blocks that begin with this fence.
fn blocks<'a>(text: &'a str, fence: &'static str) -> impl Iterator<Item = &'a str> {
    text.split(fence).skip(1).filter_map(|rest| rest.split_once('\n')?.1.split("```").next())
}

//! The house has floors, and a crate imports only crates of lower ones. Each crate says where it stands:
//!
//! ```toml
//! [package.metadata.reprise]
//! floor = 3
//! ```
//!
//! Within a crate, files do not import each other in a circle.

mod circles;
mod modules;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use cargo_metadata::{DependencyKind, Package};

use crate::workspace::Workspace;

/// The crates that tests of any floor may import.
const FOR_TESTS: [&str; 4] = ["reprise-lab", "reprise-servers", "reprise-scripted", "reprise-harness"];
/// Those that are part of no program: some panic where a test should fail.
const FOR_TESTS_ALONE: &[&str] = FOR_TESTS.split_at(1).1;
/// Above all programs: what only those use who work here.
const WORKSHOP: u64 = 8;

/// Prints the house from the top floor down. Fails, with every fault named, when a crate has no floor or imports one of
/// its own or of a higher floor, or when files of one crate import each other in a circle.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let crates: Vec<Crate> =
        workspace.metadata.workspace_packages().into_iter().map(|package| Crate::of(package, workspace.root())).collect();
    let mut faults = faults(&crates);
    let map = std::fs::read_to_string(workspace.root().join(MAP)).with_context(|| format!("cannot read {MAP}"))?;
    faults.extend(wrong_rows(&crates, &map));
    faults.extend(circles::faults(workspace.metadata.workspace_packages().into_iter())?);
    if !faults.is_empty() {
        bail!("the floors do not hold:\n  {}", faults.join("\n  "));
    }
    for (floor, names) in by_floor(&crates).into_iter().rev() {
        println!("floor {floor}: {}", names.join(" "));
    }
    println!("{} crates, each above what it imports, without circles of files", crates.len());
    Ok(())
}

/// Where a reader looks for a crate: rows of floor, name and description.
const MAP: &str = "ARCHITECTURE.md";

/// The rows of the map that are not as the crates are, and the folders that it names nowhere.
fn wrong_rows(crates: &[Crate], map: &str) -> Vec<String> {
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        Some((cells.next()?.parse().ok()?, cells.next()?.trim_matches('`').to_owned()))
    };
    let rows: Vec<(u64, String)> = map.lines().filter_map(row).collect();
    let is_right =
        |(floor, name): &&(u64, String)| crates.iter().any(|member| member.folder == *name && member.floor == Some(*floor));
    let wrong =
        rows.iter().filter(|row| !is_right(row)).map(|(floor, name)| format!("{MAP}: {name} is not on floor {floor}"));
    let missing = crates.iter().filter(|member| !map.contains(&format!("`{}`", member.folder)));
    wrong.chain(missing.map(|member| format!("{MAP} does not name {}", member.folder))).collect()
}

struct Crate {
    name: String,
    /// From the root of the workspace.
    folder: String,
    floor: Option<u64>,
    imports: Vec<Import>,
}

struct Import {
    name: String,
    for_tests: bool,
}

impl Crate {
    fn of(package: &Package, root: &Path) -> Self {
        let imports = package.dependencies.iter().filter(|dependency| dependency.path.is_some()).map(|dependency| Import {
            name: dependency.name.clone(),
            for_tests: dependency.kind == DependencyKind::Development,
        });
        let folder = package.manifest_path.parent().and_then(|it| it.as_std_path().strip_prefix(root).ok()).unwrap_or(root);
        Self {
            name: package.name.to_string(),
            folder: folder.display().to_string(),
            floor: package.metadata.pointer("/reprise/floor").and_then(serde_json::Value::as_u64),
            imports: imports.collect(),
        }
    }
}

fn faults(crates: &[Crate]) -> Vec<String> {
    let floors: BTreeMap<&str, u64> =
        crates.iter().filter_map(|member| Some((member.name.as_str(), member.floor?))).collect();
    let mut faults = Vec::new();
    for member in crates {
        let Some(floor) = member.floor else {
            faults
                .push(format!("{0} has no floor: add [package.metadata.reprise] floor = N to its Cargo.toml", member.name));
            continue;
        };
        for import in &member.imports {
            // One without a floor has a fault of its own.
            let Some(&below) = floors.get(import.name.as_str()) else { continue };
            let for_tests_alone = |name: &str| FOR_TESTS_ALONE.contains(&name);
            if for_tests_alone(&import.name) && !import.for_tests && !for_tests_alone(&member.name) && floor < WORKSHOP {
                faults.push(format!("{} imports {}, which is for tests alone", member.name, import.name));
                continue;
            }
            if below < floor || import.for_tests && FOR_TESTS.contains(&import.name.as_str()) {
                continue;
            }
            let purpose = if import.for_tests { " for its tests" } else { "" };
            faults.push(format!(
                "{} (floor {floor}) imports {} (floor {below}){purpose}: a crate imports only crates of lower floors",
                member.name, import.name
            ));
        }
    }
    faults
}

fn by_floor(crates: &[Crate]) -> BTreeMap<u64, Vec<&str>> {
    let mut house: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for member in crates {
        house.entry(member.floor.unwrap_or_default()).or_default().push(&member.name);
    }
    house
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, floor: Option<u64>, imports: &[(&str, bool)]) -> Crate {
        let imports = imports.iter().map(|&(name, for_tests)| Import { name: name.to_owned(), for_tests });
        let folder = format!("tls/{name}");
        Crate { name: name.to_owned(), folder, floor, imports: imports.collect() }
    }

    #[test]
    fn lower_floors_may_be_imported() {
        let crates = [member("wire", Some(0), &[]), member("engine", Some(1), &[("wire", false), ("wire", true)])];
        assert_eq!(faults(&crates), Vec::<String>::new());
    }

    #[test]
    fn its_own_and_higher_floors_may_not() {
        let found = faults(&[
            member("wire", Some(0), &[("trace", false), ("engine", true)]),
            member("trace", Some(0), &[]),
            member("engine", Some(1), &[]),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("wire (floor 0) imports trace (floor 0):"), "{found:?}");
        assert!(found[1].starts_with("wire (floor 0) imports engine (floor 1) for its tests:"), "{found:?}");
    }

    #[test]
    fn tests_of_any_floor_may_import_what_starts_servers() {
        for name in FOR_TESTS {
            let servers = || member(name, Some(3), &[]);
            assert_eq!(faults(&[servers(), member("engine", Some(1), &[(name, true)])]).len(), 0);
            assert_eq!(faults(&[servers(), member("engine", Some(1), &[(name, false)])]).len(), 1);
        }
    }

    #[test]
    fn no_program_imports_what_is_for_tests_alone() {
        for &name in FOR_TESTS_ALONE {
            let found = faults(&[member(name, Some(3), &[]), member("cli", Some(6), &[(name, false)])]);
            assert_eq!(found, [format!("cli imports {name}, which is for tests alone")]);
            let fuzzing = member("fuzz", Some(WORKSHOP), &[(name, false)]);
            assert_eq!(faults(&[member(name, Some(3), &[]), fuzzing]).len(), 0);
        }
    }

    #[test]
    fn the_map_shows_each_crate_on_its_floor() {
        let crates = [member("wire", Some(0), &[]), member("attic", Some(3), &[])];
        let found = wrong_rows(&crates, "| floor | crate |\n| 1 | `tls/wire` | bytes |\n");
        assert_eq!(found, ["ARCHITECTURE.md: tls/wire is not on floor 1", "ARCHITECTURE.md does not name tls/attic"]);
        assert_eq!(wrong_rows(&crates, "| 0 | `tls/wire` | bytes |\n| `tls/attic` | old |\n"), Vec::<String>::new());
    }

    #[test]
    fn every_crate_has_a_floor() {
        let found = faults(&[member("attic", None, &[])]);
        assert!(found[0].starts_with("attic has no floor"), "{found:?}");
    }

    #[test]
    fn this_house_stands() {
        check(&Workspace::find().unwrap()).unwrap();
    }
}

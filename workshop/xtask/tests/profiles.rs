//! What Cargo makes of the profiles in the root Cargo.toml, by its own plan of the build: in Cargo, an override of one setting for a package
//! also resets another, `strip`.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[test]
fn what_is_built_to_measure_is_optimised_throughout() {
    let units = planned("release");
    assert_eq!(slow(&units), Vec::<&String>::new());
    assert!(is_stripped(&units["reprise"]), "{}", units["reprise"]);
}

#[test]
fn what_is_distributed_is_optimised_throughout() {
    let units = planned("dist");
    assert_eq!(slow(&units), Vec::<&String>::new());
    assert!(is_stripped(&units["reprise"]), "{}", units["reprise"]);
}

/// The crates that are not at `opt-level = 3`.
fn slow(units: &BTreeMap<String, Value>) -> Vec<&String> {
    units.iter().filter(|(_, profile)| profile["opt_level"] != "3").map(|(name, _)| name).collect()
}

fn is_stripped(profile: &Value) -> bool {
    profile["strip"] == serde_json::json!({"resolved": {"Named": "symbols"}})
}

/// The profile of each crate that is linked into the program.
fn planned(profile: &str) -> BTreeMap<String, Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args(["build", "--locked", "-p", "reprise-cli", "--profile", profile]);
    // A stable Cargo tells its plan only if it may use what is unstable.
    let output = cargo.args(["--unit-graph", "-Z", "unstable-options"]).env("RUSTC_BOOTSTRAP", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    let index = |value: &Value| value.as_u64().unwrap() as usize;
    let mut ahead: Vec<usize> = graph["roots"].as_array().unwrap().iter().map(index).collect();
    let mut linked = BTreeMap::new();
    while let Some(at) = ahead.pop() {
        let unit = &graph["units"][at];
        let target = &unit["target"];
        // Below these is what runs while Cargo builds.
        if ["custom-build", "proc-macro"].iter().any(|kind| target["kind"][0] == *kind) {
            continue;
        }
        let name = target["name"].as_str().unwrap().to_owned();
        if linked.insert(name, unit["profile"].clone()).is_none() {
            ahead.extend(unit["dependencies"].as_array().unwrap().iter().map(|below| index(&below["index"])));
        }
    }
    linked
}

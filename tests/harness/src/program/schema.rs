//! The published schemas of the program's documents.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

/// The schema of this name, such as `reprise.load.1`, in `docs/schema`.
pub fn schema(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
    jsonschema::validator_for(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).unwrap()
}

/// Expects that a document names this schema and keeps it.
#[track_caller]
pub fn assert_valid(document: &Value, name: &str) {
    assert_eq!(document["schema"].as_str(), Some(name.replace(".1", "/1").as_str()));
    let schema = schema(name);
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
}

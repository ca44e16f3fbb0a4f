//! Documents, and the schemas that are published for them.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

/// Holds a document against the schema that it names.
#[track_caller]
pub fn assert_valid(document: &Value) {
    let schema = published_schema(document["schema"].as_str().unwrap());
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
}

/// The schema that documents name so: `reprise.measure/1`.
pub fn published_schema(name: &str) -> Validator {
    let file = format!("../../docs/schema/{}.json", name.replace('/', "."));
    let schema = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap()
}

//! The published schemas of the program's documents.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::Value;

/// The schema of this name, such as `reprise.load/1`, in `docs/schema`; read once.
fn schema(name: &str) -> Arc<Validator> {
    static KNOWN: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let file = format!("../../docs/schema/{}.json", name.replace('/', "."));
        let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        Arc::new(jsonschema::validator_for(&serde_json::from_slice(&text).unwrap()).unwrap())
    };
    Arc::clone(known.get_or_insert_default().entry(name.to_owned()).or_insert_with(read))
}

/// Expects that a document keeps the schema that it names.
#[track_caller]
pub fn assert_valid(document: &Value) {
    let schema = schema(document["schema"].as_str().unwrap());
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn a_schema_refuses_what_it_does_not_describe() {
    for name in ["reprise.measure/1", "reprise.trace/1", "reprise.load/1"] {
        assert!(!schema(name).is_valid(&serde_json::json!({ "schema": name })), "{name}");
    }
}

//! The JSON Schema of every document, made from the types that write it.

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::document::{CompareDocument, DiagnoseDocument, LabDocument, LoadDocument, MeasureDocument, TraceDocument};

/// Every schema with the name of the file in `docs/schema/` that publishes it.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("reprise.measure.1.json", schema::<MeasureDocument>(MeasureDocument::SCHEMA)),
        ("reprise.lab.1.json", schema::<LabDocument>(LabDocument::SCHEMA)),
        ("reprise.load.1.json", schema::<LoadDocument>(LoadDocument::SCHEMA)),
        ("reprise.diagnose.1.json", schema::<DiagnoseDocument>(DiagnoseDocument::SCHEMA)),
        ("reprise.compare.1.json", schema::<CompareDocument>(CompareDocument::SCHEMA)),
        ("reprise.trace.1.json", schema::<TraceDocument>(TraceDocument::SCHEMA)),
    ]
}

fn schema<T: JsonSchema>(name: &str) -> Value {
    let mut schema = schema_for!(T);
    schema.insert("title".to_owned(), name.into());
    // A reader must be able to tell documents apart by this field alone.
    if let Some(field) = schema.pointer_mut("/properties/schema").and_then(Value::as_object_mut) {
        field.insert("const".to_owned(), name.into());
    }
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_fixes_the_name_of_its_document() {
        for (file, schema) in all() {
            let name = schema["properties"]["schema"]["const"].as_str().unwrap();
            assert_eq!(file, format!("{}.json", name.replace('/', ".")));
        }
    }
}

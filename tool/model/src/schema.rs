//! The JSON Schema of every document, made from the types that write it.

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::document::{
    ClientsDocument, CompareDocument, DiagnoseDocument, ExplainDocument, LabDocument, LayersDocument, LoadDocument,
    MeasureDocument, SideBySideDocument, SpeedDocument, StacksDocument, TraceDocument,
};

/// The schema of every document of this crate, with the name of the file in `docs/schema/` that publishes it.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("reprise.measure.1.json", of::<MeasureDocument>(MeasureDocument::SCHEMA)),
        ("reprise.clients.1.json", of::<ClientsDocument>(ClientsDocument::SCHEMA)),
        ("reprise.lab.1.json", of::<LabDocument>(LabDocument::SCHEMA)),
        ("reprise.load.1.json", of::<LoadDocument>(LoadDocument::SCHEMA)),
        ("reprise.diagnose.1.json", of::<DiagnoseDocument>(DiagnoseDocument::SCHEMA)),
        ("reprise.compare.1.json", of::<CompareDocument>(CompareDocument::SCHEMA)),
        ("reprise.layers.1.json", of::<LayersDocument>(LayersDocument::SCHEMA)),
        ("reprise.side-by-side.1.json", of::<SideBySideDocument>(SideBySideDocument::SCHEMA)),
        ("reprise.speed.1.json", of::<SpeedDocument>(SpeedDocument::SCHEMA)),
        ("reprise.explain.1.json", of::<ExplainDocument>(ExplainDocument::SCHEMA)),
        ("reprise.stacks.1.json", of::<StacksDocument>(StacksDocument::SCHEMA)),
        ("reprise.trace.1.json", of::<TraceDocument>(TraceDocument::SCHEMA)),
    ]
}

/// The schema of a document by the type that writes it; `name` is what its field `schema` says.
pub fn of<T: JsonSchema>(name: &str) -> Value {
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

//! Documents in `documents/` as pages and formats: what stands in them, and what hostile text does to them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod archive;
mod diagnose;
mod html;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use reprise_board::document::BoardDocument;
use reprise_model::document::{
    CompareDocument, DiagnoseDocument, ExplainDocument, LabDocument, LayersDocument, LoadDocument, MeasureDocument,
    SideBySideDocument, SpeedDocument, TraceDocument,
};
use reprise_page::terminal::{self, Style};
use reprise_report::{Document, Format, Report};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The documents in `documents/`.
const DOCUMENTS: [&str; 21] = [
    "away",
    "board",
    "compare",
    "compare-link",
    "diagnose-client",
    "diagnose-haproxy",
    "diagnose-nginx",
    "diagnose-nodes",
    "diagnose-openssl",
    "explain",
    "lab",
    "layers",
    "load",
    "load-stages",
    "load-sweep",
    "mutual",
    "nginx",
    "refused",
    "sampled",
    "speed",
    "ticket-refused",
];

fn terminal<'a>(report: impl Into<Report<'a>>, style: Style) -> String {
    terminal::render(&report.into().page(), style)
}

fn text<'a>(format: &Format, report: impl Into<Report<'a>>) -> String {
    let mut out = Vec::new();
    format.write(&report.into(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let file = tests().join(format!("documents/{name}.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// What a document becomes; `None` where the value is none.
fn with<R>(value: Value, make: impl FnOnce(Document<'_>) -> R) -> Option<R> {
    let schema = value["schema"].as_str()?.to_owned();
    Some(match schema.as_str() {
        MeasureDocument::SCHEMA => make(Document::Measure(&serde_json::from_value(value).ok()?)),
        LabDocument::SCHEMA => make(Document::Lab(&serde_json::from_value(value).ok()?)),
        TraceDocument::SCHEMA => make(Document::Trace(&serde_json::from_value(value).ok()?)),
        DiagnoseDocument::SCHEMA => make(Document::Diagnose(&serde_json::from_value(value).ok()?)),
        LoadDocument::SCHEMA => make(Document::Load(&serde_json::from_value(value).ok()?)),
        CompareDocument::SCHEMA => make(Document::Compare(&serde_json::from_value(value).ok()?)),
        LayersDocument::SCHEMA => make(Document::Layers(&serde_json::from_value(value).ok()?)),
        SpeedDocument::SCHEMA => make(Document::Speed(&serde_json::from_value(value).ok()?)),
        ExplainDocument::SCHEMA => make(Document::Explain(&serde_json::from_value(value).ok()?)),
        SideBySideDocument::SCHEMA => make(Document::SideBySide(&serde_json::from_value(value).ok()?)),
        BoardDocument::SCHEMA => make(Document::Board(&serde_json::from_value(value).ok()?)),
        _ => return None,
    })
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

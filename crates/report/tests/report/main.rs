//! Documents in `documents/` as pages and formats: what stands in them, and what hostile text does to them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod archive;
mod diagnose;
mod html;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use reprise_report::terminal::Style;
use reprise_report::{Format, Report};
use serde::de::DeserializeOwned;

fn terminal<'a>(report: impl Into<Report<'a>>, style: Style) -> String {
    report.into().terminal(style)
}

fn text<'a>(format: &Format, report: impl Into<Report<'a>>) -> String {
    let mut out = Vec::new();
    report.into().write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&source(name)).unwrap()
}

fn source(name: &str) -> String {
    fs::read_to_string(tests().join(format!("documents/{name}.json"))).unwrap()
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

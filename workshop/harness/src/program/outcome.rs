use std::ffi::OsStr;
use std::process::{Command, ExitStatus};

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Version};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::assert_valid;

/// What a call of the program came to.
#[derive(Debug)]
pub struct Outcome {
    /// Its arguments, for failures.
    call: String,
    /// The exit code.
    pub code: i32,
    /// What stood on standard output.
    pub page: String,
    /// What stood on standard error.
    pub stderr: String,
    /// The JSON document, if one was written where the harness looks.
    pub json: Option<String>,
}

impl Outcome {
    /// Whatever else a test expects, the program neither panics nor dies of a signal, and its document keeps its published schema.
    #[track_caller]
    pub fn new(call: String, status: ExitStatus, page: String, stderr: String, json: Option<String>) -> Self {
        assert!(!stderr.contains("panicked"), "{call}: {stderr}");
        let Some(code) = status.code() else { panic!("{call}: ended by a signal: {status}\n{stderr}") };
        if let Some(json) = &json {
            assert_valid(&serde_json::from_str(json).unwrap());
        }
        Self { call, code, page, stderr, json }
    }

    /// Expects an exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}\n{}", self.call, self.stderr, self.page);
        self
    }

    /// Expects words on standard error, wherever its lines break.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        let said = on_one_line(&self.stderr);
        words.iter().for_each(|words| assert!(said.contains(words), "{}: no {words:?} in: {said}", self.call));
        self
    }

    /// Expects words on the page, wherever its lines break.
    #[track_caller]
    pub fn shows(self, words: &[&str]) -> Self {
        let shown = on_one_line(&self.page);
        words.iter().for_each(|words| assert!(shown.contains(words), "{}: no {words:?} in: {}", self.call, self.page));
        self
    }

    /// Expects nothing on standard error.
    #[track_caller]
    pub fn silently(self) -> Self {
        assert_eq!(self.stderr, "", "{}", self.call);
        self
    }

    /// The document of `measure`.
    #[track_caller]
    pub fn document(&self) -> MeasureDocument {
        self.json()
    }

    /// The document.
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        let Some(json) = &self.json else { panic!("{}: no document was written: {}", self.call, self.stderr) };
        serde_json::from_str(json).unwrap()
    }

    /// The document, which names this schema, `reprise.load/1`.
    #[track_caller]
    pub fn json_of(&self, schema: &str) -> Value {
        let document: Value = self.json();
        assert_eq!(document["schema"], schema, "{}", self.call);
        document
    }

    /// One run of the document.
    #[track_caller]
    pub fn measured(&self, tls: Version, kind: Kind) -> Run {
        let run = self.document().run(tls, kind).cloned();
        run.unwrap_or_else(|| panic!("{}: no run of {kind} under {tls}: {}", self.call, self.page))
    }
}

/// A call's arguments, as one would type them.
pub fn call_of(command: &Command) -> String {
    command.get_args().map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! Every result in every format: one line for each kind of document.

use std::io;

use reprise_report::terminal::Style;
use reprise_report::{csv, json, markdown, terminal};
use reprise_trace::document::{
    CompareDocument, DiagnoseDocument, LabDocument, LoadDocument, MeasureDocument, TraceDocument,
};
use serde::Serialize;

/// A result in every format.
pub(crate) trait Rendered: Serialize + Sized {
    /// The page for a terminal.
    fn terminal(&self, style: Style) -> String;
    /// The CSV table.
    fn csv(&self, out: &mut Vec<u8>) -> io::Result<()>;
    /// The Markdown page.
    fn markdown(&self) -> String;
    /// The JSON document.
    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        json::write(self, out)
    }
}

/// A document is rendered by the function of its name in each format.
macro_rules! rendered {
    ($($Document:ty => $name:ident;)*) => {$(
        impl Rendered for $Document {
            fn terminal(&self, style: Style) -> String {
                terminal::$name(self, style)
            }

            fn csv(&self, out: &mut Vec<u8>) -> io::Result<()> {
                csv::$name(self, out)
            }

            fn markdown(&self) -> String {
                markdown::$name(self)
            }
        }
    )*};
}

rendered! {
    MeasureDocument => measure;
    LabDocument => lab;
    TraceDocument => trace;
    LoadDocument => load;
    CompareDocument => compare;
}

/// A diagnosis, and whether each experiment is shown. The documents always hold all of it.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Diagnosed<'a> {
    pub(crate) document: &'a DiagnoseDocument,
    #[serde(skip)]
    pub(crate) shows_experiments: bool,
}

impl Rendered for Diagnosed<'_> {
    fn terminal(&self, style: Style) -> String {
        terminal::diagnose(self.document, style, self.shows_experiments)
    }

    fn csv(&self, out: &mut Vec<u8>) -> io::Result<()> {
        csv::diagnose(self.document, out)
    }

    fn markdown(&self) -> String {
        markdown::diagnose(self.document, self.shows_experiments)
    }
}

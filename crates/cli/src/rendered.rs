//! Every result in every format: one line for each kind of document.

use std::io;

use reprise_report::terminal::Style;
use reprise_report::{csv, json, markdown, terminal};
use reprise_trace::document::{DiagnoseDocument, LabDocument, LoadDocument, MeasureDocument, TraceDocument};
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
    DiagnoseDocument => diagnose;
    LoadDocument => load;
}

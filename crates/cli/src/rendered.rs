//! Every result in every format: one line for each kind of document.

use std::io;

use reprise_board::document::BoardDocument;
use reprise_report::terminal::Style;
use reprise_report::{Shown, csv, har, html, json, markdown, terminal};
use reprise_trace::document::{
    CompareDocument, DiagnoseDocument, LabDocument, LayersDocument, LoadDocument, MeasureDocument, SideBySideDocument,
    TraceDocument,
};
use serde::Serialize;

/// A format of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
    Markdown,
    Html,
    /// Of results that have single connections.
    Har,
}

/// A result in every format.
pub(crate) trait Rendered: Serialize + Sized {
    /// The page for a terminal.
    fn terminal(&self, style: Style) -> String;
    /// The document in this format; nothing where the result has none, and so no flag for it.
    fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()>;
}

/// A document is rendered by the function of its name in each format; those of single connections as HAR too.
macro_rules! rendered {
    ($($Document:ty => $name:ident $(and $har:ident)?;)*) => {$(
        impl Rendered for $Document {
            fn terminal(&self, style: Style) -> String {
                terminal::$name(self, style)
            }

            fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()> {
                match format {
                    Format::Json => json::write(self, out),
                    Format::Csv => csv::$name(self, out),
                    Format::Markdown => text(markdown::$name(self), out),
                    Format::Html => text(html::$name(self), out),
                    Format::Har => {
                        $($har::$name(self, out)?;)?
                        Ok(())
                    }
                }
            }
        }
    )*};
}

rendered! {
    LabDocument => lab and har;
    TraceDocument => trace and har;
    LoadDocument => load;
    CompareDocument => compare;
    LayersDocument => layers;
    SideBySideDocument => side_by_side;
    BoardDocument => board;
}

/// A document with findings, and how much of it its pages show. The documents always hold all of it.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Found<'a, D> {
    pub(crate) document: &'a D,
    #[serde(skip)]
    pub(crate) shown: Shown,
}

macro_rules! rendered_as_shown {
    ($($Document:ty => $name:ident $(and $har:ident)?;)*) => {$(
        impl Rendered for Found<'_, $Document> {
            fn terminal(&self, style: Style) -> String {
                terminal::$name(self.document, style, self.shown)
            }

            fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()> {
                match format {
                    Format::Json => json::write(self, out),
                    Format::Csv => csv::$name(self.document, out),
                    Format::Markdown => text(markdown::$name(self.document, self.shown), out),
                    Format::Html => text(html::$name(self.document, self.shown), out),
                    Format::Har => {
                        $($har::$name(self.document, out)?;)?
                        Ok(())
                    }
                }
            }
        }
    )*};
}

rendered_as_shown! {
    MeasureDocument => measure and har;
    DiagnoseDocument => diagnose;
}

/// A trace, and what each message is for and says. The documents always hold all of it.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Explained<'a>(pub(crate) &'a TraceDocument);

impl Rendered for Explained<'_> {
    fn terminal(&self, style: Style) -> String {
        terminal::trace_explained(self.0, style)
    }

    fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()> {
        match format {
            Format::Markdown => text(markdown::trace_explained(self.0), out),
            Format::Html => text(html::trace_explained(self.0), out),
            Format::Json | Format::Csv | Format::Har => self.0.write(format, out),
        }
    }
}

fn text(page: String, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend(page.into_bytes());
    Ok(())
}

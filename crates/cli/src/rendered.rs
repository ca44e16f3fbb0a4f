//! Every result in every format: one line for each kind of document.

use std::io;
use std::slice;

use reprise_board::document::BoardDocument;
use reprise_report::terminal::Style;
use reprise_report::{csv, har, html, json, junit, markdown, sarif, terminal};
use reprise_trace::document::{
    CompareDocument, DiagnoseDocument, LabDocument, LayersDocument, LoadDocument, MeasureDocument, SideBySideDocument,
    TraceDocument,
};

/// A format of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
    Markdown,
    Html,
    /// Of results that have single connections.
    Har,
    /// Of results that are held against something.
    Junit,
    /// Of a diagnosis.
    Sarif,
}

/// A result in every format.
pub(crate) trait Rendered {
    /// The page for a terminal.
    fn terminal(&self, style: Style) -> String;
    /// The document in this format; nothing where the result has none, and so no flag for it.
    fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()>;
    /// Whether nothing was measured, so that no earlier result is worth less.
    fn is_nothing(&self) -> bool;
}

/// A document is rendered by the function of its name in each format, and by these in those formats that not all have. The
/// condition says where it has nothing in it.
macro_rules! rendered {
    ($($Document:ty => $name:ident $(, $format:ident by $written:expr)*; nothing if $is_nothing:expr;)*) => {$(
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
                    $(Format::$format => ($written)(self, out),)*
                    _ => Ok(()),
                }
            }

            fn is_nothing(&self) -> bool {
                let is_nothing: fn(&Self) -> bool = $is_nothing;
                is_nothing(self)
            }
        }
    )*};
}

rendered! {
    MeasureDocument => measure, Har by har::measure, Junit by |it, out| junit::measure(slice::from_ref(it), &[], &it.conditions, out);
        nothing if |it| it.samples.is_empty();
    LabDocument => lab, Har by har::lab, Junit by |it: &Self, out| junit::measure(&it.results, &[], &it.conditions, out);
        nothing if |it| it.results.iter().all(Rendered::is_nothing);
    TraceDocument => trace, Har by har::trace; nothing if |it| it.traces.is_empty();
    LoadDocument => load, Junit by junit::load; nothing if |it| !it.has_any();
    CompareDocument => compare; nothing if |it| it.rows.is_empty();
    LayersDocument => layers; nothing if |it| it.rows.is_empty();
    SideBySideDocument => side_by_side; nothing if |_| false;
    BoardDocument => board; nothing if |it| it.handshakes.is_empty() && it.esp8266.is_none();
}

/// A diagnosis, and whether each experiment is shown. The documents always hold all of it.
pub(crate) struct Diagnosed<'a> {
    pub(crate) document: &'a DiagnoseDocument,
    pub(crate) shows_experiments: bool,
}

impl Rendered for Diagnosed<'_> {
    fn terminal(&self, style: Style) -> String {
        terminal::diagnose(self.document, style, self.shows_experiments)
    }

    fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()> {
        match format {
            Format::Json => json::write(self.document, out),
            Format::Csv => csv::diagnose(self.document, out),
            Format::Markdown => text(markdown::diagnose(self.document, self.shows_experiments), out),
            Format::Html => text(html::diagnose(self.document, self.shows_experiments), out),
            Format::Junit => junit::diagnose(self.document, out),
            Format::Sarif => sarif::diagnose(self.document, out),
            Format::Har => Ok(()),
        }
    }

    fn is_nothing(&self) -> bool {
        self.document.targets.iter().all(|target| !target.reached)
    }
}

/// A trace, and what each message is for and says. The documents always hold all of it.
pub(crate) struct Explained<'a>(pub(crate) &'a TraceDocument);

impl Rendered for Explained<'_> {
    fn terminal(&self, style: Style) -> String {
        terminal::trace_explained(self.0, style)
    }

    fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()> {
        match format {
            Format::Markdown => text(markdown::trace_explained(self.0), out),
            Format::Html => text(html::trace_explained(self.0), out),
            other => self.0.write(other, out),
        }
    }

    fn is_nothing(&self) -> bool {
        self.0.is_nothing()
    }
}

fn text(page: String, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend(page.into_bytes());
    Ok(())
}

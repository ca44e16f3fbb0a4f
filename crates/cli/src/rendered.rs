//! Every result in every format: one line for each kind of document.

use std::io;
use std::slice;

use reprise_board::document::BoardDocument;
use reprise_model::document::{
    CompareDocument, DiagnoseDocument, LabDocument, LayersDocument, LoadDocument, MeasureDocument, SideBySideDocument,
    TraceDocument,
};
use reprise_report::terminal::Style;
use reprise_report::{Shown, csv, har, html, json, junit, markdown, sarif, terminal};

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
/// condition says where it has nothing in it. `of` and `as` name the fields of one that is shown in part.
macro_rules! rendered {
    ($($Rendered:ty => $name:ident $(of $document:ident as $shown:ident)? $(, $format:ident by $written:expr)*;
        nothing if $is_nothing:expr;)*) => {$(
        impl Rendered for $Rendered {
            fn terminal(&self, style: Style) -> String {
                terminal::$name(self $(.$document)?, style $(, self.$shown)?)
            }

            fn write(&self, format: Format, out: &mut Vec<u8>) -> io::Result<()> {
                match format {
                    Format::Json => json::write(self $(.$document)?, out),
                    Format::Csv => csv::$name(self $(.$document)?, out),
                    Format::Markdown => text(markdown::$name(self $(.$document, self.$shown)?), out),
                    Format::Html => text(html::$name(self $(.$document, self.$shown)?), out),
                    $(Format::$format => ($written)(self, out),)*
                    _ => Ok(()),
                }
            }

            fn is_nothing(&self) -> bool {
                ($is_nothing)(self)
            }
        }
    )*};
}

rendered! {
    Found<'_, MeasureDocument> => measure of document as shown, Har by |it: &Self, out| har::measure(it.document, out),
        Junit by |it: &Self, out| junit::measure(slice::from_ref(it.document), &[], &it.document.conditions, out);
        nothing if |it: &Self| it.document.samples.is_empty();
    Found<'_, DiagnoseDocument> => diagnose of document as shown, Junit by |it: &Self, out| junit::diagnose(it.document, out),
        Sarif by |it: &Self, out| sarif::diagnose(it.document, out);
        nothing if |it: &Self| it.document.targets.iter().all(|target| !target.reached);
    LabDocument => lab, Har by har::lab, Junit by |it: &Self, out| junit::measure(&it.results, &[], &it.conditions, out);
        nothing if |it: &Self| it.results.iter().all(|it| it.samples.is_empty());
    TraceDocument => trace, Har by har::trace; nothing if |it: &Self| it.traces.is_empty();
    LoadDocument => load, Junit by junit::load; nothing if |it: &Self| !it.has_any();
    CompareDocument => compare; nothing if |it: &Self| it.rows.is_empty();
    LayersDocument => layers; nothing if |it: &Self| it.rows.is_empty();
    SideBySideDocument => side_by_side; nothing if |_: &Self| false;
    BoardDocument => board; nothing if |it: &Self| it.handshakes.is_empty() && it.esp8266.is_none();
}

/// A document with findings, and how much of it its pages show. The documents always hold all of it.
pub(crate) struct Found<'a, D> {
    pub(crate) document: &'a D,
    pub(crate) shown: Shown,
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

//! A finished document of any command, and what is asked of its pages and formats.

use reprise_board::document::BoardDocument;
use reprise_model::Kind;
use reprise_model::document::{
    ClientsDocument, CompareDocument, DiagnoseDocument, ExplainDocument, LabDocument, LayersDocument, LoadDocument,
    MeasureDocument, SideBySideDocument, SpeedDocument, TraceDocument,
};
use reprise_page::{Page, Shown};
use serde::Serialize;

use crate::paged_document::PagedDocument;

/// Declares the documents of all commands, a line each. Its page stands where it implements [`PagedDocument`].
macro_rules! documents {
    ($($(#[$doc:meta])* $name:ident($document:ty),)*) => {
        /// What a command came to. As JSON it is the document itself.
        #[derive(Clone, Copy, Debug, Serialize)]
        #[serde(untagged)]
        pub enum Document<'a> {
            $($(#[$doc])* $name(&'a $document),)*
        }

        /// The schemas of all documents.
        pub const SCHEMAS: &[&str] = &[$(<$document>::SCHEMA),*];

        impl Document<'_> {
            /// The schema that the document names, by which a format says whether it has the document.
            pub fn schema(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$document>::SCHEMA,)*
                }
            }

            fn paged(&self) -> &dyn PagedDocument {
                match self {
                    $(Self::$name(document) => *document,)*
                }
            }
        }
    };
}

documents! {
    /// One target.
    Measure(MeasureDocument),
    /// The lab.
    Lab(LabDocument),
    /// One target and several clients.
    Clients(ClientsDocument),
    /// What is wrong with each target.
    Diagnose(DiagnoseDocument),
    /// The messages of a full and of a resumed handshake.
    Trace(TraceDocument),
    /// A load.
    Load(LoadDocument),
    /// TLS stacks side by side.
    Compare(CompareDocument),
    /// What it costs to start again at each level.
    Layers(LayersDocument),
    /// What the operations of handshakes cost.
    Speed(SpeedDocument),
    /// Where the time of a handshake goes.
    Explain(ExplainDocument),
    /// Several results side by side.
    SideBySide(SideBySideDocument),
    /// TLS on microcontrollers.
    Board(BoardDocument),
}

/// A document and how much of it is to be written. JSON and CSV have all of it.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What is written.
    pub document: Document<'a>,
    /// How much of it its page shows.
    pub shown: Shown,
    /// The kinds that a measurement had to observe on every connection: test cases of JUnit.
    pub kinds: &'a [Kind],
}

impl Document<'_> {
    /// Whether nothing was measured, so that no earlier result is worth less.
    pub fn is_nothing(&self) -> bool {
        self.paged().is_nothing()
    }

    /// Whether Ctrl-C or the target's death cut it short, so that an earlier result may be the better one.
    pub fn is_cut_short(&self) -> bool {
        self.paged().is_cut_short()
    }
}

impl<'a> From<Document<'a>> for Report<'a> {
    fn from(document: Document<'a>) -> Self {
        Self { document, shown: Shown::default(), kinds: &[] }
    }
}

impl Report<'_> {
    /// The document as a page.
    pub fn page(&self) -> Page {
        let page = self.document.paged().page(self.shown);
        // Where nothing was measured, why not is all that there is to show. A file may have lost its samples and still have figures.
        let is_nothing = !matches!(self.document, Document::Measure(_) | Document::Lab(_) | Document::Clients(_))
            && self.document.is_nothing();
        Page { in_full: self.shown.in_full || is_nothing, ..page }
    }
}

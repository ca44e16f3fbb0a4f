//! A finished document of any command, and what is asked of its pages and formats.

use reprise_board::document::BoardDocument;
use reprise_model::document::{
    CompareDocument, DiagnoseDocument, Diagnosis, ExplainDocument, LabDocument, LayersDocument, LoadDocument,
    MeasureDocument, SideBySideDocument, SpeedDocument, TraceDocument,
};
use reprise_model::{Failure, FailureClass, Kind};
use reprise_page::{Page, Shown};
use serde::Serialize;

use crate::page;

/// What a command came to. As JSON it is the document itself.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Document<'a> {
    /// One target.
    Measure(&'a MeasureDocument),
    /// The lab.
    Lab(&'a LabDocument),
    /// What is wrong with each target.
    Diagnose(&'a DiagnoseDocument),
    /// The messages of a full and of a resumed handshake.
    Trace(&'a TraceDocument),
    /// A load.
    Load(&'a LoadDocument),
    /// TLS stacks side by side.
    Compare(&'a CompareDocument),
    /// What it costs to start again at each level.
    Layers(&'a LayersDocument),
    /// What the operations of handshakes cost.
    Speed(&'a SpeedDocument),
    /// Where the time of a handshake goes.
    Explain(&'a ExplainDocument),
    /// Several results side by side.
    SideBySide(&'a SideBySideDocument),
    /// TLS on microcontrollers.
    Board(&'a BoardDocument),
}

/// The schemas of all documents.
pub const SCHEMAS: &[&str] = &[
    MeasureDocument::SCHEMA,
    LabDocument::SCHEMA,
    DiagnoseDocument::SCHEMA,
    TraceDocument::SCHEMA,
    LoadDocument::SCHEMA,
    CompareDocument::SCHEMA,
    LayersDocument::SCHEMA,
    SpeedDocument::SCHEMA,
    ExplainDocument::SCHEMA,
    SideBySideDocument::SCHEMA,
    BoardDocument::SCHEMA,
];

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
        match self {
            Self::Measure(it) => it.samples.is_empty(),
            Self::Lab(it) => it.results.iter().all(|it| it.samples.is_empty()),
            Self::Diagnose(it) => it.subjects().all(|target| !target.reached),
            Self::Trace(it) => it.traces.is_empty(),
            Self::Load(it) => !it.has_any(),
            Self::Compare(it) => it.rows.is_empty() && it.memory.is_empty(),
            Self::Layers(it) => it.rows.is_empty(),
            Self::Speed(it) => it.rows.is_empty(),
            Self::Explain(it) => it.paths.is_empty(),
            Self::SideBySide(_) => false,
            Self::Board(it) => it.handshakes.is_empty() && it.esp8266.is_none(),
        }
    }

    /// Whether Ctrl-C or the target's death cut it short, so that an earlier result may be the better one.
    pub fn is_cut_short(&self) -> bool {
        match self {
            Self::Measure(it) => it.interrupted,
            Self::Lab(it) => it.results.iter().any(|it| it.interrupted),
            Self::Diagnose(it) => {
                let is_interruption = |failure: &Failure| failure.class == FailureClass::Interrupted;
                let is_cut =
                    |it: &Diagnosis| it.failure.as_ref().is_some_and(|failure| it.reached || is_interruption(failure));
                it.targets.iter().any(is_cut) || it.fleet.iter().any(|fleet| fleet.interrupted)
            }
            Self::Trace(it) => it.interrupted,
            Self::Load(it) => it.interrupted,
            Self::Compare(it) => it.interrupted,
            Self::Layers(it) => it.interrupted,
            Self::Speed(it) => it.interrupted,
            Self::Explain(it) => it.interrupted,
            Self::SideBySide(_) => false,
            Self::Board(it) => it.interrupted,
        }
    }

    /// The schema that the document names, by which a format says whether it has the document.
    pub fn schema(&self) -> &'static str {
        match self {
            Self::Measure(_) => MeasureDocument::SCHEMA,
            Self::Lab(_) => LabDocument::SCHEMA,
            Self::Diagnose(_) => DiagnoseDocument::SCHEMA,
            Self::Trace(_) => TraceDocument::SCHEMA,
            Self::Load(_) => LoadDocument::SCHEMA,
            Self::Compare(_) => CompareDocument::SCHEMA,
            Self::Layers(_) => LayersDocument::SCHEMA,
            Self::Speed(_) => SpeedDocument::SCHEMA,
            Self::Explain(_) => ExplainDocument::SCHEMA,
            Self::SideBySide(_) => SideBySideDocument::SCHEMA,
            Self::Board(_) => BoardDocument::SCHEMA,
        }
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
        let page = match self.document {
            Document::Measure(it) => page::measure(it, self.shown),
            Document::Lab(it) => page::lab(it),
            Document::Diagnose(it) => page::diagnose(it, self.shown),
            Document::Trace(it) => page::trace(it, self.shown),
            Document::Load(it) => page::load(it),
            Document::Compare(it) => page::compare(it),
            Document::Layers(it) => page::layers(it),
            Document::Speed(it) => page::speed(it),
            Document::Explain(it) => page::explain(it),
            Document::SideBySide(it) => page::side_by_side(it),
            Document::Board(it) => reprise_board::page(it),
        };
        // Where nothing was measured, why not is all that there is to show. A file may have lost its samples and still have figures.
        let is_nothing = !matches!(self.document, Document::Measure(_) | Document::Lab(_)) && self.document.is_nothing();
        Page { in_full: self.shown.in_full || is_nothing, ..page }
    }
}

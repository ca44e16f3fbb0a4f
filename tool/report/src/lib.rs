//! Results to terminal, HTML, JSON, CSV, Markdown, OpenMetrics, SARIF, JUnit, HAR and pcapng: pure functions to text and bytes.
//!
//! A [`Report`] is a document and how much of it is to be shown. Its page (`page/RESULT.rs`: what is shown) becomes text by `reprise-page`;
//! the other formats are written from the document itself. A format is one file with a [`Format`] and one line in [`FORMATS`]. A capture
//! (`pcapng.rs`) and a watch (`openmetrics.rs`, `line.rs`) are no documents.
//!
//! ```
//! let cause = reprise_diagnosis::cause("nagle").expect("a cause of this slug");
//! let page = reprise_report::cause_page::markdown::page(cause);
//! assert!(page.contains(cause.page.title));
//! ```

/// Declares the module of each format of documents and lists the formats.
macro_rules! formats {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// All formats of documents.
        pub static FORMATS: [&Format; [$(stringify!($name)),*].len()] = [$(&$name::FORMAT),*];
    };
}

// In the order in which help shows their flags.
formats! {
    json,
    csv,
    markdown,
    html,
    har,
    sarif,
    junit,
}

pub mod line;
pub mod openmetrics;
pub mod pcapng;

pub mod cause_page;
mod document;
mod format;
mod page;
mod paged_document;

pub use document::{Document, Report, SCHEMAS};
pub use format::Format;

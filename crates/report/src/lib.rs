//! Results to terminal, HTML, JSON, CSV, Markdown, OpenMetrics, SARIF, JUnit, HAR and pcapng: pure functions to text and bytes.
//!
//! A [`Report`] is a document and how much of it is to be shown. Its page (`page/RESULT.rs`: what is shown) becomes text (`terminal.rs`,
//! `markdown.rs`, `html.rs`: how it is shown); the other formats are written from the document itself. A format is one file with a
//! [`Format`] and one line in [`FORMATS`]. A capture (`pcapng.rs`) and a watch (`openmetrics.rs`, `line.rs`) are no documents.
//!
//! ```
//! let cause = reprise_diagnosis::cause("nagle").expect("a cause of this slug");
//! let page = reprise_report::markdown::cause(cause);
//! assert!(page.contains(cause.title));
//! ```

pub mod csv;
pub mod har;
pub mod html;
pub mod json;
pub mod junit;
pub mod line;
pub mod markdown;
pub mod openmetrics;
pub mod pcapng;
pub mod sarif;
pub mod terminal;

mod chart;
mod document;
mod figures;
mod format;
mod page;
mod table;

pub use document::{Document, Report, Shown};
pub use format::{FORMATS, Format};

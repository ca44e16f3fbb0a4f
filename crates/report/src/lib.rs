//! Results to terminal, HTML, JSON, CSV, Markdown, OpenMetrics, SARIF, JUnit, HAR and pcapng: pure functions to text and bytes.
//!
//! A result becomes a page (`page/RESULT.rs`: what is shown), and a page becomes text (`terminal.rs`, `markdown.rs`, `html.rs`: how it
//! is shown). JSON and CSV are written from the document itself and contain everything.
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
mod figures;
mod page;
mod table;

pub use page::findings::Shown;

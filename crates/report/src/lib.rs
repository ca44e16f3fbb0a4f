//! Results to terminal, JSON, CSV, Markdown, OpenMetrics, SARIF, JUnit and pcapng: pure functions to text and bytes.
//!
//! A result becomes a page (`page/RESULT.rs`: what is shown), and a page becomes text (`terminal.rs`, `markdown.rs`: how it
//! is shown). JSON and CSV come straight from the document: they leave nothing out.

pub mod csv;
pub mod json;
pub mod junit;
pub mod line;
pub mod markdown;
pub mod openmetrics;
pub mod pcapng;
pub mod sarif;
pub mod terminal;

mod figures;
mod page;
mod table;

//! Results to terminal, JSON, CSV, Markdown and pcapng: pure functions to text and bytes.
//!
//! A result becomes a page (`page/RESULT.rs`: what is shown), and a page becomes text (`terminal.rs`, `markdown.rs`: how it
//! is shown). JSON and CSV come straight from the document: they leave nothing out.

pub mod csv;
pub mod json;
pub mod markdown;
pub mod pcapng;
pub mod terminal;

mod figures;
mod page;
mod table;

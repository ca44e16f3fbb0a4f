//! Pages: what is shown of a result, before any format, and the three formats that show it. This crate depends on no command.
//!
//! A [`Page`] is a title and blocks: facts, tables ([`table`]), charts ([`chart`]), ladders ([`ladder`]), items. [`terminal`], [`html`] and
//! [`markdown`] are pure functions of it.
//!
//! ```
//! use reprise_page::{Block, Page, markdown};
//! let page = Page::new("measure", "example.org:443", vec![Block::Paragraph("Nothing was measured.".to_owned())]);
//! assert!(markdown::render(&page).starts_with("# example.org:443"));
//! ```

pub mod changes;
pub mod chart;
pub mod conditions;
mod facts;
pub mod figures;
pub mod html;
pub mod ladder;
pub mod markdown;
mod page;
pub mod table;
pub mod terminal;

pub use facts::{counted, offered_as, responses, source, stacks, stated_lifetime, title};
pub use page::{Block, Fact, Item, Page, Shown, grouped, section};

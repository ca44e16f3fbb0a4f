//! The page of the boards stands in their crate.

use reprise_board::document::BoardDocument;
use reprise_page::{Page, Shown};

use crate::paged_document::PagedDocument;

impl PagedDocument for BoardDocument {
    fn page(&self, _shown: Shown) -> Page {
        reprise_board::page(self)
    }

    fn is_nothing(&self) -> bool {
        self.handshakes.is_empty() && self.esp8266.is_none()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

use reprise_page::{Page, Shown};

/// What a command came to, as it is shown.
pub(crate) trait PagedDocument {
    /// All that is shown of it.
    fn page(&self, shown: Shown) -> Page;

    /// Whether nothing was measured, so that no earlier result is worth less.
    fn is_nothing(&self) -> bool;

    /// Whether Ctrl-C or the target's death cut it short, so that an earlier result may be the better one.
    fn is_cut_short(&self) -> bool;
}

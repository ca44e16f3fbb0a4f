/// What a [`LocalStore`](super::LocalStore) may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Entries; zero switches the store off.
    pub entries: usize,
    /// Bytes: 256 an entry, and the state of an entry above 208. The index takes up to 26 an entry beside them.
    pub bytes: usize,
}

impl StoreLimits {
    /// So many entries of so many bytes in all.
    pub const fn new(entries: usize, bytes: usize) -> Self {
        Self { entries, bytes }
    }
}

use super::Extensions;
use crate::ExtensionType;
use crate::codec::{self, vec16};

/// Collects extensions into an encoded list; cleared and used again, it allocates no more.
///
/// It does not look for duplicates: who pushes one type twice gets a list that [`Extensions::parse`] refuses.
#[derive(Clone, Debug, Default)]
pub struct ExtensionsBuilder {
    bytes: Vec<u8>,
}

impl ExtensionsBuilder {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty list with room for so many bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// Appends an extension: its type, the length, and what `data` writes.
    pub fn push(&mut self, extension: ExtensionType, data: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        codec::u16(&mut self.bytes, extension.0);
        vec16(&mut self.bytes, data);
        self
    }

    /// Puts an extension before the last, if that is of the type `before`; else at the end.
    pub fn insert_before(&mut self, before: ExtensionType, extension: ExtensionType, data: &[u8]) -> &mut Self {
        let mut start = 0;
        let mut last = None;
        for (found, data) in self.view().iter() {
            last = Some((found, start));
            start += 4 + data.len();
        }
        let place = last.filter(|(found, _)| *found == before).map_or(start, |(_, start)| start);
        let behind = self.bytes.split_off(place);
        self.push(extension, |out| out.extend_from_slice(data));
        self.bytes.extend_from_slice(&behind);
        self
    }

    /// What was pushed, as a message takes it.
    pub fn view(&self) -> Extensions<'_> {
        Extensions { bytes: &self.bytes }
    }

    /// The encoded list, without the 16-bit length before it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoded list, without the 16-bit length before it.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Forgets what was pushed, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

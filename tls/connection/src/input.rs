//! Bytes as they came from the transport, and those of them that wait for the rest of their record.

use reprise_model::Nanos;

/// The bytes of one read, and when they came. An attempt may take them in parts, since it returns at every boundary between
/// phases.
pub struct Input<'b> {
    bytes: &'b mut [u8],
    used: usize,
    at: Nanos,
}

impl<'b> Input<'b> {
    /// Bytes that were had from the transport at `at`.
    pub fn new(bytes: &'b mut [u8], at: Nanos) -> Self {
        Self { bytes, used: 0, at }
    }

    /// When they came.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// What was not taken yet.
    pub fn rest(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.used..).unwrap_or_default()
    }

    /// Whether all was taken.
    pub fn is_empty(&self) -> bool {
        self.used >= self.bytes.len()
    }

    /// So many bytes more are taken.
    pub fn take(&mut self, count: usize) {
        self.used = self.used.saturating_add(count).min(self.bytes.len());
    }
}

/// Bytes that came before the record that they belong to was whole.
///
/// At most one read plus one record, since every whole record is taken before the next bytes come. The buffer is reused.
#[derive(Default)]
pub(crate) struct HeldBytes {
    bytes: Vec<u8>,
    taken: usize,
}

impl HeldBytes {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken >= self.bytes.len()
    }

    /// Takes all that is left of the input; returns how much that was.
    pub(crate) fn hold(&mut self, input: &mut Input<'_>) -> u64 {
        drop(self.bytes.drain(..self.taken));
        self.taken = 0;
        self.bytes.extend_from_slice(input.rest());
        let count = input.rest().len();
        input.take(count);
        count as u64
    }

    /// What was not taken yet.
    pub(crate) fn rest(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.taken..).unwrap_or_default()
    }

    /// So many bytes more are taken.
    pub(crate) fn take(&mut self, count: usize) {
        self.taken = self.taken.saturating_add(count).min(self.bytes.len());
    }
}

//! Bytes as they came from the transport.

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

//! Application data in bulk, whose records are measured in place of a handshake.

use std::fmt;

use reprise_model::document::{BulkSender, CompareBulk};
use serde::{Deserialize, Serialize};

/// Data that one side sends to the other, in records of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bulk {
    /// Who sends it.
    pub sender: BulkSender,
    /// Bytes of data in each record: 1 to [`LARGEST_RECORD`].
    pub record: u16,
    /// Whether the library may use what this CPU has for AES.
    pub hardware: bool,
}

/// What a record may have of data (RFC 9846 §5.1).
pub const LARGEST_RECORD: u16 = 1 << 14;

/// Bytes of one transfer, all of which are on their way before the first is received: few enough for the caches that a core has to itself.
const TRANSFER: usize = 1 << 16;

impl Bulk {
    /// Bytes of one transfer: whole records, at least one.
    pub(crate) fn bytes(self) -> usize {
        let record = usize::from(self.record);
        (TRANSFER / record).max(1) * record
    }

    /// As documents have it.
    pub fn document(self) -> CompareBulk {
        let Self { sender, record, hardware } = self;
        CompareBulk { sender, bytes: self.bytes() as u64, record: u64::from(record), hardware }
    }
}

impl fmt::Display for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hardware = if self.hardware { "" } else { ", without AES instructions" };
        write!(f, "the {} sends records of {} bytes{hardware}", self.sender, self.record)
    }
}

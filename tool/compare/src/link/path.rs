//! One direction of a link: what becomes of a packet.

use reprise_model::document::CompareLink;
use reprise_stats::Chance;

/// One direction. Packets wait for those before them, as long as it takes, and none overtakes another.
pub(super) struct Path {
    delay_ns: u64,
    bits_per_second: Option<u64>,
    /// When the last packet so far has left.
    free_at: u64,
    losses: Chance,
}

impl Path {
    pub(super) fn new(link: &CompareLink, losses: Chance) -> Self {
        Self { delay_ns: link.rtt_ns / 2, bits_per_second: link.bandwidth, free_at: 0, losses }
    }

    /// When a packet arrives that is sent now; `None` where it is lost, which is before it takes any bandwidth.
    pub(super) fn carry(&mut self, now: u64, bytes: u64) -> Option<u64> {
        if self.losses.happens() {
            return None;
        }
        let took = self.bits_per_second.map_or(0, |rate| bytes.saturating_mul(8_000_000_000) / rate.max(1));
        self.free_at = self.free_at.max(now).saturating_add(took);
        Some(self.free_at.saturating_add(self.delay_ns))
    }
}

//! The result that is explained.

use reprise_model::document::{LoadDocument, MeasureDocument, TraceDocument};

/// The result that is explained.
#[derive(Clone, Copy)]
pub enum Measured<'a> {
    /// Of `measure`.
    Measure(&'a MeasureDocument),
    /// Of `trace`.
    Trace(&'a TraceDocument),
    /// Of `load`, which has no path: under load connections wait for one another.
    Load(&'a LoadDocument),
}

impl Measured<'_> {
    /// What a connection cost the server's processes, where they were named.
    pub(crate) fn server_cpu_ns(self) -> Option<u64> {
        match self {
            Self::Measure(document) => document.server_cpu.map(|cpu| cpu.per_connection_ns),
            Self::Trace(_) => None,
            Self::Load(document) => {
                let early = document.warmup_completed.saturating_add(document.late);
                document.server_cpu_ns?.checked_div(document.total_completed().saturating_add(early))
            }
        }
    }
}

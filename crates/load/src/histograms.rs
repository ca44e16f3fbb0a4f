//! Histograms as they stand in documents.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use reprise_trace::document::{LoadDocument, LoadHistogram, LoadLatency};
use reprise_trace::{Kind, Phase};

/// Fills the latencies of a document from histograms.
pub(crate) fn summarize<'a>(
    document: &mut LoadDocument,
    histograms: impl IntoIterator<Item = (Kind, Option<Phase>, &'a Histogram<u64>)>,
) {
    document.latency_ns.clear();
    document.latency_from_intended_ns.clear();
    for (kind, phase, histogram) in histograms {
        let latency = LoadLatency {
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        };
        match phase {
            Some(phase) => drop(document.latency_ns.entry(kind).or_default().insert(phase, latency)),
            None => drop(document.latency_from_intended_ns.insert(kind, latency)),
        }
    }
}

/// A histogram as it stands in a document.
pub(crate) fn encoded(kind: Kind, phase: Option<Phase>, histogram: &Histogram<u64>) -> Option<LoadHistogram> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok()?;
    Some(LoadHistogram { kind, phase, hdr_v2: STANDARD.encode(bytes) })
}

/// The histogram that stands in a document; `None` if it is none.
pub(crate) fn decoded(histogram: &LoadHistogram) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(&histogram.hdr_v2).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

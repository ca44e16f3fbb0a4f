//! Histograms as they stand in documents.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
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

/// More than any histogram takes, its counts written out one by one.
const LARGEST: u64 = 1 << 20;

/// Of a histogram that is not deflated; its counts follow.
const HEADER: usize = 40;

/// The histogram that stands in a document; `None` if it is none.
pub(crate) fn decoded(histogram: &LoadHistogram) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(&histogram.hdr_v2).ok()?;
    // A cookie and a length of four bytes each.
    let deflated = bytes.get(8..)?;
    let mut plain = Vec::new();
    ZlibDecoder::new(deflated).take(LARGEST).read_to_end(&mut plain).ok()?;
    // The library makes room for as many bytes as the header claims, up to four billion, before it looks for them.
    let claimed = u32::from_be_bytes(plain.get(4..8)?.try_into().ok()?);
    if plain.len().checked_sub(HEADER)? != claimed as usize {
        return None;
    }
    Deserializer::new().deserialize(&mut plain.as_slice()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use hdrhistogram::serialization::V2Serializer;

    use super::*;

    fn deflated(plain: &[u8]) -> LoadHistogram {
        let mut encoder = ZlibEncoder::new(vec![0; 8], Compression::default());
        encoder.write_all(plain).unwrap();
        LoadHistogram { kind: Kind::Full, phase: None, hdr_v2: STANDARD.encode(encoder.finish().unwrap()) }
    }

    fn plain() -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        histogram.record_n(1_234, 5).unwrap();
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_histogram_is_read_as_it_was_written() {
        let read = decoded(&deflated(&plain())).unwrap();
        assert_eq!((read.len(), read.max()), (5, 1_234));
        let written = encoded(Kind::Full, None, &read).unwrap();
        assert_eq!(decoded(&written).unwrap(), read);
    }

    #[test]
    fn a_length_that_is_only_claimed_is_not_believed() {
        let mut bytes = plain();
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(decoded(&deflated(&bytes)), None);
        // Nor is what goes on without end.
        let mut endless = plain();
        endless.resize(8 << 20, 0);
        assert_eq!(decoded(&deflated(&endless)), None);
        assert_eq!(decoded(&deflated(&[])), None);
    }
}

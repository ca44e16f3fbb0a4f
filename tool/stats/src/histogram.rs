//! Histograms of nanoseconds that can be merged, and how they stand in documents: HdrHistogram's V2 format, compressed, in base64.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
pub use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::Ratio;

/// The longest time that a histogram holds, an hour: longer ones are counted as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Three digits of every figure are true.
const DIGITS: u8 = 3;

/// Two of a coarse one's.
const COARSE_DIGITS: u8 = 2;

/// What a histogram comes to, in its own unit; 0 of an empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Half are below.
    pub p50: u64,
    /// Nine in ten.
    pub p90: u64,
    /// Ninety-five in a hundred.
    pub p95: u64,
    /// Ninety-nine in a hundred.
    pub p99: u64,
    /// All but one in a thousand.
    pub p999: u64,
    /// The largest.
    pub max: u64,
}

/// An empty histogram with the bounds that all have, so that any two can be merged; `None` never, for the bounds are allowed
/// ones.
pub fn histogram() -> Option<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).ok()
}

/// One of which there are many: two digits are true, and it takes a tenth of the memory. `None` never.
pub fn coarse_histogram() -> Option<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST_NS, COARSE_DIGITS).ok()
}

/// What a histogram comes to.
pub fn spread(histogram: &Histogram<u64>) -> Spread {
    Spread {
        p50: histogram.value_at_quantile(0.5),
        p90: histogram.value_at_quantile(0.9),
        p95: histogram.value_at_quantile(0.95),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        max: histogram.max(),
    }
}

/// A quantile with the 95 % interval that the order of independent samples gives it, by the normal approximation of the binomial
/// distribution; without one where the interval would reach beyond the samples. `None` of an empty histogram.
pub fn quantile_interval(histogram: &Histogram<u64>, quantile: f64) -> Option<Ratio> {
    let n = histogram.len() as f64;
    let half = 1.96 * (quantile * (1.0 - quantile) / n).sqrt();
    let (low, high) = (quantile - half, quantile + half + 1.0 / n);
    let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64;
    let ci95 = (low > 0.0 && high < 1.0).then(|| [low, high].map(at));
    (n > 0.0).then(|| Ratio { median: at(quantile), ci95 })
}

/// A histogram as it stands in a document.
pub fn encode(histogram: &Histogram<u64>) -> Option<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

/// More than any histogram takes, its counts written out one by one.
const LARGEST: u64 = 1 << 20;

/// Of a histogram that is not deflated; its counts follow.
const HEADER: usize = 40;

/// The histogram that stands in a document; `None` if it is none.
pub fn decode(text: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(text).ok()?;
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

    fn deflated(plain: &[u8]) -> String {
        let mut encoder = ZlibEncoder::new(vec![0; 8], Compression::default());
        encoder.write_all(plain).unwrap();
        STANDARD.encode(encoder.finish().unwrap())
    }

    fn plain() -> Vec<u8> {
        let mut histogram = histogram().unwrap();
        histogram.record_n(1_234, 5).unwrap();
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_histogram_is_read_as_it_was_written() {
        let read = decode(&deflated(&plain())).unwrap();
        assert_eq!((read.len(), read.max()), (5, 1_234));
        let written = encode(&read).unwrap();
        assert_eq!(decode(&written).unwrap(), read);
    }

    #[test]
    fn a_quantile_of_many_has_a_narrow_interval_and_of_few_none() {
        let mut histogram = histogram().unwrap();
        (1..=10_000_u64).for_each(|value| histogram.record(value * 1_000).unwrap());
        let found = quantile_interval(&histogram, 0.5).unwrap();
        // Ranks 5000 ± 98.
        let [low, high] = found.ci95.unwrap();
        assert!((low / 4_902_000.0 - 1.0).abs() < 2e-3 && (high / 5_099_000.0 - 1.0).abs() < 2e-3, "{low}..{high}");
        let mut few = super::histogram().unwrap();
        few.record_n(5, 20).unwrap();
        assert_eq!(quantile_interval(&few, 0.99).unwrap().ci95, None);
    }

    #[test]
    fn a_length_that_is_only_claimed_is_not_believed() {
        let mut bytes = plain();
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(decode(&deflated(&bytes)), None);
        // Nor is what goes on without end.
        let mut endless = plain();
        endless.resize(8 << 20, 0);
        assert_eq!(decode(&deflated(&endless)), None);
        assert_eq!(decode(&deflated(&[])), None);
    }
}

//! The decoders of certificate compression (RFC 8879), for the clients that offer it.

use std::io::Read;

use reprise_engine::Decompress;
use reprise_wire::CertificateCompressionAlgorithm;

/// Undoes zlib, brotli and zstd.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decompressor;

/// What brotli reads at a time.
const BUFFER: usize = 4096;

impl Decompress for Decompressor {
    fn decompress(&self, algorithm: CertificateCompressionAlgorithm, compressed: &[u8], length: usize) -> Option<Vec<u8>> {
        match algorithm {
            CertificateCompressionAlgorithm::ZLIB => exactly(flate2::read::ZlibDecoder::new(compressed), length),
            CertificateCompressionAlgorithm::BROTLI => {
                exactly(brotli_decompressor::Decompressor::new(compressed, BUFFER), length)
            }
            CertificateCompressionAlgorithm::ZSTD => {
                exactly(ruzstd::decoding::StreamingDecoder::new(compressed).ok()?, length)
            }
            _ => None,
        }
    }
}

/// All that the decoder gives, if that is so many bytes: one more is asked for, and no more is held.
fn exactly(decoder: impl Read, length: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    decoder.take(length as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == length).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate, by `zlib`, `brotli` and `zstandard` of Python.
    const ZLIB: &[u8] = include_bytes!("decompress/certificate.zlib");
    const BROTLI: &[u8] = include_bytes!("decompress/certificate.br");
    const ZSTD: &[u8] = include_bytes!("decompress/certificate.zst");
    const WHOLE: &[u8] = include_bytes!("decompress/certificate");

    #[test]
    fn each_algorithm_gives_the_message_and_nothing_else() {
        for (algorithm, compressed) in [
            (CertificateCompressionAlgorithm::ZLIB, ZLIB),
            (CertificateCompressionAlgorithm::BROTLI, BROTLI),
            (CertificateCompressionAlgorithm::ZSTD, ZSTD),
        ] {
            let decompress = |bytes: &[u8], length| Decompressor.decompress(algorithm, bytes, length);
            assert_eq!(decompress(compressed, WHOLE.len()).as_deref(), Some(WHOLE), "{algorithm}");
            for wrong in [0, 1, WHOLE.len() - 1, WHOLE.len() + 1] {
                assert_eq!(decompress(compressed, wrong), None, "{algorithm} {wrong}");
            }
            for cut in 0..compressed.len() {
                assert_ne!(decompress(&compressed[..cut], WHOLE.len()).map(|it| it.len()), Some(0), "{algorithm} {cut}");
            }
            assert_eq!(decompress(&[0xff; 40], 40), None, "{algorithm}");
        }
        assert_eq!(Decompressor.decompress(CertificateCompressionAlgorithm(4), WHOLE, WHOLE.len()), None);
    }
}

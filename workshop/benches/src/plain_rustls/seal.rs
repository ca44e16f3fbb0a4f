//! The cipher of the rows alone, without the records of TLS.

use std::hint::black_box;

use anyhow::{Context, anyhow};
use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::clock::now;
use crate::row::number;

/// Mean nanoseconds for [`TRANSFER`](crate::TRANSFER) bytes, sealed in pieces of so many, each with a nonce and 5 bytes beside it, as a
/// record of TLS 1.3 has them.
pub(crate) fn seal(asked: &str) -> anyhow::Result<u64> {
    let (bytes, count) = asked.split_once(' ').context("no BYTES COUNT")?;
    let (bytes, count): (usize, u64) = (number(bytes)?, number(count)?);
    let failed = |_| anyhow!("AES-128-GCM fails");
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &[7; 16]).map_err(failed)?);
    let mut data = vec![0; crate::TRANSFER];
    let mut begun = now();
    let mut sequence = 0_u64;
    for transfer in 0..=count {
        // The first is not counted.
        if transfer == 1 {
            begun = now();
        }
        for piece in data.chunks_exact_mut(bytes) {
            sequence += 1;
            let mut nonce = [0; 12];
            nonce[4..].copy_from_slice(&sequence.to_be_bytes());
            let aad = Aad::from([23, 3, 3, 0, 0]);
            let tag = key.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), aad, piece);
            let _tag = black_box(tag.map_err(failed)?);
        }
    }
    Ok((now() - begun) / count)
}

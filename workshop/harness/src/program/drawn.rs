//! Choices by chance that a test can make again.

/// One of these, the same for the same seed.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn drawn<T: Copy>(of: &[T], seed: u64) -> T {
    let mut places: Vec<usize> = (0..of.len()).collect();
    reprise_stats::shuffle(&mut places, seed);
    of[places[0]]
}

//! The interval of a share.

/// Wilson's 95 % interval of a share of which `trials` trials came to `share` (Wilson, JASA 22 (1927) 209–212): unlike the normal
/// interval it holds where all trials, or none, came out. Everything where there was no trial.
///
/// ```
/// let [low, high] = reprise_stats::wilson(1.0, 3.0);
/// assert!(low > 0.43 && low < 0.45 && high == 1.0);
/// ```
pub fn wilson(share: f64, trials: f64) -> [f64; 2] {
    const Z: f64 = 1.959_963_984_540_054;
    if trials <= 0.0 {
        return [0.0, 1.0];
    }
    let share = share.clamp(0.0, 1.0);
    let scale = 1.0 + Z * Z / trials;
    let middle = (share + Z * Z / (2.0 * trials)) / scale;
    let half = Z / scale * (share * (1.0 - share) / trials + Z * Z / (4.0 * trials * trials)).sqrt();
    // Where rounding leaves a little, the share itself is in it.
    [(middle - half).clamp(0.0, share), (middle + half).clamp(share, 1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brown, Cai and DasGupta, Statistical Science 16 (2001) 101–133: 10 of 20 comes to 0.299 to 0.701.
    #[test]
    fn it_is_wilsons() {
        let [low, high] = wilson(0.5, 20.0);
        assert!((low - 0.299).abs() < 0.001 && (high - 0.701).abs() < 0.001, "{low} {high}");
        assert_eq!(wilson(0.0, 0.0), [0.0, 1.0]);
        assert_eq!(wilson(0.0, 10.0)[0], 0.0);
    }
}

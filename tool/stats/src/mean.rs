//! The mean of a few figures that each stand for many, as the counts of seconds do.

use crate::Ratio;
use crate::several::student_975;

/// The 95 % interval of the mean of these figures, taken as independent draws of a normal distribution; `None` under six of them, as
/// with medians.
pub fn mean_interval(figures: &[u64]) -> Option<Ratio> {
    let n = figures.len() as f64;
    let mean = figures.iter().map(|it| *it as f64).sum::<f64>() / n;
    if figures.len() < 6 {
        return None;
    }
    let variance = figures.iter().map(|it| (*it as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_975(n - 1.0) * (variance / n).sqrt();
    Some(Ratio { median: mean, ci95: Some([mean - half, mean + half]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `t.interval(0.95, 9, loc=mean, scale=sem)` of SciPy 1.17.1.
    #[test]
    fn ten_seconds_have_students_interval() {
        let found = mean_interval(&[100, 104, 96, 101, 99, 103, 97, 100, 102, 98]).unwrap();
        let [low, high] = found.ci95.unwrap();
        // sem = sqrt(60 / 9 / 10) = 0.8165; 2.2622 times that is 1.847.
        assert!((found.median - 100.0).abs() < 1e-9 && (high - 101.847).abs() < 1e-3 && (low - 98.153).abs() < 1e-3);
        assert_eq!(mean_interval(&[1; 5]), None);
        assert_eq!(mean_interval(&[7; 100]).unwrap().ci95, Some([7.0, 7.0]));
    }
}

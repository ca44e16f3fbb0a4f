//! The mean of a few figures that each stand for many, as the counts of seconds do.

use crate::Ratio;

/// The quantile 0.975 of Student's distribution by degrees of freedom from 5 on, by SciPy 1.17.1: `t.ppf(0.975, df)`.
const STUDENT: [f64; 26] = [
    2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930,
    2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
];

/// Beyond 30 degrees of freedom the quantile is less than this, and the interval somewhat wider than it need be.
const LARGE: f64 = 2.0423;

/// The 95 % interval of the mean of these figures, taken as independent draws of a normal distribution; `None` under six of them, as
/// with medians.
pub fn mean_interval(figures: &[u64]) -> Option<Ratio> {
    let n = figures.len() as f64;
    let mean = figures.iter().map(|it| *it as f64).sum::<f64>() / n;
    let degrees = figures.len().checked_sub(6)?;
    let variance = figures.iter().map(|it| (*it as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = STUDENT.get(degrees).unwrap_or(&LARGE) * (variance / n).sqrt();
    Some(Ratio { median: mean, ci95: Some((mean - half, mean + half)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `t.interval(0.95, 9, loc=mean, scale=sem)` of SciPy 1.17.1.
    #[test]
    fn ten_seconds_have_students_interval() {
        let found = mean_interval(&[100, 104, 96, 101, 99, 103, 97, 100, 102, 98]).unwrap();
        let (low, high) = found.ci95.unwrap();
        // sem = sqrt(60 / 9 / 10) = 0.8165; 2.2622 times that is 1.847.
        assert!((found.median - 100.0).abs() < 1e-9 && (high - 101.847).abs() < 1e-3 && (low - 98.153).abs() < 1e-3);
        assert_eq!(mean_interval(&[1; 5]), None);
        assert_eq!(mean_interval(&[7; 100]).unwrap().ci95, Some((7.0, 7.0)));
    }
}

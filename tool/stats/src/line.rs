//! A straight line through points of different weight.

use crate::Ratio;
use crate::several::student_975;

/// A point, and how many observations it is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// What was observed there.
    pub y: f64,
    /// Its weight: the variance of `y` is taken to be inverse to it.
    pub weight: f64,
}

/// The line of least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastSquaresLine {
    points: usize,
    weight: f64,
    mean: (f64, f64),
    /// The weighted squares of the distances from the mean of `x`.
    squares: f64,
    slope: f64,
    /// Of an observation of weight 1; `None` of two points, which are on every line through them.
    variance: Option<f64>,
}

impl LeastSquaresLine {
    /// `None` where fewer than two of the points differ in `x`.
    pub fn through(points: &[Point]) -> Option<Self> {
        let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(|point| point.weight * of(point)).sum::<f64>();
        let weight = sum(&|_| 1.0);
        let mean = (sum(&|point| point.x) / weight, sum(&|point| point.y) / weight);
        let squares = sum(&|point| (point.x - mean.0).powi(2));
        let slope = sum(&|point| (point.x - mean.0) * (point.y - mean.1)) / squares;
        let residuals = sum(&|point| (point.y - mean.1 - slope * (point.x - mean.0)).powi(2));
        let variance = (points.len() > 2).then(|| residuals / (points.len() as f64 - 2.0));
        (slope.is_finite() && squares > 0.0).then_some(Self { points: points.len(), weight, mean, squares, slope, variance })
    }

    /// The line at `x`, with the 95 % interval of Student's distribution; that is `None` of two points.
    pub fn at(&self, x: f64) -> Ratio {
        let median = self.mean.1 + self.slope * (x - self.mean.0);
        let error = |variance: f64| (variance * (1.0 / self.weight + (x - self.mean.0).powi(2) / self.squares)).sqrt();
        let half = self.variance.map(|variance| student_975(self.points as f64 - 2.0) * error(variance));
        Ratio { median, ci95: half.map(|half| [median - half, median + half]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64, f64)]) -> Option<LeastSquaresLine> {
        let points: Vec<Point> = points.iter().map(|&(x, y, weight)| Point { x, y, weight }).collect();
        LeastSquaresLine::through(&points)
    }

    /// By hand: slope and intercept are 1.4, the residuals 0.6, -1.3, 0.8 and -0.1.
    #[test]
    fn equal_weights_are_ordinary_least_squares() {
        let found = line(&[(0.0, 2.0, 1.0), (1.0, 1.5, 1.0), (2.0, 5.0, 1.0), (3.0, 5.5, 1.0)]).unwrap().at(0.0);
        assert!((found.median - 1.4).abs() < 1e-9, "{found:?}");
        let [low, high] = found.ci95.unwrap();
        let squares = [0.6_f64, -1.3, 0.8, -0.1].map(|it| it * it).iter().sum::<f64>();
        let half = 4.303 * (squares / 2.0 * (0.25 + 2.25 / 5.0)).sqrt();
        assert!((high - found.median - half).abs() < 1e-6 && (found.median - low - half).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_weight_is_so_many_points() {
        let weighted = line(&[(0.0, 1.0, 3.0), (1.0, 5.0, 1.0), (0.5, 2.0, 2.0)]).unwrap().at(1.0);
        let repeated = [(0.0, 1.0, 1.0); 3].into_iter().chain([(1.0, 5.0, 1.0)]).chain([(0.5, 2.0, 1.0); 2]);
        let repeated = line(&repeated.collect::<Vec<_>>()).unwrap().at(1.0);
        assert!((weighted.median - repeated.median).abs() < 1e-9, "{weighted:?} {repeated:?}");
    }

    #[test]
    fn one_place_makes_no_line_and_two_no_interval() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[(1.0, 2.0, 1.0)]), None);
        assert_eq!(line(&[(1.0, 2.0, 1.0), (1.0, 3.0, 1.0)]), None);
        let two = line(&[(0.0, 4.0, 1.0), (1.0, 1.0, 9.0)]).unwrap();
        assert!((two.at(0.0).median - 4.0).abs() < 1e-9 && (two.at(1.0).median - 1.0).abs() < 1e-9);
        assert_eq!(two.at(0.5).ci95, None);
    }
}

//! Early data that the server accepts and never answers: each such connection costs its whole timeout, so that a few are enough.

use reprise_model::{FaultName, Observation};

/// So many in a row show it; more would show nothing else.
const ENOUGH: usize = 3;

/// Whether the last connections of this series were all such.
pub(crate) fn is_shown_by(series: &[Observation]) -> bool {
    let is_unanswered = |seen: &Observation| seen.outcome == Err(FaultName::EarlyDataUnanswered);
    series.len() >= ENOUGH && series.iter().rev().take(ENOUGH).all(is_unanswered)
}

#[cfg(test)]
mod tests {
    use reprise_model::{Asked, Kind, Nanos, Purpose, Version};

    use super::*;

    #[test]
    fn three_in_a_row_are_enough() {
        let asked = Asked { tls: Version::Tls13, kind: Kind::Early };
        let ended = |name| Observation { outcome: Err(name), ..Observation::begun(0, Nanos(0), Purpose::Sample, asked) };
        let [unanswered, reset] = [FaultName::EarlyDataUnanswered, FaultName::ConnectionReset].map(ended);
        assert!(!is_shown_by(&[unanswered, unanswered]));
        assert!(!is_shown_by(&[unanswered, unanswered, reset]));
        assert!(!is_shown_by(&[unanswered, reset, unanswered, unanswered]));
        assert!(is_shown_by(&[reset, unanswered, unanswered, unanswered]));
    }
}

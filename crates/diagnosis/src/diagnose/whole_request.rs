//! What a whole request costs on a new connection, which share of it the handshake is, and what resuming or keeping the connection
//! open would save of it.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};

use crate::figures::{means, percent, span};
use crate::savings::{Saving, best_resumption, median_ns};

/// A sentence for each version; none where no request was sent, or nothing was measured.
pub(super) fn sentences(figures: &MeasureDocument) -> Vec<String> {
    [Version::Tls13, Version::Tls12].into_iter().filter_map(|version| sentence(figures, version)).collect()
}

fn sentence(figures: &MeasureDocument, version: Version) -> Option<String> {
    let full = figures.run(version, Kind::Full)?;
    let (total, tls) = (median_ns(full, Phase::Total)?, median_ns(full, Phase::Tls)?);
    let kept = median_ns(full, Phase::Wait)? + median_ns(full, Phase::Receive).unwrap_or_default();
    if total == 0 || kept >= total {
        return None;
    }
    let share = percent(tls as f64 / total as f64);
    let resumed = best_resumption(figures, version).map(|(run, saving)| resuming(run, saving, total)).unwrap_or_default();
    Some(format!(
        "{version}: a request on a new connection takes {}, of which the handshake is {} ({share}). {resumed}On a \
            kept-alive connection it takes {}: {} less",
        span(total),
        span(tls),
        span(kept),
        percent(1.0 - kept as f64 / total as f64),
    ))
}

fn resuming(run: &Run, saving: Saving, total: u64) -> String {
    let by = means(run.asked.kind);
    match (saving.saved().0, saving.is_shown()) {
        (0, _) => format!("Resuming by {by} saves nothing. "),
        (saved, true) => {
            format!("Resuming by {by} saves {} of the whole ({}). ", percent(saved as f64 / total as f64), span(saved))
        }
        (saved, false) => {
            format!("Resuming by {by} may save {} of the whole ({}). ", percent(saved as f64 / total as f64), span(saved))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn the_arithmetic_is_that_of_the_medians() {
        let example =
            Example::new().timed_run("1.3", Kind::Full, [100, 600, 300]).timed_run("1.3", Kind::Ticket, [100, 200, 300]);
        assert_eq!(
            sentences(&example.document()),
            [
                "TLS 1.3: a request on a new connection takes 1.00 ms, of which the handshake is 600.0 µs (60 %). Resuming by ticket \
                 saves 40 % of the whole (400.0 µs). On a kept-alive connection it takes 300.0 µs: 70 % less"
            ]
        );
    }

    #[test]
    fn without_a_resumption_only_keep_alive_is_told() {
        let example = Example::new().timed_run("1.2", Kind::Full, [100, 600, 300]);
        let sentence = sentences(&example.document()).pop().unwrap();
        assert!(!sentence.contains("Resuming") && sentence.ends_with("70 % less"), "{sentence}");
    }
}

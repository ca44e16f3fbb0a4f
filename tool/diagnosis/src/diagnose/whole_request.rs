//! What a whole request costs on a new connection, which share of it the handshake is, and what resuming or keeping the connection
//! open would save of it.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};

use super::examined::Examined;
use crate::answers::not_compared;
use crate::figures::{means, percent, span};
use crate::savings::{FEWEST, Saving, bears_a_sentence, best_resumption, median_ns};
use crate::traffic::against_saving;

/// A sentence for each version; none where no request was sent, or the times bear none.
pub(super) fn sentences(figures: &MeasureDocument, examined: &Examined<'_>) -> Vec<String> {
    let versions = [Version::Tls13, Version::Tls12].into_iter();
    versions.filter_map(|version| sentence(figures, version, &later_requests(examined, version))).collect()
}

/// What the second requests took that the server answered on one connection, in nanoseconds.
fn later_requests(examined: &Examined<'_>, version: Version) -> Vec<u64> {
    let asked_again = examined.asked_again().filter(|seen| seen.asked.tls == version);
    asked_again.filter_map(|seen| seen.next_request).map(|next| next.wait.0.saturating_add(next.receive.0)).collect()
}

fn sentence(figures: &MeasureDocument, version: Version, later: &[u64]) -> Option<String> {
    let full = figures.run(version, Kind::Full).filter(|run| bears_a_sentence(figures, run, Phase::Total))?;
    let (total, tls) = (median_ns(full, Phase::Total)?, median_ns(full, Phase::Tls)?);
    if total == 0 || !full.phases.contains_key(&Phase::Wait) {
        return None;
    }
    let share = percent(tls as f64 / total as f64);
    let new = format!(
        "{version}: a request on a new connection takes {}, of which the handshake is {} ({share})",
        span(total),
        span(tls),
    );
    let best = best_resumption(figures, version);
    let resumed = best.map(|(run, saving)| resuming(run, saving, total));
    let against = best.and_then(|(run, saving)| against_saving(figures, run, saving));
    let said = [Some(new), resumed, against, not_compared(figures, version), kept_alive(later, total)];
    Some(said.into_iter().flatten().collect::<Vec<_>>().join(". "))
}

/// What a request costs on a connection that is there already: the first of a connection may wait for what comes before it.
fn kept_alive(later: &[u64], total: u64) -> Option<String> {
    let kept = reprise_stats::median(later).filter(|kept| later.len() as u64 >= FEWEST && *kept < total)?;
    let less = percent(1.0 - kept as f64 / total as f64);
    Some(format!("On a kept-alive connection the next one takes {}: {less} less", span(kept)))
}

fn resuming(run: &Run, saving: Saving, total: u64) -> String {
    let by = means(run.asked.kind);
    match (saving.saved().0, saving.is_shown()) {
        (0, _) => format!("Resuming by {by} saves nothing"),
        (saved, true) => {
            format!("Resuming by {by} saves {} of the whole ({})", percent(saved as f64 / total as f64), span(saved))
        }
        (saved, false) => {
            format!("Resuming by {by} may save {} of the whole ({})", percent(saved as f64 / total as f64), span(saved))
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
        let (figures, new) = (example.document(), "TLS 1.3: a request on a new connection takes 1.00 ms");
        assert_eq!(
            sentence(&figures, Version::Tls13, &[100_000; 8]).unwrap(),
            format!(
                "{new}, of which the handshake is 600.0 µs (60 %). Resuming by ticket saves 40 % of the whole (400.0 µs). On a \
                 kept-alive connection the next one takes 100.0 µs: 90 % less"
            )
        );
        let few = sentence(&figures, Version::Tls13, &[100_000; 7]).unwrap();
        assert!(few.ends_with("Resuming by ticket saves 40 % of the whole (400.0 µs)"), "{few}");
    }

    #[test]
    fn without_a_resumption_only_keep_alive_is_told() {
        let figures = Example::new().timed_run("1.2", Kind::Full, [100, 600, 300]).document();
        let sentence = sentence(&figures, Version::Tls12, &[300_000; 8]).unwrap();
        assert!(!sentence.contains("Resuming") && sentence.ends_with("70 % less"), "{sentence}");
    }

    #[test]
    fn few_connections_and_two_modes_bear_no_sentence() {
        let full = || Example::new().timed_run("1.3", Kind::Full, [100, 600, 300]);
        assert_eq!(sentence(&full().without_intervals("1.3", Kind::Full).document(), Version::Tls13, &[]), None);
        assert_eq!(sentence(&full().slow(3, Phase::Wait, 1_000_000).document(), Version::Tls13, &[]), None);
    }
}

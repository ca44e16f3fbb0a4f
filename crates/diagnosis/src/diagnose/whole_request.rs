//! What a whole request costs on a new connection, which share of it the handshake is, and what resuming or keeping the connection
//! open would save of it.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};

use super::examined::Examined;
use crate::answers::not_compared;
use crate::figures::{means, percent, span};
use crate::savings::{Saving, best_resumption, interval_ns, median_ns, too_few};
use crate::traffic::against_saving;

/// A sentence for each version; none where no request was sent, or nothing was measured.
pub(super) fn sentences(figures: &MeasureDocument, examined: &Examined<'_>) -> Vec<String> {
    let versions = [Version::Tls13, Version::Tls12].into_iter();
    versions.filter_map(|version| sentence(figures, version, was_asked_again(examined, version))).collect()
}

/// Whether the server has answered a second request on one connection.
fn was_asked_again(examined: &Examined<'_>, version: Version) -> bool {
    examined.asked_again().any(|seen| seen.asked.tls == version && seen.next_request.is_some())
}

fn sentence(figures: &MeasureDocument, version: Version, is_kept_alive: bool) -> Option<String> {
    let full = figures.run(version, Kind::Full)?;
    let (total, tls) = (median_ns(full, Phase::Total)?, median_ns(full, Phase::Tls)?);
    let kept = median_ns(full, Phase::Wait)? + median_ns(full, Phase::Receive).unwrap_or_default();
    if total == 0 || kept >= total {
        return None;
    }
    let share = percent(tls as f64 / total as f64);
    let new = format!(
        "{version}: a request on a new connection takes {}, of which the handshake is {} ({share}){}",
        span(total),
        span(tls),
        if interval_ns(full, Phase::Total).is_some() { String::new() } else { too_few(full) }
    );
    let best = best_resumption(figures, version);
    let resumed = best.map(|(run, saving)| resuming(run, saving, total));
    let against = best.and_then(|(run, saving)| against_saving(figures, run, saving));
    let kept = is_kept_alive.then(|| {
        format!("On a kept-alive connection it takes {}: {} less", span(kept), percent(1.0 - kept as f64 / total as f64))
    });
    let said = [Some(new), resumed, against, not_compared(figures, version), kept];
    Some(said.into_iter().flatten().collect::<Vec<_>>().join(". "))
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
            sentence(&figures, Version::Tls13, true).unwrap(),
            format!(
                "{new}, of which the handshake is 600.0 µs (60 %). Resuming by ticket saves 40 % of the whole (400.0 µs). On a \
                 kept-alive connection it takes 300.0 µs: 70 % less"
            )
        );
        let refused = sentence(&figures, Version::Tls13, false).unwrap();
        assert!(refused.ends_with("Resuming by ticket saves 40 % of the whole (400.0 µs)"), "{refused}");
    }

    #[test]
    fn without_a_resumption_only_keep_alive_is_told() {
        let figures = Example::new().timed_run("1.2", Kind::Full, [100, 600, 300]).document();
        let sentence = sentence(&figures, Version::Tls12, true).unwrap();
        assert!(!sentence.contains("Resuming") && sentence.ends_with("70 % less"), "{sentence}");
    }
}

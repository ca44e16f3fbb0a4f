//! What a reader should know before believing the figures.

use reprise_probe::{Failed, Measurement, Options, Tracing};
use reprise_trace::{Asked, Kind, Version};

use crate::document::{context, failure_of};
use crate::fault::{FaultContext, reason};

/// Of a measurement.
pub(crate) fn measure_warnings(measurement: &Measurement, options: &Options) -> Vec<String> {
    let left_out = measurement
        .without_suite
        .iter()
        .map(|version| format!("{version} is not measured: none of the cipher suites that are to be offered is of it"));
    let is_psk_alone = measurement.series.iter().any(|series| series.asked.kind == Kind::Psk)
        && measurement.series.len() == 1
        && options.kinds.is_empty();
    let unmeasured = measurement.unmeasured.iter().map(|(version, failed)| {
        let what = if is_psk_alone { format!("A full {version} handshake") } else { version.to_string() };
        format!("{what} is not measured: {}", reason_of(*version, failed, options))
    });
    left_out.chain(unmeasured).collect()
}

/// That the order of these two shows in their times to connect.
pub(crate) fn order_warning([one, other]: [Asked; 2]) -> String {
    format!(
        "Connecting takes another time for {} {} than for {} {}, by over 3 %, though TCP knows nothing of either: what came \
         before, or the load, shows in these figures, so differences of this size mean nothing",
        one.tls, one.kind, other.tls, other.kind
    )
}

/// Of a trace.
pub(crate) fn trace_warnings(tracing: &Tracing, options: &Options) -> Vec<String> {
    let omitted = tracing.omitted.iter().map(|count| format!("{count} further messages of a long connection are not shown"));
    let cut = tracing.capture_is_cut.then(|| "A long connection is captured in its beginning alone".to_owned());
    let without_full = tracing
        .without_full
        .iter()
        .map(|(version, failed)| format!("A full {version} handshake is not shown: {}", failure_of(failed, options)));
    let untraced =
        tracing.untraced.iter().map(|(version, failed)| format!("{version} is not traced: {}", failure_of(failed, options)));
    omitted.chain(cut).chain(without_full).chain(untraced).collect()
}

fn reason_of(version: Version, failed: &Failed, options: &Options) -> String {
    reason(&failed.fault, &FaultContext { version: Some(version), ..context(failed, options) })
}

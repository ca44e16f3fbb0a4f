//! What a reader should know before believing the figures.

use std::io;

use reprise_model::{Asked, Kind, Version};
use reprise_probe::{DeadAddress, FailedConnection, Measurement, Options, Tracing};

use crate::failed::{context, failure_of};
use crate::fault::{FaultContext, plain, reason};
use reprise_diagnosis::figures::span;

/// Of a measurement.
pub(crate) fn measure_warnings(measurement: &Measurement, options: &Options) -> Vec<String> {
    let left_out = measurement
        .without_suite
        .iter()
        .map(|version| format!("{version} is not measured: no offered cipher suite belongs to it"));
    let is_psk_alone = measurement.series.iter().any(|series| series.asked.kind == Kind::Psk)
        && measurement.series.len() == 1
        && options.kinds.is_empty();
    let unmeasured = measurement.unmeasured.iter().map(|(version, failed)| {
        let what = if is_psk_alone { format!("A full {version} handshake") } else { version.to_string() };
        format!("{what} is not measured: {}", reason_of(*version, failed, options))
    });
    dead_addresses(&measurement.dead_addresses).chain(left_out).chain(unmeasured).collect()
}

/// That the order of these two shows in their times to connect.
pub(crate) fn order_warning([one, other]: [Asked; 2]) -> String {
    format!(
        "connect differs by over 3 % between {} {} and {} {}, though TCP is the same for both: the order or other load \
            affects these figures, so differences of this size mean nothing",
        one.tls, one.kind, other.tls, other.kind
    )
}

/// Of a trace.
pub(crate) fn trace_warnings(tracing: &Tracing, options: &Options) -> Vec<String> {
    let omitted = tracing.omitted.iter().map(|count| format!("{count} further messages of a long connection are not shown"));
    let cut = tracing.capture_is_cut.then(|| "Only the beginning of a long connection is captured".to_owned());
    let without_full = tracing
        .without_full
        .iter()
        .map(|(version, failed)| format!("A full {version} handshake is not shown: {}", failure_of(failed, options)));
    let untraced =
        tracing.untraced.iter().map(|(version, failed)| format!("{version} is not traced: {}", failure_of(failed, options)));
    dead_addresses(&tracing.dead_addresses).chain(omitted).chain(cut).chain(without_full).chain(untraced).collect()
}

/// What each costs: no phase holds that time, since `connect` is of the address that answered.
pub(crate) fn dead_addresses(dead: &[DeadAddress]) -> impl Iterator<Item = String> {
    dead.iter().map(|DeadAddress { address, error, accepted, took }| {
        let took = span(took.0);
        match (error.kind, accepted) {
            (_, Some(accepted)) => format!(
                "{address} accepts TCP connections and does not answer in TLS ({}): the next address was tried after {took}. Most \
                 clients stay with an address that accepts, and fail",
                accepted.to_string().replace('_', " ")
            ),
            (io::ErrorKind::TimedOut, None) => format!(
                "{address} does not answer: the next address was tried after {took}; clients that wait longer lose more"
            ),
            _ => format!(
                "{address} is unreachable ({}): the next address was tried after {took}; every client that tries it first \
                    loses this time",
                plain(error)
            ),
        }
    })
}

fn reason_of(version: Version, failed: &FailedConnection, options: &Options) -> String {
    reason(&failed.fault, &FaultContext { version: Some(version), ..context(failed, options) })
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use reprise_model::{FaultName, Nanos};

    use super::*;

    #[test]
    fn a_dead_address_is_told_with_what_it_cost() {
        let dead = |error: io::Error, took| DeadAddress {
            address: SocketAddr::from(([192, 0, 2, 1], 443)),
            error: (&error).into(),
            accepted: None,
            took: Nanos(took),
        };
        let refused = dead(io::Error::from_raw_os_error(111), 50_000_000);
        let silent = dead(io::ErrorKind::TimedOut.into(), 1_000_000_000);
        let mute = DeadAddress { accepted: Some(FaultName::Timeout), ..silent.clone() };
        let said = dead_addresses(&[mute]).next().unwrap();
        assert!(said.starts_with("192.0.2.1:443 accepts TCP connections and does not answer in TLS (timeout): "), "{said}");
        assert_eq!(
            dead_addresses(&[refused, silent]).collect::<Vec<_>>(),
            [
                "192.0.2.1:443 is unreachable (connection refused): the next address was tried after 50.00 ms; every \
                    client that tries it first loses this time",
                "192.0.2.1:443 does not answer: the next address was tried after 1.00 s; clients that wait longer lose more"
            ]
        );
    }
}

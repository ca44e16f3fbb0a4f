//! A connection that failed, in words.

use reprise_model::{Failure, Kind, Observation};
use reprise_probe::{FailedConnection, Options};

use crate::fault::{FaultContext, failure};

/// A fault in words, with what else is known of the connection and of what was asked for.
pub fn failure_of(failed: &FailedConnection, options: &Options) -> Failure {
    failure(&failed.fault, &context(failed, options))
}

pub(crate) fn context<'a>(failed: &FailedConnection, options: &'a Options) -> FaultContext<'a> {
    let seen = failed.observation.as_deref();
    FaultContext {
        version: seen.map(|seen| seen.asked.tls),
        groups: &options.groups,
        timeout: options.timeout,
        has_identity: options.identity.is_some(),
        offers_external_psk: seen.and_then(|seen| seen.offered).is_some_and(|offered| offered.kind == Kind::Psk),
        psk_beside_full: failed.is_full_beside_psk,
        is_through_proxy: options.proxy.is_some(),
        sent_proxy_header: options.proxy_protocol.is_some(),
        is_answered: seen.is_some_and(|seen| seen.heard_tls),
        wanted_group: failed.wanted_group,
        local_port: seen.and_then(Observation::local_port),
    }
}

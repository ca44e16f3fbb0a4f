//! Whether a place is still to be asked: one that is broken costs the others no time.

use std::collections::BTreeMap;
use std::time::Duration;

use reprise_connection::Fault;
use reprise_model::{FailureClass, FaultName, Nanos, Version};

use crate::failures_in_a_row::{FailuresInARow, Next};

/// So many failures of one that never answered are enough.
const NEVER_ANSWERED: u32 = 2;

/// Once a connection has hung, nobody waits longer than this for the next.
const SHORTER: Duration = Duration::from_secs(2);

/// What the connections to one place came to so far.
#[derive(Default)]
pub(super) struct Health {
    has_answered: bool,
    has_hung: bool,
    in_a_row: FailuresInARow,
    failures: u32,
    versions: BTreeMap<Version, OfVersion>,
    not_before: Nanos,
    given_up: Option<Fault>,
}

#[derive(Default)]
struct OfVersion {
    has_completed: bool,
    refusals: u32,
}

impl Health {
    /// A connection has ended at `now`. That an offer fails shows nothing of the place as long as it can be reached.
    pub(super) fn hear(&mut self, version: Version, is_offer: bool, fault: Option<&Fault>, now: Nanos) {
        let Some(fault) = fault else {
            self.has_answered = true;
            self.in_a_row.end();
            self.versions.entry(version).or_default().has_completed = true;
            return;
        };
        self.has_hung |= fault.name == FaultName::Timeout;
        let is_unreachable = matches!(fault.class, FailureClass::Resolve | FailureClass::Connect | FailureClass::Proxy);
        if !is_unreachable {
            let of_version = self.versions.entry(version).or_default();
            of_version.refusals += u32::from(!is_offer && !of_version.has_completed);
            return;
        }
        self.failures += 1;
        if !self.has_answered && (self.failures >= NEVER_ANSWERED || fault.name == FaultName::Timeout) {
            self.given_up = Some(fault.clone());
        }
        match self.in_a_row.add(now) {
            Next::GoOn => {}
            Next::WaitUntil(time) => self.not_before = time,
            Next::GiveUp => self.given_up = Some(fault.clone()),
        }
    }

    /// Whether a connection of this version is worth making, now or later.
    pub(super) fn allows(&self, version: Version) -> bool {
        let is_refused = self.versions.get(&version).is_some_and(|it| !it.has_completed && it.refusals >= NEVER_ANSWERED);
        self.given_up.is_none() && !is_refused
    }

    /// It may be restarting: no connection before this time.
    pub(super) fn not_before(&self) -> Nanos {
        self.not_before
    }

    /// Why it is not asked any more.
    pub(super) fn given_up(&self) -> Option<&Fault> {
        self.given_up.as_ref()
    }

    /// How long a connection may take.
    pub(super) fn timeout(&self, usual: Duration) -> Duration {
        if self.has_hung { usual.min(SHORTER) } else { usual }
    }
}

//! Connections to the target within the limits, and only as long as it answers.

use std::sync::Barrier;
use std::time::Duration;

use reprise_connection::Fault;
use reprise_model::{FailureClass, FaultName, Kind, Nanos, Version};

use super::{DiagnoseLimits, EarlyEnd, ServerClock, Spent};
use crate::connection_plan::{ConnectionPlan, ConnectionRecord};
use crate::connector::Connector;
use crate::observer::Observer;

/// So many full handshakes in a row that fail, after others have completed, mean that the target does not want any more.
const BLOCKED: u32 = 3;

pub(super) struct RateLimitedConnector<'a> {
    pub(super) connector: Connector,
    pub(super) limits: DiagnoseLimits,
    observer: &'a dyn Observer,
    server_clock: ServerClock<'a>,
    begun: Nanos,
    planned: u64,
    /// Full handshakes that failed since one completed.
    failed_in_a_row: u32,
    /// The versions of which a full handshake has completed.
    completed: Vec<Version>,
    /// What its responses say that it is.
    pub(super) software: Option<String>,
}

impl<'a> RateLimitedConnector<'a> {
    /// `planned`: how many connections there will be, as far as that is known.
    pub(super) fn new(
        mut connector: Connector,
        limits: DiagnoseLimits,
        planned: u32,
        observer: &'a dyn Observer,
        server_clock: ServerClock<'a>,
    ) -> Self {
        connector.settings.keeps_messages = true;
        let begun = connector.now();
        let planned = planned.min(limits.connections).into();
        Self {
            connector,
            limits,
            observer,
            server_clock,
            begun,
            planned,
            failed_in_a_row: 0,
            completed: Vec::new(),
            software: None,
        }
    }

    /// Whether so many more are within the limits.
    pub(super) fn allows(&self, connections: u32) -> bool {
        self.connector.begun() + connections <= self.limits.connections && self.time_left() > Duration::ZERO
    }

    /// How long it took until now.
    pub(super) fn took(&self) -> Nanos {
        self.connector.now().since(self.begun)
    }

    fn time_left(&self) -> Duration {
        self.limits.time.saturating_sub(self.took().into())
    }

    /// Makes a connection, as soon as it may be begun.
    pub(super) fn connect(&mut self, mut plan: ConnectionPlan) -> Result<(ConnectionRecord, Spent), EarlyEnd> {
        self.pace()?;
        if plan.offer.held.is_none() {
            // A full handshake is one, whatever mechanism it is made for: its figures are those of all.
            plan.asked.kind = Kind::Full;
        }
        let (record, spent) = Spent::while_doing(self.server_clock, || self.connector.connect(plan));
        self.observer.proceeded(u64::from(self.connector.begun()), self.planned.max(self.connector.begun().into()));
        self.hear(&record)?;
        Ok((record, spent))
    }

    /// Has connections of another kind made, as soon as they may be begun.
    pub(super) fn converse<T>(&mut self, make: impl FnOnce(&mut Connector) -> T) -> Result<T, EarlyEnd> {
        self.pace()?;
        Ok(make(&mut self.connector))
    }

    /// A full handshake has ended: what went wrong with it, as long as the target still wants to be asked.
    pub(super) fn settle_full(&mut self, record: &ConnectionRecord) -> Result<Option<Fault>, EarlyEnd> {
        let seen = &record.observation;
        let Some(fault) = &record.fault else {
            self.failed_in_a_row = 0;
            if !self.completed.contains(&seen.asked.tls) {
                self.completed.push(seen.asked.tls);
            }
            return Ok(None);
        };
        // It answers, and says no to this version alone, or chooses it and never gets to the end of it.
        let fails_under_version = seen.chosen.is_some() && !self.completed.contains(&seen.asked.tls);
        if !refuses_version(fault) && !fails_under_version {
            self.failed_in_a_row += 1;
        }
        if self.any_completed() && (self.failed_in_a_row >= BLOCKED || fault.class == FailureClass::Connect) {
            return Err(EarlyEnd::Blocked { after: self.connector.begun(), fault: fault.clone() });
        }
        Ok(Some(fault.clone()))
    }

    /// Whether any full handshake has completed.
    pub(super) fn any_completed(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Makes these connections at once, each on a thread of its own.
    pub(super) fn connect_at_once(&mut self, plans: Vec<ConnectionPlan>) -> Result<Vec<ConnectionRecord>, EarlyEnd> {
        let mut each: Vec<(Connector, ConnectionPlan)> = Vec::new();
        for plan in plans {
            // Where the system gives no more descriptors, fewer are made.
            let Ok(sibling) = self.connector.sibling() else { break };
            each.push((sibling, plan));
        }
        let barrier = Barrier::new(each.len());
        let all: Vec<ConnectionRecord> = std::thread::scope(|scope| {
            let connect = |(mut sibling, plan): (Connector, ConnectionPlan)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    sibling.connect(plan)
                })
            };
            let threads: Vec<_> = each.into_iter().map(connect).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        all.iter().try_for_each(|record| self.hear(record))?;
        Ok(all)
    }

    fn hear(&mut self, record: &ConnectionRecord) -> Result<(), EarlyEnd> {
        if record.fault.as_ref().is_some_and(|fault| fault.name == FaultName::Interrupted) {
            return Err(EarlyEnd::Interrupted);
        }
        if self.software.is_none() {
            self.software.clone_from(&record.software);
        }
        Ok(())
    }

    /// Waits until the next connection may be begun.
    fn pace(&mut self) -> Result<(), EarlyEnd> {
        if self.connector.is_interrupted() {
            return Err(EarlyEnd::Interrupted);
        }
        if !self.allows(1) {
            return Err(EarlyEnd::Limit);
        }
        let interval = 1_000_000_000 / u64::from(self.limits.rate.max(1));
        let due = Nanos(self.begun.0 + interval * u64::from(self.connector.begun()));
        self.connector.wait_until(due);
        Ok(())
    }
}

/// RFC 9846 §6.2: protocol_version.
pub(super) fn refuses_version(fault: &Fault) -> bool {
    fault.name == FaultName::Alert(70)
}

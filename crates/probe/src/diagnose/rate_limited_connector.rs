//! Connections to the target within the limits, and only as long as it answers.

use std::sync::Arc;
use std::time::Duration;

use reprise_connection::Fault;
use reprise_engine::Config;
use reprise_model::{Asked, FailureClass, FaultName, Kind, Nanos, Purpose};

use super::{EarlyEnd, Limits, ServerClock, Spent, burst};
use crate::close_behavior::CloseBehavior;
use crate::connector::Connector;
use crate::observer::Observer;
use crate::session_cache::Taken;
use crate::trial::{Trial, Tried};

/// So many full handshakes in a row that fail, after others have completed, mean that the target does not want any more.
const BLOCKED: u32 = 3;

pub(super) struct RateLimitedConnector<'a> {
    pub(super) connector: Connector,
    limits: Limits,
    observer: &'a dyn Observer,
    server_clock: ServerClock<'a>,
    begun: Nanos,
    planned: u64,
    /// Full handshakes that failed since one completed.
    failed_in_a_row: u32,
    any_completed: bool,
    /// What its responses say that it is.
    pub(super) software: Option<String>,
}

impl<'a> RateLimitedConnector<'a> {
    /// `planned`: how many connections there will be, as far as that is known.
    pub(super) fn new(
        mut connector: Connector,
        limits: Limits,
        planned: u32,
        observer: &'a dyn Observer,
        server_clock: ServerClock<'a>,
    ) -> Self {
        connector.keep_messages();
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
            any_completed: false,
            software: None,
        }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether any full handshake has completed.
    pub(super) fn any_completed(&self) -> bool {
        self.any_completed
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
    pub(super) fn connect(
        &mut self,
        config: Arc<Config>,
        manner: CloseBehavior,
        asked: Asked,
        taken: Taken,
    ) -> Result<(Tried, Spent), EarlyEnd> {
        self.pace()?;
        let is_full = taken.held.is_none();
        // A full handshake is one, whatever mechanism it is made for: its figures are those of all.
        let shown = if is_full { Asked { kind: Kind::Full, ..asked } } else { asked };
        let (purpose, origin) = (Purpose::Sample, taken.origin());
        let trial = Trial { config, asked: shown, purpose, offer: taken.offer, origin, manner };
        let (tried, spent) = Spent::while_doing(self.server_clock, || self.connector.connect(trial));
        self.observer.proceeded(u64::from(self.connector.begun()), self.planned.max(self.connector.begun().into()));
        self.hear(&tried)?;
        Ok((tried, spent))
    }

    /// A full handshake has ended: what went wrong with it, as long as the target still wants to be asked.
    pub(super) fn settle_full(&mut self, tried: &Tried) -> Result<Option<Fault>, EarlyEnd> {
        let Some(fault) = &tried.fault else {
            self.failed_in_a_row = 0;
            self.any_completed = true;
            return Ok(None);
        };
        // It answers, and says no to this version alone.
        if !refuses_version(fault) {
            self.failed_in_a_row += 1;
        }
        if self.any_completed && (self.failed_in_a_row >= BLOCKED || fault.class == FailureClass::Connect) {
            return Err(EarlyEnd::Blocked { after: self.connector.begun(), fault: fault.clone() });
        }
        Ok(Some(fault.clone()))
    }

    /// Makes these connections at once.
    pub(super) fn connect_at_once(
        &mut self,
        config: &Arc<Config>,
        asked: Asked,
        taken: Vec<Taken>,
    ) -> Result<Vec<Tried>, EarlyEnd> {
        let trial = |taken: Taken| Trial {
            config: config.clone(),
            asked,
            purpose: Purpose::Sample,
            origin: taken.origin(),
            offer: taken.offer,
            manner: CloseBehavior::default(),
        };
        let all = burst::connect_at_once(&mut self.connector, taken.into_iter().map(trial).collect());
        all.iter().try_for_each(|tried| self.hear(tried))?;
        Ok(all)
    }

    fn hear(&mut self, tried: &Tried) -> Result<(), EarlyEnd> {
        if tried.fault.as_ref().is_some_and(|fault| fault.name == FaultName::Interrupted) {
            return Err(EarlyEnd::Interrupted);
        }
        if self.software.is_none() {
            self.software.clone_from(&tried.software);
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

/// RFC 8446 §6.2: protocol_version.
pub(super) fn refuses_version(fault: &Fault) -> bool {
    fault.name == FaultName::Alert(70)
}

//! Carries out the steps of one experiment.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reprise_connection::Fault;
use reprise_engine::{Offer, Session};
use reprise_model::{Asked, Facts, FaultName, Kind, Nanos, Observation, Version};

use super::rate_limited_connector::{RateLimitedConnector, refuses_version};
use super::{EarlyEnd, ProbeRecord, Spent, Step, Variation};
use crate::connection_plan::{ConnectionPlan, ConnectionRecord, HeldSession, SessionOffer};
use crate::failed::FailedConnection;
use crate::plan::VersionPlan;
use crate::session_cache::{SessionCache, offer_of, serves};

/// So many connections of one experiment may hang.
const HANGS: u32 = 2;
/// Once one has hung, nobody waits longer than this for the next.
pub(super) const SHORTER: Duration = Duration::from_secs(2);

/// Nobody waits longer than this for a second connection beside one that is open: some servers serve one at a time.
const BESIDE: Duration = Duration::from_secs(1);

/// So often a version is asked for again that was refused.
const OTHER_NODES: u32 = 3;

/// Sessions, by the connection that gave them.
pub(super) type Given = HashMap<u32, HeldSession>;

/// One experiment while it is made, under one version and mechanism.
pub(super) struct Steps<'e, 'a> {
    limited: &'e mut RateLimitedConnector<'a>,
    plan: &'e VersionPlan,
    asked: Asked,
    /// What the server negotiates where nothing is varied.
    chosen: Option<Facts>,
    /// Its connections so far.
    seen: &'e mut Vec<ProbeRecord>,
    /// The newest session of each connection that gave one for this mechanism.
    given: &'e mut Given,
    cache: SessionCache,
    /// What the last early data was sent with.
    sent_early: Option<HeldSession>,
    /// Bytes of the largest ticket or ID that was given last.
    identity: usize,
    hung: u32,
}

impl<'e, 'a> Steps<'e, 'a> {
    pub(super) fn new(
        limited: &'e mut RateLimitedConnector<'a>,
        plan: &'e VersionPlan,
        asked: Asked,
        chosen: Option<Facts>,
        seen: &'e mut Vec<ProbeRecord>,
        given: &'e mut Given,
    ) -> Self {
        Self {
            limited,
            plan,
            asked,
            chosen,
            seen,
            given,
            cache: SessionCache::default(),
            sent_early: None,
            identity: 0,
            hung: 0,
        }
    }

    /// Carries them out. What the full handshake came to that failed, where one did: what cannot be done without a session
    /// shows nothing of sessions.
    pub(super) fn carry_out(&mut self, steps: &[Step]) -> Result<Option<FailedConnection>, EarlyEnd> {
        let carried_out = self.carry_out_each(steps);
        self.limited.connector.close_open();
        carried_out
    }

    fn carry_out_each(&mut self, steps: &[Step]) -> Result<Option<FailedConnection>, EarlyEnd> {
        for &step in steps {
            if self.hung >= HANGS {
                break;
            }
            match step {
                Step::Prime(variation) => {
                    if let Some(failed) = self.prime(step, variation)? {
                        return Ok(Some(failed));
                    }
                }
                Step::Control(variation) => self.control(step, variation)?,
                // What hangs once is not offered again before a full handshake has shown that the target is still there.
                Step::Resume(_) if self.hung > 0 && !self.cache.holds_any() => {}
                Step::Resume(variation) => self.resume(step, variation)?,
                Step::Early(variation) => self.send_early(step, variation)?,
                Step::Replay => self.replay(step)?,
                Step::Chosen => {}
                Step::Interpose => self.interpose(step)?,
                Step::Wait => {
                    let patience = self.limited.limits.patience.unwrap_or_default();
                    let connector = &mut self.limited.connector;
                    connector.wait_until(connector.now() + Nanos::from(patience));
                }
                Step::Burst => self.burst(step)?,
            }
        }
        Ok(None)
    }

    fn prime(&mut self, step: Step, variation: Variation) -> Result<Option<FailedConnection>, EarlyEnd> {
        let (mut fault, mut record) = self.connect_in_full(step, variation)?;
        // Behind one address another node may speak it.
        for _ in 0..OTHER_NODES {
            if !fault.as_ref().is_some_and(|fault| self.is_of_a_node(fault, &record.observation)) {
                break;
            }
            (fault, record) = self.connect_in_full(step, variation)?;
        }
        if let Some(fault) = fault {
            return Ok(Some(FailedConnection { observation: Some(Box::new(record.observation)), ..fault.into() }));
        }
        self.identity = record.sessions.iter().map(|held| identity_of(&held.session)).max().unwrap_or_default();
        self.cache = SessionCache::default();
        self.cache.keep(record.sessions);
        Ok(None)
    }

    fn control(&mut self, step: Step, variation: Variation) -> Result<(), EarlyEnd> {
        let (fault, _) = self.connect_in_full(step, variation.without_session(self.identity))?;
        if is_silence(fault.as_ref()) {
            self.hung += 1;
            self.wait_no_longer();
        }
        Ok(())
    }

    /// Whether another node, behind the same address, may do otherwise.
    fn is_of_a_node(&self, fault: &Fault, seen: &Observation) -> bool {
        let is_cut = matches!(fault.name, FaultName::ClosedEarly | FaultName::ConnectionReset);
        let is_chosen = seen.chosen.is_some() && !is_silence(Some(fault));
        refuses_version(fault) || (self.chosen.is_none() && (is_cut || is_chosen))
    }

    fn resume(&mut self, step: Step, variation: Variation) -> Result<(), EarlyEnd> {
        let Some(offer) = self.cache.take_offer(self.asked, self.limited.connector.now(), usize::MAX, None) else {
            return Ok(());
        };
        let identity = match &offer.offer {
            Offer::Ticket(ticket) => ticket.ticket.len(),
            _ => 0,
        };
        let (is_beside_another, timeout) = (self.limited.connector.has_open(), self.limited.connector.settings.timeout);
        if is_beside_another {
            self.limited.connector.settings.timeout = timeout.min(BESIDE);
        }
        let is_varied = variation != Variation::Plain;
        let mut record = self.connect(step, variation.offering(identity), self.asked, offer)?;
        self.limited.connector.settings.timeout = timeout;
        if is_silence(record.fault.as_ref()) && is_beside_another {
            // A server that serves one connection at a time is silent as long as the other is open.
            self.hung = HANGS;
        } else if is_silence(record.fault.as_ref()) {
            self.hung += 1;
            self.cache = SessionCache::default();
            self.wait_no_longer();
        } else {
            self.cache.settle(&mut record);
        }
        // What fails without a session too is not of the session.
        if is_varied && record.observation.is_failed_offer() {
            self.identity = identity;
            self.control(Step::Control(variation), variation)?;
        }
        Ok(())
    }

    fn wait_no_longer(&mut self) {
        let settings = &mut self.limited.connector.settings;
        settings.timeout = settings.timeout.min(SHORTER);
    }

    fn send_early(&mut self, step: Step, variation: Variation) -> Result<(), EarlyEnd> {
        let early = Asked { kind: Kind::Early, ..self.asked };
        let length = self.limited.connector.early_request_length().unwrap_or(usize::MAX);
        let Some(offer) = self.cache.take_offer(early, self.limited.connector.now(), length, None) else { return Ok(()) };
        self.sent_early.clone_from(&offer.held);
        let mut record = self.connect(step, variation, early, offer)?;
        self.hung += u32::from(is_silence(record.fault.as_ref()));
        self.cache.settle(&mut record);
        Ok(())
    }

    /// Whoever records early data can send it again: here the client itself does.
    fn replay(&mut self, step: Step) -> Result<(), EarlyEnd> {
        let Some(held) = self.sent_early.clone() else { return Ok(()) };
        let length = self.limited.connector.early_request_length().unwrap_or(usize::MAX);
        let early = Asked { kind: Kind::Early, ..self.asked };
        let record = self.connect(step, Variation::Plain, early, offer_of(held, Kind::Early, length))?;
        self.hung += u32::from(is_silence(record.fault.as_ref()));
        Ok(())
    }

    fn interpose(&mut self, step: Step) -> Result<(), EarlyEnd> {
        for _ in 0..self.limited.limits.fill {
            self.connect_in_full(step, Variation::Plain)?;
        }
        Ok(())
    }

    /// Many at once, each with a session of its own as long as there are any.
    fn burst(&mut self, step: Step) -> Result<(), EarlyEnd> {
        let now = self.limited.connector.now();
        let mut plans = Vec::new();
        for _ in 0..self.limited.limits.burst {
            let offer = self.cache.take_offer(self.asked, now, usize::MAX, None);
            if self.asked.tls == Version::Tls12 {
                // It serves any number of connections.
                self.cache.keep(offer.iter().filter_map(|offer| offer.held.clone()));
            }
            let offer = offer.unwrap_or_else(|| SessionOffer::nothing(self.asked));
            plans.push(ConnectionPlan::sample(&self.plan.config, self.asked, offer));
        }
        let all = self.limited.connect_at_once(plans)?;
        self.seen.extend(all.iter().map(|record| ProbeRecord::of(step, record, Spent::default())));
        Ok(())
    }

    /// Makes a full handshake; what went wrong with it stands beside it.
    fn connect_in_full(&mut self, step: Step, variation: Variation) -> Result<(Option<Fault>, ConnectionRecord), EarlyEnd> {
        let record = self.connect(step, variation, self.asked, SessionOffer::nothing(self.asked))?;
        if variation == Variation::Plain {
            return Ok((self.limited.settle_full(&record)?, record));
        }
        let fault = record.fault.clone();
        if fault.is_some() {
            // What is varied may be what fails: whether the target still wants to be asked shows where nothing is.
            let nothing = SessionOffer::nothing(self.asked);
            let plain = self.connect(Step::Control(Variation::Plain), Variation::Plain, self.asked, nothing)?;
            self.limited.settle_full(&plain)?;
        }
        Ok((fault, record))
    }

    fn connect(
        &mut self,
        step: Step,
        variation: Variation,
        asked: Asked,
        offer: SessionOffer,
    ) -> Result<ConnectionRecord, EarlyEnd> {
        let varied = variation.of(&self.plan.config, self.chosen.as_ref()).map(Arc::new);
        let plan = ConnectionPlan::sample(varied.as_ref().unwrap_or(&self.plan.config), asked, offer);
        let (record, spent) = self.limited.connect(ConnectionPlan { behavior: variation.behavior(), ..plan })?;
        keep(self.given, &record, self.asked);
        self.seen.push(ProbeRecord::of(step, &record, spent));
        Ok(record)
    }
}

/// How many bytes a ClientHello says that offers it.
fn identity_of(session: &Session) -> usize {
    match session {
        Session::Tls13(ticket) => ticket.ticket.len(),
        Session::Tls12(session) => session.ticket.as_ref().map_or(session.session_id.len(), |ticket| ticket.ticket.len()),
    }
}

/// Keeps the newest session of a connection, where it gave one of its own: an ID that was resumed stays what it was.
pub(super) fn keep(given: &mut Given, record: &ConnectionRecord, asked: Asked) {
    let observation = &record.observation;
    let gives = |facts: &Facts| facts.kind == Kind::Full || (asked.kind == Kind::Ticket && facts.tickets.count > 0);
    let newest = record.sessions.iter().rev().find(|held| serves(held, asked, observation.start));
    if let (Some(held), true) = (newest, observation.facts().is_some_and(gives)) {
        given.insert(observation.index, held.clone());
    }
}

/// Whether nothing came until the time was up.
pub(super) fn is_silence(fault: Option<&Fault>) -> bool {
    fault.is_some_and(|fault| fault.name == FaultName::Timeout)
}

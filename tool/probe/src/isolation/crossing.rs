//! The connections: full handshakes of each holder at each target, and then what they gave, offered at the others.

use std::collections::HashMap;

use reprise_connection::Target;
use reprise_engine::suite;
use reprise_model::{Asked, FailureClass, FaultName, Kind, Nanos, Version};
use reprise_wire::CipherSuite;

use super::{CameTo, Entry, FullRun, Holder, Isolation, OfferRun, Place, Seen};
use crate::clock::Clock;
use crate::connection_plan::{ConnectionPlan, ConnectionRecord, HeldSession, SessionOffer};
use crate::connector::Connector;
use crate::diagnose::{DiagnoseLimits, EarlyEnd};
use crate::failed::FailedConnection;
use crate::fleet::MECHANISMS;
use crate::interrupt::Interrupt;
use crate::observer::Observer;
use crate::options::Options;
use crate::plan::{Plan, VersionPlan};
use crate::session_cache::{offer_of, serves};

/// Full handshakes that show what a holder may do at a target.
const FULL: usize = 3;

/// How often sessions are offered where their holder is refused, or somebody may be; elsewhere once.
const OFFERS: usize = 3;

/// Further full handshakes of the holder once its session has entered where it is refused: one of several nodes that lets it in would
/// be another explanation.
const CONFIRMATIONS: usize = 6;

/// Finds out what each holder may do at each target, and offers the sessions of each at the others, those first whose holder is
/// refused there. `limits` are for each target. Never fails outright: what ended it stands beside what was seen until then.
pub fn cross(
    targets: &[Target],
    holders: &[Holder],
    options: &Options,
    limits: DiagnoseLimits,
    observer: &dyn Observer,
    interrupt: &Interrupt,
) -> Isolation {
    let mut found = Isolation { limits, ..Isolation::default() };
    let mut sites: Vec<Option<Site>> = Vec::new();
    for target in targets {
        let site = Site::of(target, holders, options, interrupt);
        found.places.push(Place { failed: site.as_ref().err().cloned(), ..Place::default() });
        sites.push(site.ok());
    }
    let clock = Clock::new();
    for site in sites.iter_mut().flatten() {
        // A session is as old at one target as at the other.
        site.connector.settings.clock = clock;
        site.connector.settings.keeps_messages = true;
    }
    let mut crossing = Crossing {
        sites,
        holders: holders.len(),
        found,
        stock: HashMap::new(),
        clock,
        made: 0,
        limits,
        observer,
        interrupt,
    };
    crossing.found.ended_by = crossing.run().err();
    crossing.finish()
}

/// One target: what makes connections to it, and what each holder says there.
struct Site {
    connector: Connector,
    /// For each holder.
    plans: Vec<Plan>,
}

impl Site {
    fn of(target: &Target, holders: &[Holder], options: &Options, interrupt: &Interrupt) -> Result<Self, FailedConnection> {
        let connector = Connector::new(target, options, interrupt)?;
        let plan = |holder: &Holder| Plan::new(target, &Options { identity: holder.identity.clone(), ..options.clone() });
        Ok(Self { connector, plans: holders.iter().map(plan).collect::<Result<_, _>>()? })
    }
}

/// Sessions by the target, the holder and the mechanism that they were given by.
type Stock = HashMap<(usize, usize, Asked), Vec<HeldSession>>;

/// By what a ticket of this mechanism could be offered under the other version.
fn other_version(asked: Asked) -> Option<Asked> {
    let tls = match asked.tls {
        Version::Tls12 => Version::Tls13,
        Version::Tls13 => Version::Tls12,
    };
    (asked.kind == Kind::Ticket).then_some(Asked { tls, ..asked })
}

struct Crossing<'a> {
    /// `None` for a target that cannot be asked.
    sites: Vec<Option<Site>>,
    holders: usize,
    found: Isolation,
    stock: Stock,
    clock: Clock,
    made: u32,
    limits: DiagnoseLimits,
    observer: &'a dyn Observer,
    interrupt: &'a Interrupt,
}

impl Crossing<'_> {
    fn run(&mut self) -> Result<(), EarlyEnd> {
        for place in 0..self.sites.len() {
            for holder in 0..self.holders {
                MECHANISMS.iter().try_for_each(|asked| self.learn_entry(place, holder, *asked))?;
            }
        }
        let mut cells = self.cells();
        // Where a holder is refused is what counts.
        cells.sort_by_key(|cell| self.found.entry(cell.to, cell.holder, cell.asked.tls) != Entry::Refused);
        cells.into_iter().try_for_each(|cell| self.offer(cell))
    }

    /// Full handshakes of a holder at a target, as many as show what it may do there.
    fn learn_entry(&mut self, place: usize, holder: usize, asked: Asked) -> Result<(), EarlyEnd> {
        let count = if asked.kind == Kind::Id { 1 } else { FULL };
        for _ in 0..count {
            let Some(seen) = self.full(place, holder, asked)? else { break };
            if let Err(FaultName::Alert(70)) = seen.observation.outcome {
                break;
            }
        }
        Ok(())
    }

    /// Sessions and where they may be offered: anywhere but where they come from; and there too where the target refuses their
    /// holder and gives it sessions all the same.
    fn cells(&self) -> Vec<OfferRun> {
        let mut cells = Vec::new();
        let places = 0..self.sites.len();
        for asked in MECHANISMS {
            for (from, to) in places.clone().flat_map(|from| places.clone().map(move |to| (from, to))) {
                for holder in 0..self.holders {
                    let is_at_home = from == to && self.found.entry(to, holder, asked.tls) != Entry::Refused;
                    if self.stock.contains_key(&(from, holder, asked)) {
                        let cell = OfferRun { from, to, holder, asked, session_tls: asked.tls, seen: Vec::new() };
                        let other = other_version(asked).map(|other| OfferRun { asked: other, ..cell.clone() });
                        cells.extend((!is_at_home).then_some(cell).into_iter().chain(other));
                    }
                }
            }
        }
        cells
    }

    /// Offers sessions, and where one has entered against expectation makes sure of it.
    fn offer(&mut self, mut cell: OfferRun) -> Result<(), EarlyEnd> {
        let is_refused = self.found.entry(cell.to, cell.holder, cell.asked.tls) == Entry::Refused;
        let mut ended = Ok(());
        let is_telling = is_refused || self.found.asks_for_certificate(cell.to);
        for _ in 0..if is_telling { OFFERS } else { 1 } {
            match self.offer_one(&cell) {
                Ok(Some(seen)) => cell.seen.push(seen),
                Ok(None) => break,
                Err(end) => {
                    ended = Err(end);
                    break;
                }
            }
        }
        let has_entered = cell.seen.iter().any(|seen| seen.is_resumed() && seen.came_to() == CameTo::LetIn);
        let (to, holder, asked) = (cell.to, cell.holder, cell.asked);
        if !cell.seen.is_empty() {
            self.found.offers.push(cell);
        }
        ended?;
        for _ in 0..if is_refused && has_entered { CONFIRMATIONS } else { 0 } {
            self.full(to, holder, asked)?;
        }
        Ok(())
    }

    fn offer_one(&mut self, cell: &OfferRun) -> Result<Option<Seen>, EarlyEnd> {
        let given = Asked { tls: cell.session_tls, ..cell.asked };
        let Some(held) = self.take_session(cell.from, cell.holder, given)? else { return Ok(None) };
        let held = match cell.session_tls == cell.asked.tls {
            true => Some(held),
            false => self.of_other_version(cell, &held),
        };
        let Some(held) = held else { return Ok(None) };
        let record = self.connect(cell.to, cell.holder, cell.asked, offer_of(held, cell.asked.kind, 0))?;
        Ok(record.map(|record| Seen::of(&record)))
    }

    /// The session as the other version would have it, with the suite that the target chooses there.
    fn of_other_version(&self, cell: &OfferRun, held: &HeldSession) -> Option<HeldSession> {
        let full = self.found.full.iter().filter(|run| (run.place, run.tls) == (cell.to, cell.asked.tls));
        let cipher = full.flat_map(|run| &run.seen).find_map(|seen| Some(seen.observation.facts()?.cipher))?;
        let session = held.session.of_other_version(suite::find(CipherSuite(cipher))?)?;
        Some(HeldSession { session, ..held.clone() })
    }

    /// One that was not offered yet; where none is left, a full handshake gives another.
    fn take_session(&mut self, place: usize, holder: usize, asked: Asked) -> Result<Option<HeldSession>, EarlyEnd> {
        for _ in 0..2 {
            let now = self.now();
            let held = self.stock.get_mut(&(place, holder, asked)).and_then(Vec::pop);
            if let Some(held) = held.filter(|held| serves(held, asked, now)) {
                return Ok(Some(held));
            }
            self.full(place, holder, asked)?;
        }
        Ok(None)
    }

    /// A full handshake, and what it gives for later; `None` where the target cannot be asked, or not in this version.
    fn full(&mut self, place: usize, holder: usize, asked: Asked) -> Result<Option<Seen>, EarlyEnd> {
        let Some(record) = self.connect(place, holder, asked, SessionOffer::nothing(asked))? else { return Ok(None) };
        let seen = Seen::of(&record);
        let key = (place, holder, asked.tls);
        match self.found.full.iter_mut().find(|run| (run.place, run.holder, run.tls) == key) {
            Some(run) => run.seen.push(seen),
            None => self.found.full.push(FullRun { place, holder, tls: asked.tls, seen: vec![seen] }),
        }
        let now = self.now();
        // Of a connection the last alone: what is offered is to be a session of another connection each time.
        if let Some(held) = record.sessions.into_iter().rfind(|held| serves(held, asked, now)) {
            self.stock.entry((place, holder, asked)).or_default().push(held);
        }
        Ok(Some(seen))
    }

    fn connect(
        &mut self,
        place: usize,
        holder: usize,
        asked: Asked,
        offer: SessionOffer,
    ) -> Result<Option<ConnectionRecord>, EarlyEnd> {
        let Some(version) = self.version_plan(place, holder, asked.tls) else { return Ok(None) };
        let asked = if offer.held.is_none() { Asked { kind: Kind::Full, ..asked } } else { asked };
        let plan = ConnectionPlan::sample(&version.config, asked, offer);
        self.pace()?;
        let Some(Some(site)) = self.sites.get_mut(place) else { return Ok(None) };
        let record = site.connector.connect(plan);
        self.made = self.made.saturating_add(1);
        self.observer.proceeded(self.made.into(), self.made.into());
        if record.fault.as_ref().is_some_and(|fault| fault.name == FaultName::Interrupted) {
            return Err(EarlyEnd::Interrupted);
        }
        let Some(found) = self.found.places.get_mut(place) else { return Ok(None) };
        found.connections = found.connections.saturating_add(1);
        if found.software.is_none() {
            found.software.clone_from(&record.software);
        }
        if let Some(fault) = record.fault.clone().filter(|fault| fault.class == FailureClass::Connect) {
            // One that is gone is asked no more, and harms no other.
            found.failed = Some(FailedConnection { observation: Some(Box::new(record.observation)), ..fault.into() });
            if let Some(site) = self.sites.get_mut(place) {
                *site = None;
            }
            return Ok(None);
        }
        found.address = record.observation.server;
        Ok(Some(record))
    }

    fn version_plan(&self, place: usize, holder: usize, tls: Version) -> Option<&VersionPlan> {
        let plan = self.sites.get(place)?.as_ref()?.plans.get(holder)?;
        plan.versions.iter().find(|version| version.version == tls)
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Waits until the next connection may be begun.
    fn pace(&mut self) -> Result<(), EarlyEnd> {
        if self.interrupt.is_raised() {
            return Err(EarlyEnd::Interrupted);
        }
        let places = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        let (most, time) = (self.limits.connections.saturating_mul(places), self.limits.time.saturating_mul(places));
        if self.made >= most || std::time::Duration::from(self.now()) >= time {
            return Err(EarlyEnd::Limit);
        }
        let interval = 1_000_000_000 / u64::from(self.limits.rate.max(1));
        let due = Nanos(interval * u64::from(self.made));
        if let Some(site) = self.sites.iter().flatten().next() {
            site.connector.wait_until(due);
        }
        Ok(())
    }

    fn finish(mut self) -> Isolation {
        self.found.took = self.now();
        self.found
    }
}

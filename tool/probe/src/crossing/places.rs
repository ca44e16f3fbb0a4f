//! The places of a crossing, each with its connector, its sessions and what is known of it.

use reprise_connection::Fault;
use reprise_model::{Asked, Nanos, Version};

use super::health::Health;
use super::stock::Stock;
use super::{Place, PlaceState};
use crate::clock::Clock;
use crate::connection_plan::HeldSession;
use crate::connector::Connector;
use crate::interrupt::Interrupt;
use crate::plan::Plan;

/// All of them.
#[derive(Default)]
pub(super) struct Places {
    all: Vec<Known>,
}

/// One of them.
pub(super) struct Known {
    place: Place,
    /// `None` while a connection is made: then it is there.
    access: Option<Box<Access>>,
    pub(super) health: Health,
    pub(super) stock: Stock,
    software: Option<String>,
    clock: Option<(i64, i64)>,
    address: Option<std::net::SocketAddr>,
}

/// What connections to one place are made with.
pub(super) enum Access {
    /// Nothing was tried yet: addresses are looked up on the thread that connects first.
    Untried(Box<Place>),
    /// It can be tried.
    Open(Box<Connector>, Plan),
    /// Its name does not resolve, or cannot be certified.
    Closed(Fault),
}

impl Access {
    /// Finds out the addresses, where that was not done before.
    pub(super) fn open(self, clock: Clock, interrupt: &Interrupt) -> Self {
        let Self::Untried(place) = &self else { return self };
        let Place { target, options } = &**place;
        let ready = Connector::by_clock(target, options, clock, interrupt);
        match ready.and_then(|connector| Ok((connector, Plan::new(target, options)?))) {
            Ok((mut connector, plan)) => {
                connector.settings.keeps_software = true;
                Self::Open(Box::new(connector), plan)
            }
            Err(fault) => Self::Closed(fault),
        }
    }
}

impl Places {
    pub(super) fn new(places: Vec<Place>) -> Self {
        let known = |place: Place| Known {
            access: Some(Box::new(Access::Untried(Box::new(place.clone())))),
            place,
            health: Health::default(),
            stock: Stock::default(),
            software: None,
            clock: None,
            address: None,
        };
        Self { all: places.into_iter().map(known).collect() }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Known> {
        self.all.get(place)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Known> {
        self.all.get_mut(place)
    }

    pub(super) fn sessions(&self, place: usize, asked: Asked, now: Nanos) -> usize {
        self.get(place).map_or(0, |known| known.stock.count(asked, now))
    }

    pub(super) fn state(&self, place: usize) -> PlaceState {
        let Some(known) = self.get(place) else { return PlaceState::default() };
        PlaceState {
            address: known.address,
            software: known.software.clone(),
            clock: known.clock,
            given_up: known.health.given_up().cloned(),
        }
    }
}

impl Known {
    /// Whether no connection to it is being made.
    pub(super) fn is_free(&self) -> bool {
        self.access.is_some()
    }

    /// Whether a connection of this version is worth making, now or later.
    pub(super) fn allows(&self, version: Version) -> bool {
        let is_asked = self.place.options.versions.is_empty() || self.place.options.versions.contains(&version);
        is_asked && self.health.allows(version)
    }

    pub(super) fn take_access(&mut self) -> Option<Box<Access>> {
        self.access.take()
    }

    /// A connection has ended: the place is free again.
    pub(super) fn give_back(&mut self, access: Box<Access>) {
        if let Access::Open(connector, _) = &*access {
            self.address = connector.target_address();
        }
        self.access = Some(access);
    }

    /// Keeps what a response says of the server.
    pub(super) fn learn(&mut self, software: Option<String>, clock: Option<(i64, i64)>) {
        self.software = self.software.take().or(software);
        self.clock = match (self.clock, clock) {
            (Some((least, most)), Some((low, high))) => Some((least.max(low), most.min(high))),
            (known, heard) => known.or(heard),
        };
    }

    pub(super) fn take_session(&mut self, asked: Asked, connection: Option<u32>, now: Nanos) -> Option<HeldSession> {
        self.stock.take(asked, connection, now)
    }
}

use std::collections::BTreeMap;
use std::ops::Deref;
use std::{fmt, mem};

use rustls_pki_types::UnixTime;
use zeroize::optimization_barrier;

use super::index::Index;
use super::limits::StoreLimits;

pub(super) type Id = [u8; 32];

/// Among how many sessions the least recently used one is evicted.
const SAMPLE: usize = 8;
/// For how many puts and gets, in capacities, a session of a client that came back is kept before those of others.
const PROTECTED_FOR: u32 = 4;
/// How many samples are taken where all that is found is to be kept.
const MOST_SAMPLES: usize = 8;
/// How many cells are looked at in a row for sessions that have expired: one for each that is put, so that none wait for the bound.
const SWEEP: usize = 64;
/// How many cells are allocated at a time. They never move: a session must not stay behind where a table was.
const CHUNK: usize = 256;
/// The number of no cell.
const NONE: u32 = u32::MAX;

/// One part of a store: cells with sessions, and an index of them.
///
/// In a store of a million sessions the cost is not work but waiting for memory. So whatever belongs to a session stands together,
/// and nothing links one to another: which one goes is found by looking at a few neighbours, which are a sample, as in Redis.
pub(super) struct Shard {
    index: Index,
    chunks: Vec<Box<[Cell]>>,
    /// How many cells were ever in use; they have the lowest numbers.
    begun: usize,
    /// The first cell that is not in use any more; the others follow as `used`.
    vacant: u32,
    /// States that are longer than a cell, by its number.
    large: BTreeMap<u32, StoredState>,
    bytes: usize,
    limits: StoreLimits,
    /// Counts puts and gets, in twos.
    clock: u32,
    /// The cell to look at next for what may go.
    hand: usize,
    /// How many were put since the last look.
    unswept: usize,
}

/// A session: a few lines of the processor's cache.
#[repr(align(64))]
struct Cell {
    id: Id,
    hash: u32,
    /// Seconds since 1970, up to the year 2106.
    expires: u32,
    /// By the shard's clock; odd if the session's client has come back.
    used: u32,
    /// Bytes of the state; [`VACANT`] where there is none.
    length: u32,
    state: [u8; Cell::ROOM],
}

const VACANT: u32 = u32::MAX;

/// What goes first is greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Known,
    Once,
    Expired,
}

/// An ID with its hash, which is computed once.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) id: &'a Id,
    pub(super) hash: u32,
}

/// A session's state, which is zeroed when it goes: whole, since byte by byte, as `zeroize` does it, takes longer than looking it up.
pub struct StoredState(Box<[u8]>);

impl Shard {
    pub(super) fn new(limits: StoreLimits) -> Self {
        Self {
            index: Index::default(),
            chunks: Vec::new(),
            begun: 0,
            vacant: NONE,
            large: BTreeMap::new(),
            bytes: 0,
            limits: StoreLimits { entries: limits.entries.min(NONE as usize), ..limits },
            clock: 0,
            hand: 0,
            unswept: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Of all cells in use, and of what does not fit into one.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it was stored: no state above the bound is. `is_known`: its client has come back before.
    pub(super) fn put(&mut self, now: UnixTime, key: Key<'_>, state: &[u8], until: UnixTime, is_known: bool) -> bool {
        let size = size(state.len());
        if self.limits.entries == 0 || size > self.limits.bytes || state.len() >= VACANT as usize {
            return false;
        }
        self.sweep(now);
        // What it replaces goes first.
        drop(self.take(now, key));
        while self.len() >= self.limits.entries || self.bytes > self.limits.bytes - size {
            self.forget_one(now);
        }
        self.clock = self.clock.wrapping_add(2);
        let number = self.occupy();
        let clock = self.clock | u32::from(is_known);
        let cell = self.cell_mut(number);
        cell.id = *key.id;
        cell.hash = key.hash;
        cell.expires = u32::try_from(until.as_secs()).unwrap_or(u32::MAX);
        cell.used = clock;
        cell.length = state.len() as u32;
        match cell.state.get_mut(..state.len()) {
            Some(room) => room.copy_from_slice(state),
            None => {
                self.large.insert(number, StoredState(state.into()));
            }
        }
        self.index.insert(key.hash, number);
        self.bytes += size;
        true
    }

    /// A copy of what stands under an ID, unless it has expired: then it goes.
    pub(super) fn get(&mut self, now: UnixTime, key: Key<'_>) -> Option<StoredState> {
        let (place, number) = self.find(key)?;
        if self.cell(number).is_expired(now) {
            self.remove(place, number);
            return None;
        }
        self.clock = self.clock.wrapping_add(2);
        let clock = self.clock | 1;
        let cell = self.cell_mut(number);
        cell.used = clock;
        let state = cell.state().map(StoredState::new);
        state.or_else(|| self.large.get(&number).map(|state| StoredState::new(state)))
    }

    /// Takes out what stands under an ID. If it has expired it goes as well.
    pub(super) fn take(&mut self, now: UnixTime, key: Key<'_>) -> Option<StoredState> {
        let (place, number) = self.find(key)?;
        let cell = self.cell(number);
        let state = if cell.is_expired(now) { None } else { Some(cell.state().map(StoredState::new)) };
        let large = self.remove(place, number);
        state.and_then(|state| state.or(large))
    }

    fn find(&self, key: Key<'_>) -> Option<(usize, u32)> {
        self.index.find(key.hash, |number| self.cell(number).id == *key.id)
    }

    /// Empties a cell. What did not fit into it is returned.
    fn remove(&mut self, place: usize, number: u32) -> Option<StoredState> {
        self.index.remove(place);
        let vacant = mem::replace(&mut self.vacant, number);
        let cell = self.cell_mut(number);
        let length = cell.length as usize;
        cell.wipe();
        (cell.length, cell.used) = (VACANT, vacant);
        self.bytes -= size(length);
        if length > Cell::ROOM { self.large.remove(&number) } else { None }
    }

    /// The number of a cell that is not in use.
    fn occupy(&mut self) -> u32 {
        if self.vacant != NONE {
            let number = self.vacant;
            self.vacant = self.cell(number).used;
            return number;
        }
        if self.begun == self.chunks.len() * CHUNK {
            let count = CHUNK.min(self.limits.entries - self.begun);
            self.chunks.push(std::iter::repeat_with(Cell::vacant).take(count).collect());
        }
        self.begun += 1;
        (self.begun - 1) as u32
    }

    /// Frees what has expired.
    fn sweep(&mut self, now: UnixTime) {
        self.unswept += 1;
        // While there are few cells and others are added, they are looked at more often.
        if self.unswept < SWEEP.min(self.begun / 2) {
            return;
        }
        self.unswept = 0;
        for _ in 0..SWEEP.min(self.begun) {
            let number = self.advance();
            let cell = self.cell(number);
            if cell.length != VACANT && cell.is_expired(now) {
                self.forget(number);
            }
        }
    }

    /// Frees the session of some that was used least recently: one that has expired before all others, and then one whose client
    /// has not come back. Or else a flood of clients that come once would drive out all that do come back.
    fn forget_one(&mut self, now: UnixTime) {
        // Whose client stays away while everything else is replaced a few times counts as one that never came.
        let protected =
            2 * u32::try_from(self.limits.entries).unwrap_or(u32::MAX).saturating_mul(PROTECTED_FOR).min(1 << 29);
        let mut oldest: Option<(Worth, u32, u32)> = None;
        let mut seen = 0;
        for _ in 0..self.begun {
            let number = self.advance();
            let cell = self.cell(number);
            if cell.length == VACANT {
                continue;
            }
            let age = self.clock.wrapping_sub(cell.used & !1);
            let worth = match cell.is_expired(now) {
                true => Worth::Expired,
                false if cell.used & 1 == 1 && age < protected => Worth::Known,
                false => Worth::Once,
            };
            oldest = oldest.max(Some((worth, age, number)));
            seen += 1;
            if seen % SAMPLE != 0 {
                continue;
            }
            if seen == MOST_SAMPLES * SAMPLE || oldest.is_some_and(|(worth, ..)| worth != Worth::Known) {
                break;
            }
            // Clients that came together stand together: the next sample is elsewhere.
            self.hand = (self.hand + self.begun * 5 / 8) % self.begun;
        }
        if let Some((_, _, number)) = oldest {
            self.forget(number);
        }
    }

    fn forget(&mut self, number: u32) {
        if let Some((place, number)) = self.index.find(self.cell(number).hash, |other| other == number) {
            self.remove(place, number);
        }
    }

    fn advance(&mut self) -> u32 {
        self.hand = if self.hand + 1 < self.begun { self.hand + 1 } else { 0 };
        self.hand as u32
    }

    fn cell(&self, number: u32) -> &Cell {
        &self.chunks[number as usize / CHUNK][number as usize % CHUNK]
    }

    fn cell_mut(&mut self, number: u32) -> &mut Cell {
        &mut self.chunks[number as usize / CHUNK][number as usize % CHUNK]
    }
}

/// What a state of this length takes.
fn size(length: usize) -> usize {
    size_of::<Cell>() + if length > Cell::ROOM { length } else { 0 }
}

impl Cell {
    /// So that all is four lines of 64 bytes: a TLS 1.3 session without a client's certificates has some 160.
    const ROOM: usize = 208;

    fn vacant() -> Self {
        Self { id: [0; 32], hash: 0, expires: 0, used: 0, length: VACANT, state: [0; Self::ROOM] }
    }

    fn is_expired(&self, now: UnixTime) -> bool {
        u64::from(self.expires) <= now.as_secs()
    }

    /// The state, unless it did not fit.
    fn state(&self) -> Option<&[u8]> {
        self.state.get(..self.length as usize)
    }

    fn wipe(&mut self) {
        let length = (self.length as usize).min(Self::ROOM);
        self.state[..length].fill(0);
        // Or else the compiler may see that nobody reads the zeros.
        optimization_barrier(&self.state);
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        if self.length != VACANT {
            self.wipe();
        }
    }
}

impl StoredState {
    fn new(state: &[u8]) -> Self {
        Self(state.into())
    }
}

impl Deref for StoredState {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for StoredState {
    fn drop(&mut self) {
        self.0.fill(0);
        // Or else the compiler sees that nobody reads the zeros.
        optimization_barrier(&*self.0);
    }
}

impl fmt::Debug for StoredState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredState")
    }
}

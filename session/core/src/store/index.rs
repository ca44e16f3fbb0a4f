/// Where sessions stand, by the hashes of their IDs: open addressing with linear probing, so that a look is one line of the
/// processor's cache. Another table would read one line for its control bytes and another one for its values, and in a store of
/// a million sessions waiting for memory is the cost.
#[derive(Default)]
pub(super) struct Index {
    /// A power of two, or none; never more than [`MOST`] of them in use.
    places: Vec<Place>,
    len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    hash: u32,
    cell: u32,
}

/// Where nothing stands: no cell has this number.
const EMPTY: Place = Place { hash: 0, cell: u32::MAX };
const FEWEST: usize = 16;
/// How full it becomes, of 8 parts.
const MOST: usize = 5;

impl Index {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The cell with this hash that `is_it` knows, and its place here.
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<(usize, u32)> {
        let mut at = self.home(hash);
        loop {
            let place = *self.places.get(at)?;
            if place == EMPTY {
                return None;
            }
            if place.hash == hash && is_it(place.cell) {
                return Some((at, place.cell));
            }
            at = self.after(at);
        }
    }

    /// Adds a cell that is not there.
    pub(super) fn insert(&mut self, hash: u32, cell: u32) {
        if (self.len + 1) * 8 > self.places.len() * MOST {
            let twice = (self.places.len() * 2).max(FEWEST);
            let smaller = std::mem::replace(&mut self.places, vec![EMPTY; twice]);
            smaller.into_iter().filter(|place| *place != EMPTY).for_each(|place| self.set(place));
        }
        self.set(Place { hash, cell });
        self.len += 1;
    }

    /// Takes out what [`Index::find`] found at this place.
    pub(super) fn remove(&mut self, mut hole: usize) {
        self.len -= 1;
        // What follows without a gap moves back, unless it would stand before its home.
        let mut at = hole;
        loop {
            at = self.after(at);
            let place = self.places[at];
            if place == EMPTY {
                break;
            }
            let mask = self.places.len() - 1;
            let [from_home, from_hole] = [self.home(place.hash), hole].map(|start| at.wrapping_sub(start) & mask);
            if from_home >= from_hole {
                self.places[hole] = place;
                hole = at;
            }
        }
        self.places[hole] = EMPTY;
    }

    fn set(&mut self, place: Place) {
        let mut at = self.home(place.hash);
        while self.places[at] != EMPTY {
            at = self.after(at);
        }
        self.places[at] = place;
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & self.places.len().wrapping_sub(1)
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map_whatever_collides(steps in prop::collection::vec((any::<bool>(), 0u32..40), 0..400)) {
            // Homes next to one another, and around the end of the table.
            let hash = |cell: u32| (cell % 7).wrapping_sub(3);
            let mut index = Index::default();
            let mut model = BTreeSet::new();
            for (step, (adds, cell)) in steps.into_iter().enumerate() {
                let found = index.find(hash(cell), |other| other == cell);
                prop_assert_eq!(found.map(|(_, cell)| cell), model.get(&cell).copied(), "step {}", step);
                match found {
                    None if adds => {
                        index.insert(hash(cell), cell);
                        model.insert(cell);
                    }
                    Some((place, _)) if !adds => {
                        index.remove(place);
                        model.remove(&cell);
                    }
                    _ => {}
                }
                prop_assert_eq!(index.len(), model.len());
            }
            for cell in 0..40 {
                prop_assert_eq!(index.find(hash(cell), |other| other == cell).is_some(), model.contains(&cell));
            }
        }
    }
}

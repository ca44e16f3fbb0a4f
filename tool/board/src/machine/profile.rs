//! Which function executed how many instructions: counted by address, named by the image's symbols.

use std::collections::BTreeMap;

use crate::elf::{self, Function};

/// Counts of the half-words of flash.
pub(super) struct Profile {
    counts: Box<[u64]>,
    /// In the order of their addresses.
    functions: Vec<Function>,
}

impl Profile {
    /// Of an image that may be executed up to the address `end`.
    pub(super) fn of(elf: &[u8], end: usize) -> Self {
        let mut functions = elf::functions(elf).unwrap_or_default();
        functions.sort_by_key(|function| function.address);
        Self { counts: vec![0; end / 2].into_boxed_slice(), functions }
    }

    #[inline(always)]
    pub(super) fn count(&mut self, address: u32) {
        if let Some(count) = self.counts.get_mut(address as usize / 2) {
            *count += 1;
        }
    }

    /// Instructions of each function since this was last asked, the most first.
    pub(super) fn take(&mut self) -> Vec<(String, u64)> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (index, count) in self.counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let behind = self.functions.partition_point(|function| function.address as usize <= 2 * index);
            let name = behind.checked_sub(1).and_then(|at| self.functions.get(at)).map_or("?", |it| it.name.as_str());
            *sums.entry(name).or_default() += std::mem::take(count);
        }
        let mut sums: Vec<(String, u64)> = sums.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        sums.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sums
    }
}

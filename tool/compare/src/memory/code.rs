//! How much code a stack brings to its process.

use std::collections::BTreeSet;
use std::path::PathBuf;

use object::{Object, ObjectSection, SectionKind};

/// The files that this process has mapped; none where the system does not tell.
pub(crate) fn mapped_files() -> BTreeSet<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(|line| line.find('/').and_then(|at| line.get(at..))).map(PathBuf::from).collect()
}

/// Code and constants of the files that are mapped now and were not. `None` where there is no such file.
pub(crate) fn brought(before: &BTreeSet<PathBuf>) -> Option<u64> {
    let now = mapped_files();
    let sizes: Vec<u64> = now.difference(before).filter_map(|file| code_of(&std::fs::read(file).ok()?)).collect();
    (!sizes.is_empty()).then(|| sizes.iter().sum())
}

/// As `size` counts text and data, without what is zero at first.
fn code_of(file: &[u8]) -> Option<u64> {
    let file = object::File::parse(file).ok()?;
    let counts = |kind| {
        use SectionKind::{Data, ReadOnlyData, ReadOnlyDataWithRel, ReadOnlyString, Text};
        matches!(kind, Text | ReadOnlyData | ReadOnlyDataWithRel | ReadOnlyString | Data)
    };
    Some(file.sections().filter(|section| counts(section.kind())).map(|section| section.size()).sum())
}

use crate::ExtensionType;

/// The first type that occurs a second time.
///
/// A hello may hold 16,384 empty extensions, so comparing each with each would let a peer buy seconds of our time
/// with one message. Types below 64, which is nearly all in use, are bits of one word; the few above are
/// compared; a list with more of those than any honest one has pays for a bit per type.
pub(super) fn first_duplicate(types: impl Iterator<Item = ExtensionType> + Clone) -> Option<ExtensionType> {
    let mut low = 0_u64;
    let mut high = [0_u16; MOST_COMPARED];
    let mut high_len = 0;

    for extension in types.clone() {
        if extension.0 < 64 {
            let bit = 1 << extension.0;
            if low & bit != 0 {
                return Some(extension);
            }
            low |= bit;
            continue;
        }
        if high.iter().take(high_len).any(|&seen| seen == extension.0) {
            return Some(extension);
        }
        let Some(free) = high.get_mut(high_len) else { return first_duplicate_of_many(types) };
        *free = extension.0;
        high_len += 1;
    }
    None
}

const MOST_COMPARED: usize = 16;

#[cold]
#[inline(never)]
fn first_duplicate_of_many(mut types: impl Iterator<Item = ExtensionType>) -> Option<ExtensionType> {
    let mut seen = [0_u64; 1024];
    types.find(|extension| {
        let bit = 1 << (extension.0 % 64);
        seen.get_mut(usize::from(extension.0 / 64)).is_some_and(|word| {
            let twice = *word & bit != 0;
            *word |= bit;
            twice
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_duplicate_in(types: &[u16]) -> Option<u16> {
        first_duplicate(types.iter().copied().map(ExtensionType)).map(|extension| extension.0)
    }

    #[test]
    fn low_and_high_types_alike() {
        assert_eq!(first_duplicate_in(&[0, 63, 64, 65281, 10]), None);
        assert_eq!(first_duplicate_in(&[0, 63, 64, 63]), Some(63));
        assert_eq!(first_duplicate_in(&[65281, 0, 65281]), Some(65281));
    }

    #[test]
    fn however_many_there_are() {
        let mut types: Vec<u16> = (0..16_000).map(|n| n * 3).collect();
        assert_eq!(first_duplicate_in(&types), None);
        types.push(300);
        assert_eq!(first_duplicate_in(&types), Some(300));
    }
}

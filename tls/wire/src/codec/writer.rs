/// Appends one byte.
pub fn u8(out: &mut Vec<u8>, value: u8) {
    out.push(value);
}

/// Appends a 16-bit integer.
pub fn u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends the low 24 bits of `value`.
pub fn u24(out: &mut Vec<u8>, value: u32) {
    let [_, high, middle, low] = value.to_be_bytes();
    out.extend_from_slice(&[high, middle, low]);
}

/// Appends a 32-bit integer.
pub fn u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends what `content` writes, behind its 8-bit length.
///
/// Like its siblings it keeps the framing whole whatever the content: bytes past the longest length that the prefix
/// can express are cut off. Callers that take lengths from outside check them first.
pub fn vec8(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    length_prefixed::<1>(out, content);
}

/// Appends what `content` writes, behind its 16-bit length.
pub fn vec16(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    length_prefixed::<2>(out, content);
}

/// Appends what `content` writes, behind its 24-bit length.
pub fn vec24(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    length_prefixed::<3>(out, content);
}

/// The length is written after the fact, over `N` bytes kept free for it.
fn length_prefixed<const N: usize>(out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let prefix = out.len();
    out.extend_from_slice(&[0; N]);
    let start = out.len();
    content(out);

    let longest = (1_usize << (8 * N)) - 1;
    out.truncate(start.saturating_add(longest));
    let len = out.len().saturating_sub(start).to_be_bytes();
    if let (Some(field), Some(value)) = (out.get_mut(prefix..start), len.last_chunk::<N>()) {
        field.copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_nest() {
        let mut out = vec![9];
        vec24(&mut out, |out| vec16(out, |out| vec8(out, |out| u24(out, 0x01_0203))));
        assert_eq!(out, [9, 0, 0, 6, 0, 4, 3, 1, 2, 3]);
    }

    #[test]
    fn content_too_long_for_its_prefix_is_cut() {
        let mut out = Vec::new();
        vec8(&mut out, |out| out.extend_from_slice(&[7; 300]));
        assert_eq!(out.len(), 256);
        assert_eq!(out.first(), Some(&255));
    }
}

//! As much of ELF as an image of a 32-bit microcontroller needs: its loadable segments.

/// `e_machine` of ARM.
pub(crate) const ARM: u16 = 40;

/// Bytes, and the physical address that they are loaded to.
pub(crate) struct Segment<'a> {
    pub(crate) address: u32,
    pub(crate) bytes: &'a [u8],
}

/// The segments of an ELF file for this machine that have bytes to load.
pub(crate) fn segments(elf: &[u8], machine: u16) -> Result<Vec<Segment<'_>>, &'static str> {
    const LOAD: u32 = 1;
    // \x7f E L F, 32 bits, little-endian.
    if elf.get(..6) != Some(&[0x7f, b'E', b'L', b'F', 1, 1]) {
        return Err("it is no ELF file of 32 bits, little-endian");
    }
    if half(elf, 18)? != machine {
        return Err("it is for another machine");
    }
    let (table, size, count) = (word(elf, 28)? as usize, usize::from(half(elf, 42)?), usize::from(half(elf, 44)?));
    let mut segments = Vec::new();
    for index in 0..count {
        let entry = elf.get(table.saturating_add(index * size)..).ok_or(TRUNCATED)?;
        let (offset, address, len) = (word(entry, 4)? as usize, word(entry, 12)?, word(entry, 16)? as usize);
        if word(entry, 0)? == LOAD && len > 0 {
            let bytes = elf.get(offset..offset.saturating_add(len)).ok_or(TRUNCATED)?;
            segments.push(Segment { address, bytes });
        }
    }
    Ok(segments)
}

const TRUNCATED: &str = "it is truncated";

fn half(bytes: &[u8], at: usize) -> Result<u16, &'static str> {
    let bytes = bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u16::from_le_bytes).ok_or(TRUNCATED)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, &'static str> {
    let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or(TRUNCATED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_image_is_refused() {
        let mut elf = vec![0; 52];
        assert!(segments(&elf, ARM).is_err());
        elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1]);
        assert_eq!(segments(&elf, ARM).err(), Some("it is for another machine"));
        elf[18] = ARM as u8;
        assert!(segments(&elf, ARM).unwrap().is_empty());
        // One segment, whose header lies behind the end.
        (elf[28], elf[42], elf[44]) = (52, 32, 1);
        assert_eq!(segments(&elf, ARM).err(), Some(TRUNCATED));
    }
}

//! As much of ELF as an image of a 32-bit microcontroller needs: its loadable segments, and the names of its functions.

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

/// A function of Thumb code.
pub(crate) struct Function {
    pub(crate) address: u32,
    pub(crate) name: String,
}

/// The functions of an ELF file; none where it has no symbols.
pub(crate) fn functions(elf: &[u8]) -> Result<Vec<Function>, &'static str> {
    const SYMBOLS: u32 = 2;
    const FUNCTION: u8 = 2;
    const SYMBOL_LEN: usize = 16;
    let (table, size, count) = (word(elf, 32)? as usize, usize::from(half(elf, 46)?), usize::from(half(elf, 48)?));
    let section = |index: usize| elf.get(table.saturating_add(index * size)..).ok_or(TRUNCATED);
    let content = |header: &[u8]| {
        let (offset, len) = (word(header, 16)? as usize, word(header, 20)? as usize);
        elf.get(offset..offset.saturating_add(len)).ok_or(TRUNCATED)
    };
    let mut functions = Vec::new();
    for index in 0..count {
        let header = section(index)?;
        if word(header, 4)? != SYMBOLS {
            continue;
        }
        let names = content(section(word(header, 24)? as usize)?)?;
        for symbol in content(header)?.chunks_exact(SYMBOL_LEN).filter(|symbol| symbol[12] & 15 == FUNCTION) {
            let name = names.get(word(symbol, 0)? as usize..).and_then(|name| name.split(|&byte| byte == 0).next());
            let name = String::from_utf8_lossy(name.ok_or(TRUNCATED)?).into_owned();
            // The lowest bit says that it is Thumb code.
            functions.push(Function { address: word(symbol, 4)? & !1, name });
        }
    }
    Ok(functions)
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

    #[test]
    fn functions_are_named_by_their_symbols() {
        // A header with two sections at 52: symbols, named by the other.
        let mut elf = vec![0; 52 + 80 + 32 + 9];
        (elf[32], elf[46], elf[48]) = (52, 40, 2);
        elf[52 + 4] = 2;
        (elf[52 + 16], elf[52 + 20], elf[52 + 24]) = (132, 32, 1);
        (elf[92 + 16], elf[92 + 20]) = (164, 9);
        // A function at 0x101, which is Thumb code at 0x100, and an object.
        (elf[132], elf[132 + 4], elf[132 + 5], elf[132 + 12]) = (1, 1, 1, 2);
        (elf[148], elf[148 + 12]) = (1, 1);
        elf[165..].copy_from_slice(b"montmul\0");
        let functions = functions(&elf).unwrap();
        assert_eq!(functions.iter().map(|it| (it.address, it.name.as_str())).collect::<Vec<_>>(), [(0x100, "montmul")]);
        for end in 33..elf.len() {
            let _ = super::functions(&elf[..end]);
        }
    }
}

//! What an emulated CPU needs of an image: the segments that are loaded, and the names of its functions.

use object::elf::{EM_ARM, PT_LOAD};
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind};

/// Bytes, and the physical address that they are loaded to.
pub(crate) struct Segment<'a> {
    pub(crate) address: u32,
    pub(crate) bytes: &'a [u8],
}

/// A function of Thumb code.
pub(crate) struct Function {
    pub(crate) address: u32,
    pub(crate) name: String,
}

/// The segments of an ELF file for ARM that have bytes to load.
pub(crate) fn segments(elf: &[u8]) -> Result<Vec<Segment<'_>>, &'static str> {
    let file = parse(elf)?;
    if file.elf_header().e_machine(LittleEndian) != EM_ARM {
        return Err("it is for another machine");
    }
    let loaded = file.elf_program_headers().iter().filter(|header| header.p_type(LittleEndian) == PT_LOAD);
    let segments = loaded.map(|header| {
        let bytes = header.data(LittleEndian, elf).map_err(|()| TRUNCATED)?;
        Ok(Segment { address: header.p_paddr(LittleEndian), bytes })
    });
    segments.filter(|segment| !matches!(segment, Ok(Segment { bytes: [], .. }))).collect()
}

/// The functions of an ELF file; none where it has no symbols.
pub(crate) fn functions(elf: &[u8]) -> Result<Vec<Function>, &'static str> {
    let file = parse(elf)?;
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let named = functions.map(|symbol| {
        let name = String::from_utf8_lossy(symbol.name_bytes().map_err(|_| TRUNCATED)?).into_owned();
        // The lowest bit says that it is Thumb code.
        Ok(Function { address: symbol.address() as u32 & !1, name })
    });
    named.collect()
}

fn parse(elf: &[u8]) -> Result<ElfFile32<'_, LittleEndian>, &'static str> {
    ElfFile32::parse(elf).map_err(|_| "it is no ELF file of 32 bits, little-endian, or it is truncated")
}

const TRUNCATED: &str = "it is truncated";

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 7] = [0x7f, b'E', b'L', b'F', 1, 1, 1];

    #[test]
    fn what_is_no_image_is_refused() {
        let mut elf = vec![0; 52];
        assert!(segments(&elf).is_err());
        elf[..7].copy_from_slice(&MAGIC);
        assert_eq!(segments(&elf).err(), Some("it is for another machine"));
        elf[18] = EM_ARM as u8;
        assert!(segments(&elf).unwrap().is_empty());
        // One segment, whose header lies behind the end.
        (elf[28], elf[42], elf[44]) = (52, 32, 1);
        assert!(segments(&elf).is_err());
    }

    #[test]
    fn functions_are_named_by_their_symbols() {
        // A header with two sections at 52: symbols, named by the other.
        let mut elf = vec![0; 52 + 80 + 48 + 9];
        elf[..7].copy_from_slice(&MAGIC);
        (elf[32], elf[46], elf[48], elf[50]) = (52, 40, 2, 1);
        (elf[52 + 4], elf[52 + 16], elf[52 + 20], elf[52 + 24], elf[52 + 36]) = (2, 132, 48, 1, 16);
        (elf[92 + 4], elf[92 + 16], elf[92 + 20]) = (3, 180, 9);
        // After the null symbol, a function at 0x101, which is Thumb code at 0x100, and an object.
        (elf[148], elf[148 + 4], elf[148 + 5], elf[148 + 12], elf[148 + 14]) = (1, 1, 1, 2, 1);
        (elf[164], elf[164 + 12], elf[164 + 14]) = (1, 1, 1);
        elf[181..].copy_from_slice(b"montmul\0");
        let functions = functions(&elf).unwrap();
        assert_eq!(functions.iter().map(|it| (it.address, it.name.as_str())).collect::<Vec<_>>(), [(0x100, "montmul")]);
        for end in 33..elf.len() {
            let _ = super::functions(&elf[..end]);
        }
    }
}

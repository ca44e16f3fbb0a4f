//! How large an image is, and what of it belongs to whom, from GNU ld's map.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Size {
    /// Code and constants, in flash.
    pub flash: u64,
    /// Variables, in RAM.
    pub ram: u64,
}

/// An image by component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// Everything.
    pub total: Size,
    /// By component: `tls` is the stack with its backend, `session cache`, `server` is HTTP and the steps of a connection,
    /// `board` what stands for the rest of a product, `c library`, `compiler`, `alignment`.
    pub components: BTreeMap<String, Size>,
}

/// Reads the map that `-Wl,-Map` wrote.
pub(crate) fn sizes_of(map: &str) -> Sizes {
    let mut sizes = Sizes::default();
    // What the linker left out stands before this line.
    let kept = map.split_once("Linker script and memory map").map_or("", |(_, kept)| kept);
    let mut output = "";
    let mut name = "";
    for line in kept.lines() {
        if line.starts_with('.') {
            output = line.split_whitespace().next().unwrap_or_default();
            continue;
        }
        let mut words = line.split_whitespace().peekable();
        // A long name stands on a line of its own, before the figures.
        if line.starts_with(" .") || line.starts_with(" COMMON") || line.starts_with(" *fill*") {
            name = words.next().unwrap_or_default();
        }
        let (Some(address), Some(len)) = (words.next().and_then(hex), words.next().and_then(hex)) else { continue };
        let component = if name == "*fill*" { "alignment" } else { component(words.next().unwrap_or_default()) };
        let in_place = address != 0 || output == ".text";
        if len == 0 || name.is_empty() || !in_place {
            continue;
        }
        let (flash, ram) = match output {
            ".text" | ".rodata" | ".ARM.exidx" | ".literal" => (len, 0),
            // Its initial values are in flash.
            ".data" => (len, len),
            ".bss" => (0, len),
            _ => continue,
        };
        for size in [&mut sizes.total, sizes.components.entry(component.to_owned()).or_default()] {
            size.flash += flash;
            size.ram += ram;
        }
        name = "";
    }
    sizes
}

fn hex(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

fn component(file: &str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or_default();
    match name {
        "session_cache.o" | "client_hello.o" => "session cache",
        "service.o" | "http.o" => "server",
        "main.o" | "heap.o" | "mps2.o" | "lx106.o" => "board",
        "bearssl.o" | "mbedtls2.o" | "mbedtls3.o" => "tls",
        _ if file.contains("libgcc") => "compiler",
        _ if file.contains("libc") || name == "libc.o" => "c library",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "\
Discarded input sections

 .text.unused   0x00000000       0x64 build/own/http.o

Linker script and memory map

.text           0x00000000      0x1f0
 .text.reprise_http_parse
                0x00000040      0x100 build/own/http.o
 *fill*         0x00000140        0x4
 .text.find     0x00000144       0x40 build/own/session_cache.o
 .text.memcpy   0x00000184       0x10 /usr/lib/libc_nano.a(memcpy.o)

.data           0x20000000        0x8 load address 0x000001f0
 .data.next     0x20000000        0x8 build/own/mps2.o

.bss            0x20000008       0x20
 .bss.slots     0x20000008       0x20 build/own/main.o
";

    #[test]
    fn every_byte_belongs_to_a_component() {
        let sizes = sizes_of(MAP);
        assert_eq!(sizes.total, Size { flash: 0x100 + 4 + 0x40 + 0x10 + 8, ram: 0x28 });
        assert_eq!(sizes.components["server"], Size { flash: 0x100, ram: 0 });
        assert_eq!(sizes.components["session cache"], Size { flash: 0x40, ram: 0 });
        assert_eq!(sizes.components["board"], Size { flash: 8, ram: 0x28 });
        assert_eq!(sizes.components["c library"].flash, 0x10);
        assert_eq!(sizes.components["alignment"].flash, 4);
    }
}

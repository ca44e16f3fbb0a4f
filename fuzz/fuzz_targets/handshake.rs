//! The first byte chooses a parser of a message or of an extension, the others are its input: what it accepts, it
//! emits again byte for byte.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/reemit/mod.rs"]
mod reemit;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let parsers = || reemit::MESSAGES.iter().chain(reemit::EXTENSIONS);
    let Some(parser) = parsers().nth(usize::from(choice) % parsers().count()) else { return };
    reemit::holds_for(std::slice::from_ref(parser), bytes);
});

//! Any of the targets: each is built under its own name, by which it is found.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(target) = reprise_fuzz_targets::find(env!("CARGO_BIN_NAME")) {
        (target.run)(bytes);
    }
});

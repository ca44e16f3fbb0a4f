#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(target) = reprise_fuzz_targets::find("prologue") {
        (target.run)(bytes);
    }
});

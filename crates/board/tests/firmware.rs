//! Images as they are built: what is compiled out leaves no trace, and the session cache holds against its model on the board.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::path::{Path, PathBuf};
use std::process::Command;

use reprise_board::{CortexM0, Cpu, Firmware, Image, Machine, Optimization, Stack};
use reprise_lab::servers::missing;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn make(settings: &[&str]) {
    let output = Command::new("make").arg("-C").arg(root().join("firmware")).args(settings).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn has_compiler() -> bool {
    match missing("arm-none-eabi-gcc").or_else(|| missing("make")) {
        Some(not_run) => {
            not_run.announce();
            false
        }
        None => true,
    }
}

#[test]
fn without_the_cache_an_image_is_as_if_there_were_none() {
    if !has_compiler() {
        return;
    }
    let output = root().join("target/firmware");
    let image = Image { cache: false, ..Image::usual(Cpu::CortexM0, Stack::BearSsl, Optimization::Size) };
    let firmware = Firmware { folder: root().join("firmware"), output: output.clone() };
    firmware.build(image).unwrap();

    // The library without the cache's files, and without the lines that are there for its sake.
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("lib");
    for part in ["src", "include/reprise"] {
        std::fs::create_dir_all(library.join(part)).unwrap();
        for entry in std::fs::read_dir(root().join("firmware/lib").join(part)).unwrap() {
            let path = entry.unwrap().path();
            if !path.to_string_lossy().contains("session_cache") {
                let text = without_the_cache(&std::fs::read_to_string(&path).unwrap());
                std::fs::write(library.join(part).join(path.file_name().unwrap()), text).unwrap();
            }
        }
    }
    let build = folder.path().join("build");
    // The stack's own objects are the same: they know nothing of the library.
    copy(&output.join(format!("build/{image}")), &build);
    std::fs::remove_dir_all(build.join("own")).unwrap();
    std::fs::remove_file(build.join("bearssl/tls.o")).unwrap();
    make(&[
        "STACK=bearssl",
        "CACHE=0",
        &format!("LIB={}", library.display()),
        &format!("SOURCES={}", output.join("sources").display()),
        &format!("BUILD={}", build.display()),
        &format!("OUT={}", folder.path().join("image").display()),
    ]);
    let [with, without] = [image.path(&output), folder.path().join("image.elf")].map(|path| std::fs::read(path).unwrap());
    assert!(with == without, "{} bytes and {} bytes, and not the same", with.len(), without.len());
}

/// Drops what stands between `#if REPRISE_SESSION_CACHE…` and its `#else` or `#endif`.
fn without_the_cache(text: &str) -> String {
    let mut kept = String::new();
    // For each conditional that is open: whether it is ours, and whether its lines are kept.
    let mut open: Vec<(bool, bool)> = Vec::new();
    for line in text.lines() {
        if line.starts_with("#if") {
            let ours = line.starts_with("#if REPRISE_SESSION_CACHE");
            open.push((ours, !ours));
            if ours {
                continue;
            }
        } else if line.starts_with("#else") && open.last().is_some_and(|(ours, _)| *ours) {
            open.last_mut().unwrap().1 = true;
            continue;
        } else if line.starts_with("#endif") && open.pop().is_some_and(|(ours, _)| ours) {
            continue;
        }
        if open.iter().all(|(_, kept)| *kept) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(copied.success());
}

#[test]
fn ten_thousand_operations_agree_with_the_model_on_the_board() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("model");
    let build = folder.path().join("build");
    make(&["STACK=cache-model", &format!("BUILD={}", build.display()), &format!("OUT={}", out.display())]);
    let mut machine = CortexM0::boot("model", &std::fs::read(out.with_extension("elf")).unwrap()).unwrap();
    for seed in 1..=9 {
        machine.send(&[seed]).unwrap();
        let mut result = [0; 8];
        machine.receive(&mut result).unwrap();
        let [differs, state] = [0, 4].map(|at| u32::from_le_bytes(result[at..at + 4].try_into().unwrap()));
        assert_eq!(differs, 0, "with seed {seed}, after operation {differs}");
        assert_ne!(state, u32::from(seed));
    }
}

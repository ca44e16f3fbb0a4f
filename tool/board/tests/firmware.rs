//! Images as they are built: what is compiled out leaves no trace, and the session cache holds against its model on the board.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use reprise_board::{
    Board, BoardError, BoardKey, BoardStack, CortexM0, Cpu, Firmware, Image, Machine, MachineFault, Optimization, Qemu,
    ResponseMode, Setup, Slot,
};
use reprise_servers::require;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn make(settings: &[&str]) {
    let output = Command::new("make").arg("-C").arg(root().join("firmware")).args(settings).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_the_cache_an_image_is_as_if_there_were_none() {
    require!("arm-none-eabi-gcc", "make");
    let output = root().join("target/firmware");
    let image = Image { cache: false, ..Image::usual(Cpu::CortexM0, BoardStack::BearSsl, Optimization::Size) };
    let firmware = Firmware { folder: root().join("firmware"), output: output.clone() };
    firmware.build(image).unwrap();

    // The library without the cache's files, and without the lines that are there for its sake.
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("src");
    for part in ["", "reprise"] {
        std::fs::create_dir_all(library.join(part)).unwrap();
        for entry in std::fs::read_dir(root().join("firmware/src").join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && !path.to_string_lossy().contains("session_cache") {
                let text = without_the_cache(&std::fs::read_to_string(&path).unwrap());
                std::fs::write(library.join(part).join(path.file_name().unwrap()), text).unwrap();
            }
        }
    }
    make(&[
        "STACK=bearssl",
        "CACHE=0",
        &format!("LIB={}", library.display()),
        &format!("SOURCES={}", output.join("sources").display()),
        // The stack's own objects are the same: they know nothing of the library.
        &format!("STACKS={}", output.join("build/stacks").display()),
        &format!("BUILD={}", folder.path().join("build").display()),
        &format!("OUT={}", folder.path().join("image").display()),
    ]);
    let [with, without] = [image.path(&output), folder.path().join("image.elf")].map(|path| std::fs::read(path).unwrap());
    assert!(with == without, "{} bytes and {} bytes, and not the same", with.len(), without.len());
}

/// `cargo xtask firmware --twice` does this with every image.
#[test]
fn an_image_built_elsewhere_is_the_same() {
    require!("arm-none-eabi-gcc", "make");
    let image = Image::usual(Cpu::CortexM0, BoardStack::MbedTls3, Optimization::Size);
    let firmware = Firmware { folder: root().join("firmware"), output: root().join("target/firmware") };
    let folder = tempfile::tempdir().unwrap();
    let here = firmware.build(image).unwrap().sha256;
    let library = folder.path().join("library");
    assert!(Command::new("cp").arg("-a").args([&firmware.folder, &library]).status().unwrap().success());
    std::os::unix::fs::symlink(firmware.output.join("sources"), folder.path().join("sources")).unwrap();
    let elsewhere = Firmware { folder: library, output: folder.path().to_owned() };
    assert_eq!(elsewhere.build(image).unwrap().sha256, here);
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

#[test]
fn ten_thousand_operations_agree_with_the_model_on_the_board() {
    require!("arm-none-eabi-gcc", "make");
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

#[test]
fn a_server_that_never_ends_is_an_error() {
    require!("arm-none-eabi-gcc", "make");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("stuck");
    let build = folder.path().join("build");
    make(&["STACK=stuck", &format!("BUILD={}", build.display()), &format!("OUT={}", out.display())]);
    let image = out.with_extension("elf");
    let elf = std::fs::read(&image).unwrap();
    let machine = || CortexM0::boot("stuck", &elf).unwrap().with_patience(100_000_000);
    let in_model = |way: &str| stuck(machine(), way);
    assert!(matches!(in_model("steps"), BoardError::Endless("steps")));
    assert!(matches!(in_model("writes"), BoardError::Endless("bytes")));
    assert!(matches!(in_model("computes"), BoardError::Machine(MachineFault::Silent(_))));
    require!(Qemu::ARM);
    let in_qemu = |way: &str| stuck(Qemu::cortex_m(&image).unwrap().with_patience(Duration::from_secs(5)), way);
    assert!(matches!(in_qemu("steps"), BoardError::Endless("steps")));
    assert!(matches!(in_qemu("writes"), BoardError::Endless("bytes")));
    assert!(matches!(in_qemu("computes"), BoardError::Machine(MachineFault::Silent(_))));
}

/// What a connection to a server that is stuck in this way comes to.
fn stuck<M: Machine>(machine: M, way: &str) -> BoardError {
    let setup = Setup { key: way.to_owned(), ..Setup::usual(BoardKey::P256, ResponseMode::Fixed) };
    Board::start(machine, &setup).unwrap().open(Slot(0)).unwrap_err()
}

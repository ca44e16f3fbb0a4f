//! `reprise board` as a user runs it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use reprise_servers::missing;

fn board() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.arg("board").current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

#[test]
fn without_a_compiler_it_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let output = board().args(["--stacks", "bearssl", "--quick"]).env("PATH", folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("needs arm-none-eabi-gcc: apt-get install gcc-arm-none-eabi"), "{said}");
}

#[test]
fn outside_of_a_checkout_it_says_where_the_firmware_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = board().current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("firmware/Makefile") && said.contains("--firmware"), "{said}");
}

#[test]
fn quick_refuses_what_it_would_leave_out() {
    for (flags, why) in [
        (&["--quick", "--keys", "rsa-2048"][..], "--quick skips rsa-2048"),
        (&["--quick", "--runs", "5"], "--runs"),
        (&["--quick", "--requests", "5"], "--requests"),
    ] {
        let output = board().args(flags).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_result_is_what_its_schema_says() {
    if let Some(not_run) = missing("arm-none-eabi-gcc").or_else(|| missing("make")) {
        return not_run.announce();
    }
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("board.json");
    let output = board().args(["--stacks", "bearssl", "--keys", "p-256", "--quick", "--json"]).arg(&json).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("Handshakes on a Cortex-M0+ at 133 MHz") && page.contains("x25519"), "{page}");
    assert!(page.contains("booted once"), "{page}");

    let result: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.board.1.json");
    let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&result).map(|it| it.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let instructions = |at: usize| result["handshakes"][at]["handshake"]["instructions"].as_u64().unwrap();
    assert!(instructions(0) > 12 * instructions(1), "{result}");
}

#[test]
fn the_emulated_board_listens_and_is_measured() {
    if let Some(not_run) = missing("arm-none-eabi-gcc").or_else(|| missing("make")) {
        return not_run.announce();
    }
    let mut server = board()
        .args(["--stacks", "bearssl", "--keys", "p-256", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = said.find_map(|line| {
        let (_, behind) = line.split_once("listens on ")?;
        behind.split(';').next().map(str::to_owned)
    });
    let measured = Command::new(env!("CARGO_BIN_EXE_reprise"))
        .args(["measure", &address.unwrap(), "--insecure", "--tls", "1.2", "--kinds", "full,id", "--count", "2"])
        .output();
    server.kill().unwrap();
    server.wait().unwrap();
    let measured = measured.unwrap();
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
}

#[test]
fn the_library_on_this_computer_is_measured_like_any_server() {
    if let Some(not_run) = missing("make").or_else(|| missing("cc")) {
        return not_run.announce();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let target = root.join("target/firmware");
    let fetched = Command::new(root.join("firmware/sources/fetch.sh")).arg(target.join("sources")).arg("bearssl").status();
    assert!(fetched.unwrap().success());
    let made = Command::new("make")
        .args(["-C", "firmware", "-j2", "--no-print-directory", "MACHINE=posix", "OPT=-O2", "I15=0"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let keys = root.join("crates/board/keys");
    let mut server = Command::new(target.join("posix-bearssl.elf"))
        .arg("bearssl")
        .args([keys.join("p256.crt"), keys.join("p256.key")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address = said.next().unwrap().replace("listening on ", "");
    let measured = Command::new(env!("CARGO_BIN_EXE_reprise"))
        .args(["measure", &address, "--insecure", "--tls", "1.2", "--kinds", "full,id", "--count", "5"])
        .output()
        .unwrap();
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
    // Its input ends, and it tells what its cache saw: five samples, and what primed and discovered them.
    drop(server.stdin.take());
    let cache = said.next().unwrap();
    let hits: u32 = cache.strip_prefix("cache: ").and_then(|it| it.split(' ').next()).unwrap().parse().unwrap();
    assert!(hits >= 5, "{cache}");
    assert!(server.wait().unwrap().success());
}

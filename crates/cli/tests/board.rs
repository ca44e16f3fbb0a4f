//! `reprise board` as a user runs it.

use std::path::Path;
use std::process::Command;

use reprise_lab::servers::missing;

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

    let result: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/reprise.board.1.json");
    let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&result).map(|it| it.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let instructions = |at: usize| result["handshakes"][at]["handshake"]["instructions"].as_u64().unwrap();
    assert!(instructions(0) > 12 * instructions(1), "{result}");
}

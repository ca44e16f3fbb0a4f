//! `reprise board` as a user runs it.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reprise_harness::posix_server::PosixServer;
use reprise_harness::{DEADLINE, Outcome, Reprise, program};
use reprise_servers::require;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// `reprise board FLAGS` in the checkout. To fetch and to compile the firmware may take minutes.
fn board(flags: &str) -> Reprise {
    Reprise::line("board").flags(flags).in_directory(root()).deadline(30 * DEADLINE)
}

/// Full and resumed connections to a server that knows TLS 1.2 alone.
fn measure(address: &str, count: u32) -> Outcome {
    Reprise::line("measure --insecure --tls 1.2 --kinds full,id").arg(address).count(count).run()
}

#[test]
fn without_a_compiler_it_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = board("--stacks bearssl --quick").env("PATH", folder.path()).run().exits(2);
    outcome.says(&["needs arm-none-eabi-gcc: apt-get install gcc-arm-none-eabi"]);
}

#[test]
fn outside_of_a_checkout_it_says_where_the_firmware_is() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = board("").in_directory(folder.path()).run();
    outcome.exits(2).says(&["firmware/Makefile", "--firmware"]);
}

#[test]
fn quick_refuses_what_it_would_leave_out() {
    for (flags, why) in [
        ("--quick --keys rsa-2048", "--quick skips rsa-2048"),
        ("--quick --runs 5", "--runs"),
        ("--quick --requests 5", "--requests"),
    ] {
        board(flags).run().exits(2).says(&[why]);
    }
}

#[test]
fn a_result_is_what_its_schema_says() {
    require!("arm-none-eabi-gcc", "make");
    let outcome = board("--stacks bearssl --keys p-256 --quick").keeping_its_document().run().exits(0);
    let outcome =
        outcome.shows(&["The cheapest full handshake is that of", "Handshakes on a Cortex-M0+ at 133 MHz", "booted once"]);
    let left: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains(" left: ")).collect();
    let steps = left.len();
    let last = format!(" {steps}/{steps} steps, ");
    assert!(left.iter().any(|line| line.contains(&last)), "each step has its line: {left:#?}");
    for step in ["mps2-bearssl-Os, build", "mps2-bearssl-Os, p-256"] {
        assert!(left.iter().any(|line| line.ends_with(step)), "{step}: {left:#?}");
    }
    let result = outcome.json_of("reprise.board/1");
    let instructions = |at: usize| result["handshakes"][at]["handshake"]["instructions"].as_u64().unwrap();
    assert!(instructions(0) > 12 * instructions(1), "{result}");
}

#[test]
fn the_emulated_board_listens_and_is_measured() {
    require!("arm-none-eabi-gcc", "make");
    let mut server = Command::new(program())
        .args(["board", "--stacks", "bearssl", "--keys", "p-256", "--listen", "127.0.0.1:0"])
        .current_dir(root())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = said.find_map(|line| {
        let (_, behind) = line.split_once("listens on ")?;
        behind.split(';').next().map(str::to_owned)
    });
    let measured = measure(&address.unwrap(), 2);
    server.kill().unwrap();
    server.wait().unwrap();
    measured.exits(0);
}

#[test]
fn the_library_on_this_computer_is_measured_like_any_server() {
    require!("make", "cc");
    let sources = root().join("target/firmware/sources");
    let fetched = Command::new(root().join("firmware/sources/fetch.sh")).arg(sources).arg("bearssl").status();
    assert!(fetched.unwrap().success());
    let made = Command::new("make")
        .args(["-C", "firmware", "-j2", "--no-print-directory", "MACHINE=posix", "OPT=-O2", "I15=0"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let server = PosixServer::start(&root().join("target/firmware/posix-bearssl.elf"));
    measure(&server.address, 5).exits(0);
    // What its cache saw: five samples, and what primed and discovered them.
    let cache = server.finish();
    let hits: u32 = cache.split(' ').next().unwrap().parse().unwrap();
    assert!(hits >= 5, "{cache}");
}

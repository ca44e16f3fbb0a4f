//! Ten thousand contexts, each with a ClientHello: memory does not grow with them.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::path::Path;
use std::process::Command;

use reprise_lab::Authority;
use reprise_model::{Nanos, PskMode, Version};
use reprise_servers::require;
use reprise_stack::{ContextOptions, Plugin, SessionMode, SessionPlan, Side, Stack, StackSessions, built_in};
use rustls_pki_types::UnixTime;

/// So much may the memory of the process grow, for what is made once and late: a tenth of a kilobyte a context.
const GROWTH: u64 = 1 << 20;

fn options(root: &str) -> ContextOptions<'_> {
    ContextOptions {
        side: Side::Client,
        version: Version::Tls13,
        sessions: SessionMode::Ticket,
        suites: &[0x1301],
        groups: &[29],
        identity: None,
        trust: Some(root),
        require_client_certificate: false,
        server_name: "localhost",
        psk: None,
        psk_mode: PskMode::PskDheKe,
        max_early_data: 0,
        key_pairs: reprise_model::KeyPairs::Fresh,
        max_fragment: None,
        releases_buffers: false,
        shares_all_groups: false,
        remembers_chains: false,
        date: UnixTime::now(),
    }
}

fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[track_caller]
fn does_not_grow(stack: &dyn Stack, contexts: u32, with_library: bool) {
    let root = Authority::new().unwrap().pem();
    let make = |count| {
        for _ in 0..count {
            let options = options(&root);
            let made = if with_library { stack.context_with_library(&options) } else { stack.context(&options) };
            let context = made.unwrap();
            let mut hello = Vec::new();
            context.endpoint().begin(&mut StackSessions::new(), SessionPlan::default(), Nanos(0), &mut hello).unwrap();
            assert!(!hello.is_empty());
        }
    };
    make(contexts / 10);
    let before = resident();
    make(contexts);
    let growth = resident().saturating_sub(before);
    assert!(growth < GROWTH, "{}: {contexts} contexts leave {growth} bytes", stack.about().name);
}

/// OpenSSL's, as `cargo xtask stacks --system` builds it.
fn openssl(folder: &Path) -> Plugin {
    let stacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tls/stacks");
    let plugin = folder.join("openssl.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O1", "-fPIC", "-fvisibility=hidden", "-shared", "-o"]).arg(&plugin);
    compiler.arg("-I").arg(stacks.join("include")).arg(stacks.join("shim/openssl.c"));
    compiler.args(["-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic", "-l:libssl.a", "-l:libcrypto.a", "-ldl", "-lpthread"]);
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Plugin::load(&plugin).unwrap()
}

/// One test, since the memory is that of the process.
#[test]
fn ten_thousand_contexts_leave_nothing() {
    for (_, stack) in built_in() {
        does_not_grow(&*stack, 10_000, false);
    }
    require!("cc", "/usr/include/openssl/ssl.h");
    let folder = tempfile::tempdir().unwrap();
    let openssl = openssl(folder.path());
    does_not_grow(&openssl, 10_000, false);
    does_not_grow(&openssl, 1_000, true);
}

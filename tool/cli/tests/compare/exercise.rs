//! The shims themselves: what they lose, and what they touch that is not theirs. `tls/stacks/test/exercise.c` makes every kind of handshake.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_servers::require;

use super::plugins::{LIBRARIES, can_build_plugins, stacks};

/// Handshakes of each shim whose memory is counted: `just full` makes 10,000.
fn handshakes() -> u32 {
    std::env::var("REPRISE_HANDSHAKES").map_or(300, |count| count.parse().unwrap())
}

const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The program with one shim, and the certificates that it asks for.
struct Exercise {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Exercise {
    fn build(name: &str, flags: &[&str]) -> Self {
        let (_, _, libraries) = LIBRARIES.iter().find(|(library, ..)| *library == name).unwrap();
        Self::of_shim(&stacks().join(format!("shim/{name}.c")), flags, libraries)
    }

    fn of_shim(shim: &Path, flags: &[&str], libraries: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("exercise");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).args(flags);
        compiler.arg("-I").arg(stacks().join("include")).arg("-I").arg(stacks().join("shim"));
        compiler.arg(stacks().join("test/exercise.c")).arg(shim).args(libraries).args(["-ldl", "-lpthread"]);
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { folder, program }
    }

    /// Under `wrapper`, a command and its arguments, or by itself.
    fn run(&self, wrapper: &[&str], handshakes: u32) -> Output {
        let authority = Authority::with_key(KeyKind::P256).unwrap();
        let server = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let client = authority.client_with_key("client.test", KeyKind::P256).unwrap();
        let files = [
            ("root", authority.pem()),
            ("chain", server.chain_pem().to_owned()),
            ("key", server.key_pem().to_owned()),
            ("client-chain", client.chain_pem().to_owned()),
            ("client-key", client.key_pem().to_owned()),
        ];
        let paths = files.map(|(name, text)| {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        let mut command = match wrapper {
            [] => Command::new(&self.program),
            [tool, arguments @ ..] => {
                let mut command = Command::new(tool);
                command.args(arguments).arg(&self.program);
                command
            }
        };
        // What the allocator keeps for a thread would be counted as in use.
        command
            .arg(handshakes.to_string())
            .args(paths)
            .env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")
            .output()
            .unwrap()
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn shims_lose_no_memory() {
    if !can_build_plugins() {
        return;
    }
    for (name, ..) in LIBRARIES {
        let output = Exercise::build(name, &[]).run(&[], handshakes());
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
}

#[test]
fn a_shim_that_loses_memory_is_found() {
    if !can_build_plugins() {
        return;
    }
    let leaks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare/hostile.c");
    let output = Exercise::of_shim(&leaks, &["-DLEAKS"], LIBRARIES[0].2).run(&[], 100);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("memory is lost"), "{}", said(&output));
}

#[test]
fn shims_keep_to_their_memory() {
    if !can_build_plugins() {
        return;
    }
    for (name, ..) in LIBRARIES {
        let output = Exercise::build(name, &SANITIZERS).run(&[], 1);
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
}

/// valgrind also sees what the libraries do, whose code is not instrumented: some minutes.
#[test]
#[ignore = "takes minutes: just full"]
fn shims_keep_to_their_memory_under_valgrind() {
    require!("valgrind");
    if !can_build_plugins() {
        return;
    }
    let memcheck = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
    for (name, ..) in LIBRARIES {
        let output = Exercise::build(name, &[]).run(&memcheck, 1);
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
}

//! The library in a project of its own, by CMake and by plain make, as the guide has it.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reprise_harness::posix_server::PosixServer;
use reprise_servers::{missing, require};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of the stacks' sources; `None`, and said so, where one of these programs is missing.
fn sources(needs: &[&str]) -> Option<PathBuf> {
    if let Some(not_run) = needs.iter().copied().find_map(missing) {
        not_run.announce();
        return None;
    }
    let sources = root().join("target/firmware/sources");
    run(Command::new(root().join("firmware/sources/fetch.sh")).arg(&sources).args(["bearssl", "mbedtls3"]));
    Some(sources)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{command:?}: {}{}", said[0], said[1]);
}

fn cmake(project: &Path, build: &Path, settings: &[String]) {
    run(Command::new("cmake").arg("-S").arg(project).arg("-B").arg(build).args(settings));
    run(Command::new("cmake").arg("--build").arg(build).arg("--parallel=2"));
}

#[test]
fn a_project_with_cmake_or_make_has_a_server() {
    let Some(sources) = sources(&["cmake", "make", "cc", "apt-get", "openssl"]) else { return };
    let example = root().join("firmware/example");
    let bearssl = sources.join("bearssl");
    // Where the guide builds it too: it need not be compiled twice.
    let build = root().join("target/firmware/example");
    cmake(&example, &build, &[format!("-DBEARSSL={}", bearssl.display())]);
    serves(&build.join("my_firmware"));

    let folder = tempfile::tempdir().unwrap();
    let by_make = folder.path().join("my_firmware");
    let settings = [("BEARSSL", &bearssl), ("LIBRARY", &build.join("libbearssl.a")), ("OUT", &by_make)];
    let settings = settings.map(|(name, path)| format!("{name}={}", path.display()));
    run(Command::new("make").arg("-C").arg(example).args(settings));
    serves(&by_make);
}

/// A client makes six connections, of which five resume.
fn serves(program: &Path) {
    let server = PosixServer::start(program);
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", &server.address, "-tls1_2", "-reconnect"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    client.stdin.take().unwrap().write_all(b"Q\n").unwrap();
    client.wait().unwrap();
    assert_eq!(server.finish(), "5 hits, 0 misses");
}

/// Every target of the library, with everything that can be switched on, for the Cortex-M0+.
#[test]
fn cmake_builds_the_library_for_a_board() {
    let Some(sources) = sources(&["cmake", "make", "arm-none-eabi-gcc", "apt-get"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let include = |name: &str| sources.join(name).display().to_string();
    let settings = [
        "-DCMAKE_SYSTEM_NAME=Generic".to_owned(),
        "-DCMAKE_C_COMPILER=arm-none-eabi-gcc".to_owned(),
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY".to_owned(),
        "-DCMAKE_C_FLAGS=-mcpu=cortex-m0plus -mthumb -Os -Wall -Wextra -Werror".to_owned(),
        "-DREPRISE_SESSION_TICKETS=ON".to_owned(),
        format!("-DREPRISE_BEARSSL_INCLUDE={}", include("bearssl/inc")),
        format!("-DREPRISE_MBEDTLS_INCLUDE={}", [include("mbedtls3/include"), include("mbedtls3/library")].join(";")),
    ];
    cmake(&root().join("firmware"), folder.path(), &settings);
    for library in ["cache", "server", "bearssl", "mbedtls"] {
        assert!(folder.path().join(format!("libreprise_{library}.a")).is_file(), "{library}");
    }
}

/// What an OpenSSL client says of its connections: `New` and `Reused`, in their order.
fn connections(address: &str, name: &str, options: &[&str]) -> Vec<String> {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", address, "-tls1_2", "-no_ticket", "-servername", name])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    client.stdin.take().unwrap().write_all(b"Q\n").unwrap();
    let said = String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap();
    let kinds = said.lines().filter_map(|line| line.split_once(", TLSv1.2")).map(|(kind, _)| kind.to_owned());
    kinds.collect()
}

/// Programs of their own on BearSSL and Mbed TLS, which take the cache by one call.
#[test]
fn an_existing_context_resumes_under_its_own_name_alone() {
    require!("make", "cc", "openssl", "/usr/include/bearssl.h", "/usr/include/mbedtls/ssl_internal.h");
    for library in ["bearssl", "mbedtls"] {
        let root = root();
        let program = root.join(format!("target/firmware/tests/existing_{library}"));
        run(Command::new("make")
            .arg("-C")
            .arg(root.join("firmware"))
            .arg(format!("../target/firmware/tests/existing_{library}")));
        let keys = root.join("crates/board/keys");
        let mut server = Command::new(program)
            .args([keys.join("p256.crt"), keys.join("p256.key")])
            .arg("8")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
        let address = said.next().unwrap().replace("listening on ", "");
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("session").display().to_string();
        let reconnected = connections(&address, "a.example", &["-reconnect"]);
        assert_eq!(reconnected, ["New", "Reused", "Reused", "Reused", "Reused", "Reused"], "{library}");
        assert_eq!(connections(&address, "a.example", &["-sess_out", &session]), ["New"], "{library}");
        assert_eq!(connections(&address, "b.example", &["-sess_in", &session]), ["New"], "{library}");
        assert_eq!(said.next().unwrap(), "cache: 5 hits, 1 misses", "{library}");
        assert!(server.wait().unwrap().success(), "{library}");
    }
}

/// The ESP8266's core is in no registry: its folder comes from the environment.
#[test]
fn an_esp8266_sketch_compiles_with_the_cache() {
    let Some(core) = std::env::var_os("REPRISE_ESP8266") else {
        let _ = writeln!(std::io::stderr(), "NOT RUN: needs REPRISE_ESP8266, a folder with the ESP8266 core for Arduino");
        return;
    };
    require!("make", "xtensa-lx106-elf-g++", "apt-get");
    let root = root();
    run(Command::new(root.join("firmware/sources/fetch.sh")).arg(root.join("target/firmware/sources")).arg("lwip"));
    let core = format!("ESP8266={}", Path::new(&core).display());
    run(Command::new("make").arg("-C").arg(root.join("firmware")).args(["sketch", &core]));
}

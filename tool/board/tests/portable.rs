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
    let example = root().join("firmware/examples/posix");
    let bearssl = sources.join("bearssl");
    // Where the guide builds it too: it need not be compiled twice.
    let build = root().join("target/firmware/examples/posix");
    cmake(&example, &build, &[format!("-DREPRISE_BEARSSL={}", bearssl.display())]);
    serves(&build.join("my_firmware"));

    let folder = tempfile::tempdir().unwrap();
    let by_make = folder.path().join("my_firmware");
    let settings = [("BEARSSL", &bearssl), ("LIBRARY", &build.join("reprise/libbearssl.a")), ("OUT", &by_make)];
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

/// `cmake --install`, and then a project that knows the library by `find_package` alone.
#[test]
fn an_installed_library_is_found_by_cmake() {
    let Some(sources) = sources(&["cmake", "make", "cc", "apt-get", "openssl"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [build, prefix, project] = ["build", "prefix", "project"].map(|name| folder.path().join(name));
    cmake(&root().join("firmware"), &build, &[format!("-DREPRISE_BEARSSL={}", sources.join("bearssl").display())]);
    run(Command::new("cmake").arg("--install").arg(&build).arg("--prefix").arg(&prefix));
    assert!(prefix.join("share/doc/reprise_firmware/LICENSE-MIT").is_file());
    let found = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    cmake(&root().join("firmware/tests/installed"), &project, &[found]);
    serves(&project.join("my_firmware"));
}

/// pico-sdk is in no registry: its folder comes from the environment.
#[test]
fn a_pico_w_has_an_https_server_in_sixty_lines() {
    let example = root().join("firmware/examples/pico_w");
    let code = |name: &str| {
        let text = std::fs::read_to_string(example.join(name)).unwrap();
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("/*")).count()
    };
    assert!(code("main.c") <= 60, "{}", code("main.c"));
    let Some(sdk) = folder_in("REPRISE_PICO_SDK", "pico-sdk 2.2 with lwip and cyw43-driver in lib") else { return };
    let Some(sources) =
        sources(&["cmake", "arm-none-eabi-gcc", "/usr/lib/arm-none-eabi/newlib/libstdc++_nano.a", "c++", "apt-get"])
    else {
        return;
    };
    let settings = tempfile::tempdir().unwrap();
    let keys = root().join("tool/board/keys");
    let mut credentials = "#define WIFI_NAME \"network\"\n#define WIFI_PASSWORD \"password\"\n".to_owned();
    for (name, file) in [("CERTIFICATE", "p256.crt"), ("KEY", "p256.key")] {
        let pem = std::fs::read_to_string(keys.join(file)).unwrap();
        credentials += &format!("#define {name} {pem:?}\n");
    }
    std::fs::write(settings.path().join("credentials.h"), credentials).unwrap();
    let build = root().join("target/firmware/pico_w");
    let in_sdk = |command: &mut Command| {
        run(command.env("PICO_SDK_PATH", &sdk).env("CPATH", settings.path()));
    };
    // pico-sdk makes UF2 files by picotool, which it fetches where that is missing.
    let chosen = ["-DPICO_NO_PICOTOOL=1", "-DCMAKE_BUILD_TYPE=MinSizeRel"];
    let bearssl = format!("-DREPRISE_BEARSSL={}", sources.join("bearssl").display());
    in_sdk(Command::new("cmake").arg("-S").arg(&example).arg("-B").arg(&build).args(chosen).arg(bearssl));
    in_sdk(Command::new("cmake").arg("--build").arg(&build).arg("--parallel=2"));
    let elf = std::fs::read(build.join("pico_w.elf")).unwrap();
    assert!(elf.starts_with(b"\x7fELF"));
    for part in ["reprise_connection_step", "cyw43_arch_poll", "br_ssl_server_reset"] {
        assert!(elf.windows(part.len()).any(|bytes| bytes == part.as_bytes()), "{part}");
    }
    require!("elf2uf2-rs");
    // What is copied onto the board: blocks of 512 bytes, each with the RP2040's family (github.com/microsoft/uf2).
    let uf2 = build.join("pico_w.uf2");
    run(Command::new("elf2uf2-rs").arg(build.join("pico_w.elf")).arg(&uf2));
    let uf2 = std::fs::read(uf2).unwrap();
    let word = |block: &[u8], at: usize| u32::from_le_bytes(block[at..at + 4].try_into().unwrap());
    assert!(uf2.len() > 600_000 && uf2.len().is_multiple_of(512), "{}", uf2.len());
    for (number, block) in uf2.chunks(512).enumerate() {
        assert_eq!((word(block, 0), word(block, 4), word(block, 508)), (0x0a32_4655, 0x9e5d_5157, 0x0ab1_6f30));
        assert_eq!((word(block, 20), word(block, 24)), (number as u32, (uf2.len() / 512) as u32));
        assert_eq!(word(block, 28), 0xe48b_ff56);
    }
}

/// A folder that the environment names; `None`, and said so, where it does not.
fn folder_in(variable: &str, what: &str) -> Option<std::ffi::OsString> {
    let folder = std::env::var_os(variable);
    if folder.is_none() {
        let _ = writeln!(std::io::stderr(), "NOT RUN: needs {variable}, a folder with {what}");
    }
    folder
}

/// A copy of `firmware` alone says what it is and whose.
#[test]
fn the_library_carries_its_version_and_its_licence() {
    let firmware = root().join("firmware");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("library.properties", format!("version={version}\n")),
        ("library.json", format!("\"version\": \"{version}\",\n")),
        ("src/reprise/version.h", format!("#define REPRISE_VERSION \"{version}\"\n")),
    ] {
        assert!(read(&firmware.join(file)).contains(&line), "{file} has not {line}");
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert_eq!(read(&firmware.join(licence)), read(&root().join(licence)), "{licence}");
    }
    let mut folders = vec![firmware];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if ["c", "h", "cpp", "ino", "ld", "sh"].contains(&kind.as_str()) {
                let first = read(&path).lines().take(2).collect::<String>();
                assert!(first.contains("SPDX-License-Identifier: MIT OR Apache-2.0"), "{}", path.display());
            }
        }
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
        let keys = root.join("tool/board/keys");
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
    let Some(core) = folder_in("REPRISE_ESP8266", "the ESP8266 core for Arduino") else { return };
    require!("make", "xtensa-lx106-elf-g++", "apt-get");
    let root = root();
    run(Command::new(root.join("firmware/sources/fetch.sh")).arg(root.join("target/firmware/sources")).arg("lwip"));
    let core = format!("ESP8266={}", Path::new(&core).display());
    run(Command::new("make").arg("-C").arg(root.join("firmware")).args(["sketch", &core]));
}

//! `reprise session-keys`: files and Secrets of every format, a year of rotations under a clock of the test, kills and full disks.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use k8s_openapi::api::batch::v1::CronJob;
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_servers::{HaProxy, HaProxyConfig, RealServer, require};
use reprise_session::key_file::{KeyFileFormat, KeyFiles};
use reprise_session::{KeyName, KeyRing};
use rustls_pki_types::UnixTime;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_reprise");
const HOUR: u64 = 3600;

fn call(arguments: &[&str], now: Option<u64>, input: &[u8]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("session-keys").args(arguments);
    if let Some(now) = now {
        command.env("REPRISE_SESSION_KEYS_NOW", now.to_string());
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[track_caller]
fn done(arguments: &[&str], now: Option<u64>, input: &[u8]) -> Vec<u8> {
    let output = call(arguments, now, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[track_caller]
fn fails(arguments: &[&str], code: i32, words: &str) {
    let output = call(arguments, None, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(code) && said.contains(words), "{arguments:?}: {} {said}", output.status);
}

fn read(format: KeyFileFormat, path: &Path) -> KeyRing {
    KeyFiles::new(format, [path]).read().unwrap()
}

fn names(ring: &KeyRing) -> Vec<KeyName> {
    let mut names: Vec<_> = ring.keys().map(|key| key.name()).collect();
    names.sort();
    names
}

fn at(second: u64) -> UnixTime {
    UnixTime::since_unix_epoch(std::time::Duration::from_secs(second))
}

#[test]
fn a_mixed_fleet_rotates_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let place = |format: &str, name: &str| format!("{format}:{}", path(name).display());
    let (own, haproxy) = (place("own", "own"), place("haproxy", "haproxy"));
    let (nginx, apache) = (place("nginx", "nginx"), place("apache", "apache"));
    let copies = ["--also", &haproxy, "--also", &nginx, "--also", &apache];
    done(&[&["new", &own, "--period", "12h", "--key-bytes", "48"], &copies[..]].concat(), None, b"");
    let begun = UnixTime::now().as_secs();
    let mut seen = names(&read(KeyFileFormat::Reprise, &path("own")));
    let mut rotations = 0;
    for hour in (0..10 * 24).step_by(3) {
        let now = begun + hour * HOUR;
        done(&[&["rotate", &own], &copies[..]].concat(), Some(now), b"");
        let ring = read(KeyFileFormat::Reprise, &path("own"));
        let encrypts = ring.encryption_key(at(now)).unwrap().name();
        assert!(seen.contains(&encrypts), "it was everywhere before: {hour}");
        for (format, name) in [(KeyFileFormat::Haproxy, "haproxy"), (KeyFileFormat::Nginx, "nginx")] {
            assert_eq!(names(&read(format, &path(name))), names(&ring), "{name} {hour}");
        }
        // What encrypts by its place encrypts by its time: the first for nginx, the only one for Apache, the last but one.
        for file in ["nginx/1-current.key", "apache"] {
            assert_eq!(fs::read(path(file)).unwrap()[..16], encrypts.0, "{file} {hour}");
        }
        assert_eq!(read(KeyFileFormat::Haproxy, &path("haproxy")).keys().nth(1).unwrap().name(), encrypts, "{hour}");
        rotations += usize::from(names(&ring) != seen);
        seen = names(&ring);
    }
    assert_eq!(rotations, 19, "every half day, ten days long, but for the first");
}

#[test]
fn a_running_haproxy_and_the_file_of_envoy_follow() {
    require!("haproxy");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let place = |format: &str, name: &str| format!("{format}:{}", path(name).display());
    let (own, haproxy, envoy) = (place("own", "own"), place("haproxy", "haproxy"), place("envoy", "sds.yaml"));
    let copies = ["--also", &haproxy, "--also", &envoy];
    done(&[&["new", &own, "--period", "12h"], &copies[..]].concat(), None, b"");
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let config = HaProxyConfig {
        bind: format!("tls-ticket-keys {}", path("haproxy").display()),
        global: format!("stats socket {} mode 600 level admin", path("admin").display()),
        ..HaProxyConfig::new(identity)
    };
    let server = HaProxy::start(config).unwrap();
    let session = path("session").display().to_string();
    let s_client = |flag: &str| {
        let address = server.address().to_string();
        let mut client = Command::new("openssl");
        client.args(["s_client", "-tls1_2", "-connect", &address, flag, &session]).stdin(Stdio::null());
        String::from_utf8_lossy(&client.output().unwrap().stdout).into_owned()
    };
    assert!(s_client("-sess_out").contains("New, TLSv1.2"));
    let begun = UnixTime::now().as_secs();
    let socket = place("haproxy-socket", "admin");
    // Twice at a time: nothing is told twice. In the third period the first key is gone.
    for (hour, resumes) in [(0, true), (13, true), (13, true), (25, false)] {
        let now = begun + hour * HOUR;
        done(&[&["rotate", &own, "--also", &socket], &copies[..]].concat(), Some(now), b"");
        let held = ask(&path("admin"), "show tls-keys *");
        let held: Vec<_> = held.lines().filter_map(|line| line.strip_prefix("0.")?.split_once(' ')).collect();
        let lines = fs::read_to_string(path("haproxy")).unwrap();
        assert_eq!(held.iter().map(|(_, key)| *key).collect::<Vec<_>>(), lines.lines().collect::<Vec<_>>(), "{hour}");
        assert_eq!(s_client("-sess_in").contains("Reused"), resumes, "{hour}");
        let ring = read(KeyFileFormat::Envoy, &path("sds.yaml"));
        assert_eq!(names(&ring), names(&read(KeyFileFormat::Reprise, &path("own"))), "{hour}");
        // As Envoy sees it: the first one encrypts.
        let sds: Value = serde_saphyr::from_str(&fs::read_to_string(path("sds.yaml")).unwrap()).unwrap();
        let keys = sds["resources"][0]["session_ticket_keys"]["keys"].as_array().unwrap();
        let encrypts = lines.lines().nth_back(1).unwrap();
        assert_eq!((keys.len(), keys[0]["inline_bytes"].as_str()), (3, Some(encrypts)), "{hour}");
    }
    let without = place("haproxy-socket", "missing");
    fails(&["rotate", &own, "--also", &without], 2, "cannot ask HAProxy at");
    fails(&["rotate", &socket], 2, "HAProxy's socket takes copies of keys");
    fails(&["show", &socket], 2, "HAProxy's socket takes copies of keys");
}

#[test]
fn after_a_leak_all_keys_are_new_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let place = |format: &str, name: &str| format!("{format}:{}", path(name).display());
    let own = place("own", "own");
    let (nginx, apache) = (place("nginx", "nginx"), place("apache", "apache"));
    let copies = ["--also", &nginx, "--also", &apache];
    done(&[&["new", &own, "--period", "12h", "--key-bytes", "48"], &copies[..]].concat(), None, b"");
    let leaked = names(&read(KeyFileFormat::Reprise, &path("own")));
    let now = UnixTime::now().as_secs() + HOUR;
    done(&[&["rotate", &own, "--now"], &copies[..]].concat(), Some(now), b"");
    let ring = read(KeyFileFormat::Reprise, &path("own"));
    assert!(names(&ring).iter().all(|name| !leaked.contains(name)));
    let encrypts = ring.encryption_key(at(now)).unwrap();
    assert_eq!((encrypts.times().not_before, encrypts.material().len()), (at(now), 32), "at once, for Apache too");
    assert_eq!(names(&read(KeyFileFormat::Nginx, &path("nginx"))), names(&ring));
    assert_eq!(fs::read(path("apache")).unwrap()[..16], encrypts.name().0);
    // Its period is what it was: the next rotation is half a day later.
    let kept = names(&ring);
    done(&["rotate", &own], Some(now + 11 * HOUR), b"");
    assert_eq!(names(&read(KeyFileFormat::Reprise, &path("own"))), kept);
    done(&["rotate", &own], Some(now + 12 * HOUR), b"");
    assert_ne!(names(&read(KeyFileFormat::Reprise, &path("own"))), kept);
    // In a Secret too.
    let manifest = done(&["new", "secret-nginx:-"], None, b"");
    let replaced: Value =
        serde_json::from_slice(&done(&["rotate", "secret-nginx:-", "--now"], Some(now), &manifest)).unwrap();
    let before: Value = serde_json::from_slice(&manifest).unwrap();
    for file in ["1-current.key", "2-next.key", "3-previous.key"] {
        assert!(replaced["data"][file].is_string() && replaced["data"][file] != before["data"][file], "{file}");
    }
    // Of keys that another program made nobody knows the period.
    fs::write(path("haproxy"), (1u8..4).map(|seed| line(seed) + "\n").collect::<String>()).unwrap();
    fs::set_permissions(path("haproxy"), fs::Permissions::from_mode(0o600)).unwrap();
    fails(&["rotate", &place("haproxy", "haproxy"), "--now"], 2, "--period");
}

#[test]
fn a_running_haproxy_refuses_leaked_keys_at_once() {
    require!("haproxy", "openssl");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (file, socket) = (path("keys").display().to_string(), path("admin").display().to_string());
    let (place, also) = (format!("haproxy:{file}"), format!("haproxy-socket:{socket}"));
    done(&["new", &place], None, b"");
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let config = HaProxyConfig {
        bind: format!("tls-ticket-keys {file}"),
        global: format!("stats socket {socket} mode 600 level admin"),
        ..HaProxyConfig::new(identity)
    };
    let server = HaProxy::start(config).unwrap();
    let session = path("session").display().to_string();
    let s_client = |flag: &str| {
        let address = server.address().to_string();
        let mut client = Command::new("openssl");
        client.args(["s_client", "-tls1_2", "-connect", &address, flag, &session]).stdin(Stdio::null());
        String::from_utf8_lossy(&client.output().unwrap().stdout).into_owned()
    };
    assert!(s_client("-sess_out").contains("New, TLSv1.2"));
    assert!(s_client("-sess_in").contains("Reused, TLSv1.2"));
    done(&["rotate", &place, "--now", "--also", &also], None, b"");
    assert!(s_client("-sess_in").contains("New, TLSv1.2"));
}

#[test]
fn new_writes_all_of_its_places_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let place = |format: &str, name: &str| format!("{format}:{}", path(name).display());
    let own = place("own", "own");
    let nothing = || {
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // What locks a place stays.
        let left: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
        assert!(left.is_empty(), "{left:?}");
    };
    // Keys of 80 bytes have no room in Apache's file, a folder is missing, no HAProxy is there.
    for (also, words) in [
        (place("apache", "apache"), "more than 48 bytes"),
        (place("haproxy", "missing/keys"), "missing"),
        (place("haproxy-socket", "admin"), "cannot ask HAProxy"),
        ("secret-nginx:-".to_owned(), "a copy of keys goes to a file"),
    ] {
        fails(&["new", &own, "--also", &place("nginx", "nginx"), "--also", &also], 2, words);
        nothing();
        let refused = call(&["new", "secret-nginx:-", "--also", &also], None, b"");
        assert!(refused.status.code() == Some(2) && refused.stdout.is_empty(), "{also}: {refused:?}");
    }
    // Nor are keys replaced that stand at another place.
    done(&["new", &own], None, b"");
    let before = fs::read(path("own")).unwrap();
    fails(&["new", &place("haproxy", "other"), "--also", &own], 2, "--force");
    assert!(!path("other").exists());
    assert_eq!(fs::read(path("own")).unwrap(), before);
}

#[test]
fn a_place_that_fails_keeps_no_other_from_its_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let place = |format: &str, name: &str| format!("{format}:{}", path(name).display());
    let (own, haproxy) = (place("own", "own"), place("haproxy", "haproxy"));
    done(&["new", &own, "--also", &haproxy], None, b"");
    let leaked = names(&read(KeyFileFormat::Reprise, &path("own")));
    fails(&["rotate", &own, "--now", "--also", &place("haproxy", "missing/keys"), "--also", &haproxy], 2, "missing");
    let ring = names(&read(KeyFileFormat::Haproxy, &path("haproxy")));
    assert_eq!(ring, names(&read(KeyFileFormat::Reprise, &path("own"))));
    assert!(ring.iter().all(|name| !leaked.contains(name)));
}

fn ask(socket: &Path, command: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    writeln!(stream, "{command}").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

#[test]
fn show_lists_periods_and_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let place = format!("haproxy:{}", path.display());
    done(&["new", &place], None, b"");
    let page = String::from_utf8(done(&["show", &place], None, b"")).unwrap();
    let uses: Vec<_> = page.lines().map(|line| line.split_whitespace().nth(3).unwrap()).collect();
    assert_eq!(uses, ["decrypts", "encrypts", "next"], "{page}");
    for key in read(KeyFileFormat::Haproxy, &path).keys() {
        assert!(page.contains(&format!("{:?}", key.name())));
        let hex: String = key.material().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert!(!page.contains(&hex));
    }
    assert!(fs::read_to_string(&path).unwrap().lines().all(|line| !page.contains(&line[24..40])));
    // Three days later nothing of it is of use.
    let late = call(&["show", &place], Some(UnixTime::now().as_secs() + 72 * HOUR), b"");
    assert_eq!(late.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&late.stderr).contains("rotate the keys"));
}

#[test]
fn what_would_lose_keys_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("own:{}", folder.path().join("keys").display());
    done(&["new", &place], None, b"");
    fails(&["new", &place], 2, "--force");
    fails(&["new", "own:/nonexistent/keys"], 2, "/nonexistent");
    fails(&["rotate", "apache:/tmp/key"], 2, "room for one key");
    fails(&["rotate", "own:/nonexistent/keys"], 2, "/nonexistent");
    fails(&["new", "nginx"], 2, "FORMAT:PATH");
    fails(&["new", &place, "--period", "59m"], 2, "1h to 720h");
    fails(&["rotate", "secret-nginx:-"], 2, "no JSON");
    let apache = format!("apache:{}", folder.path().join("apache").display());
    fails(&["new", &apache], 2, "more than 48 bytes");
    assert!(!folder.path().join("apache").exists());
}

#[test]
fn keys_that_another_program_made_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let lines: String = (1u8..4).map(|seed| line(seed) + "\n").collect();
    fs::write(&path, lines).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let place = format!("haproxy:{}", path.display());
    fails(&["rotate", &place], 2, "--period");
    let now = UnixTime::now().as_secs();
    let before = read(KeyFileFormat::Haproxy, &path).encryption_key(at(now)).unwrap().name();
    done(&["rotate", &place, "--period", "1h"], Some(now), b"");
    let ring = read(KeyFileFormat::Haproxy, &path);
    assert_eq!(ring.keys().nth(1).unwrap().name(), before, "it goes on for a period");
    assert_eq!(ring.encryption_key(at(now)).unwrap().name(), before);
    assert_ne!(ring.encryption_key(at(now + HOUR)).unwrap().name(), before);
}

/// 80 bytes in base64, different in each 16.
fn line(seed: u8) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..106).map(|index| ALPHABET[(index * 7 + usize::from(seed)) % 64] as char).chain("A=".chars()).collect()
}

#[test]
fn keys_survive_rotations_that_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("haproxy", KeyFileFormat::Haproxy), ("nginx", KeyFileFormat::Nginx)] {
        let path = folder.path().join(name);
        let place = format!("{name}:{}", path.display());
        done(&["new", &place], None, b"");
        let mut now = UnixTime::now().as_secs();
        for micros in (0..40_000).step_by(1000) {
            now += 24 * HOUR;
            let mut command = Command::new(PROGRAM);
            command.args(["session-keys", "rotate", &place]).env("REPRISE_SESSION_KEYS_NOW", now.to_string());
            let mut child = command.spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_micros(micros));
            let _ = child.kill();
            child.wait().unwrap();
            assert_eq!(read(format, &path).keys().count(), 3, "{name} after {micros} µs");
        }
        done(&["rotate", &place], Some(now + 24 * HOUR), b"");
        assert!(read(format, &path).encryption_key(at(now + 24 * HOUR)).is_some());
    }
}

#[test]
fn the_cron_job_rotates_a_secret_for_a_year() {
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../session/examples/kubernetes/session-keys.yaml"),
    );
    let text = text.unwrap();
    let job: CronJob = serde_saphyr::from_str(text.rsplit("---\n").next().unwrap()).unwrap();
    let pod = job.spec.unwrap().job_template.spec.unwrap().template.spec.unwrap();
    let container = pod.containers.first().unwrap();
    let command: Vec<String> = [container.command.clone().unwrap(), container.args.clone().unwrap()].concat();

    // `kubectl` of the test: a file in the place of the cluster, which counts versions as the cluster does.
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("secret.json");
    let kubectl = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\ncase \"$1 $2 $3\" in\n\
        'get secret session-keys') cat secret.json;;\n\
        'replace -f -') cat >next.json && mv next.json secret.json;;\n\
        *) echo \"$*\" >&2; exit 1;;\nesac\n";
    script(folder.path().join("kubectl"), kubectl);
    std::os::unix::fs::symlink(PROGRAM, folder.path().join("reprise")).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());

    let manifest = done(&["new", "secret-nginx:-", "--name", "session-keys", "--namespace", "web"], None, b"");
    let mut secret: Value = serde_json::from_slice(&manifest).unwrap();
    secret["metadata"]["resourceVersion"] = "4711".into();
    fs::write(&stored, secret.to_string()).unwrap();
    let begun = UnixTime::now().as_secs();
    let mut known = names(&mount(&stored, folder.path()));
    let mut rotations = 0;
    // Once a day, and now and then half a day late.
    for day in 1..365 {
        let now = begun + day * 24 * HOUR + if day % 20 == 0 { 12 * HOUR } else { 0 };
        let mut run = Command::new(&command[0]);
        run.args(&command[1..]).env("PATH", &path).env("REPRISE_SESSION_KEYS_NOW", now.to_string());
        assert!(run.status().unwrap().success(), "{day}");
        let ring = mount(&stored, folder.path());
        assert!(known.contains(&ring.encryption_key(at(now)).unwrap().name()), "{day}");
        rotations += usize::from(names(&ring) != known);
        known = names(&ring);
    }
    assert_eq!(rotations, 364);
    let secret: Value = serde_json::from_slice(&fs::read(&stored).unwrap()).unwrap();
    assert_eq!(secret["metadata"]["resourceVersion"], "4711", "replace compares it");
    assert_eq!(secret["metadata"]["namespace"], "web");
    let shown = done(&["show", "secret-nginx:-"], Some(begun + 365 * 24 * HOUR), &fs::read(&stored).unwrap());
    assert_eq!(String::from_utf8(shown).unwrap().lines().count(), 3);
}

fn script(path: PathBuf, text: &str) {
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The Secret's files, as the kubelet would mount them.
fn mount(stored: &Path, folder: &Path) -> KeyRing {
    let secret: k8s_openapi::api::core::v1::Secret = serde_json::from_slice(&fs::read(stored).unwrap()).unwrap();
    let mounted = folder.join("mounted");
    let _ = fs::remove_dir_all(&mounted);
    fs::create_dir(&mounted).unwrap();
    for (name, content) in secret.data.unwrap() {
        fs::write(mounted.join(&name), content.0).unwrap();
        fs::set_permissions(mounted.join(&name), fs::Permissions::from_mode(0o440)).unwrap();
    }
    read(KeyFileFormat::Nginx, &mounted)
}

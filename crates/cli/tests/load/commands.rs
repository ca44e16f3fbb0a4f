//! What is refused, what is counted, and what several results make together.

use std::path::Path;
use std::time::SystemTime;

use reprise_lab::{Authority, ClientAuth, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec, Validity};
use reprise_servers::MisbehavingServer;
use serde_json::Value;

use crate::harness::{command, count, document, in_a_network_of_its_own, reprise, server, sum, text, warns};

#[test]
fn a_target_elsewhere_is_refused_until_its_owner_agrees() {
    // RFC 5737 §3: an address that is nobody's.
    let refused = reprise(&["load", "192.0.2.1:443", "-n", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--i-may-load-this-target"), "{}", text(&refused.stderr));
}

#[test]
fn what_cannot_be_is_a_usage_error() {
    for arguments in [
        &["load"][..],
        &["load", "127.0.0.1:1", "--mix", "id"],
        &["load", "127.0.0.1:1", "--mix", "psk"],
        &["load", "127.0.0.1:1", "--step", "p99=1s"],
        &["load", "127.0.0.1:1", "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256"],
        &["load", "127.0.0.1:1", "--tls", "1.2", "--groups", "X25519MLKEM768"],
        &["load", "127.0.0.1:1", "--verify", "--key-shares", "reused"],
        &["load", "127.0.0.1:1", "--start-at", "1"],
        &["load", "127.0.0.1:1", "--json", "/nowhere/at/all.json"],
        &["report", "--merge", "/nowhere/at/all.json"],
    ] {
        assert_eq!(reprise(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn the_rates_of_the_kinds_make_the_rate() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    let shape = ["--duration", "300ms", "-c", "32", "--mix", "full=1,ticket=1", "--json", json.to_str().unwrap()];
    let output = reprise(&[&["load", &address], &shape[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rate = &document(&json)["rate"];
    let mut sum = 0.0;
    for kind in ["full", "ticket"] {
        let mean = rate["mean_by_kind"][kind].as_f64().unwrap();
        let row = text(&output.stdout).lines().find(|line| line.starts_with(kind)).unwrap();
        assert!(row.ends_with(&format!(" {mean:.1}")), "what ended after the time that counts is in no rate: {row}");
        sum += mean;
    }
    assert!((sum - rate["mean"].as_f64().unwrap()).abs() < 1e-6, "{rate}");
}

#[test]
fn a_search_says_what_was_to_be_held_and_at_which_rate_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    // Far beyond what one place after the other can serve, on any machine.
    let shape = ["-c", "1", "--rate", "200000", "--step", "p90=30s", "--duration", "400ms"];
    let output = reprise(&[&["load", &address, "--json", json.to_str().unwrap()], &shape[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document = document(&json);
    assert_eq!(document["asked"]["step"], serde_json::json!({"quantile": 0.9, "latency_ns": 30_000_000_000_u64}));
    let highest = document["asked"]["rate"].as_f64().unwrap();
    let said = format!("p90 within 30.0 s: held at {highest:.1} connections/s, not at ");
    assert!(text(&output.stdout).contains(&said), "{said}: {}", text(&output.stdout));
    assert!(text(&output.stderr).contains("--rate 200000.0  is tried"), "{}", text(&output.stderr));
    let steps = document["steps"].as_array().unwrap();
    let figure = |step: &Value, name: &str| step[name].as_f64().unwrap();
    let [first, second] = [&steps[0], &steps[1]];
    assert!(figure(first, "not_started") > 0.0 && figure(first, "errors") == 0.0, "{first}");
    // From what it served of the first, and not by halves from two hundred thousand.
    assert!(figure(second, "rate") <= figure(first, "held"), "{first} {second}");
    for step in steps.iter().filter(|step| step["passed"] == true) {
        assert!(figure(step, "samples") >= 30.0, "a rate is judged by no fewer: {step}");
    }
}

#[test]
fn a_kind_that_was_asked_for_and_never_seen_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let server = server();
    let address = server.address().to_string();
    for (count, is_told) in [("4", true), ("40", false)] {
        // The first four begin before any has brought a ticket.
        let shape = ["-c", "4", "--mix", "ticket", "-n", count, "--json", json.to_str().unwrap()];
        let output = reprise(&[&["load", &address], &shape[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let document = document(&json);
        let says = "no connection was resumed by ticket: 4 had no session to offer, and 0 offered one";
        assert_eq!(warns(&document, says), is_told, "{}", document["warnings"]);
        let primed = document["primed"].as_u64().unwrap();
        let fact = format!("{primed} full handshakes for lack of one, 0 refused");
        assert!(text(&output.stdout).contains(&fact), "{}", text(&output.stdout));
    }
}

#[test]
fn a_name_that_does_not_resolve_is_exit_status_3() {
    // RFC 6761 §6.4: a name that never resolves.
    let output = reprise(&["load", "nowhere.invalid:443", "-n", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    for words in ["cannot resolve nowhere.invalid", "--resolve"] {
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}

#[test]
fn the_first_address_that_accepts_is_loaded() {
    reprise_servers::require!("openssl", "ip");
    // Whatever order the system prefers, for one of the two servers the first address is the other's, where nobody listens.
    // RFC 5737 §3: the third is nobody's, which nobody has allowed to be loaded.
    let script = r#"
        printf '%s both.example\n' 192.0.2.1 127.0.0.1 127.0.0.2 > hosts
        serve openssl s_server -accept 127.0.0.1:8443 -cert "$certificate" -key "$key" -www -quiet
        openssl s_server -accept 127.0.0.2:8444 -cert "$certificate" -key "$key" -www -quiet < /dev/null > second.log 2>&1 &
        until grep -q ':20FC 00000000:0000 0A' /proc/net/tcp; do kill -0 $!; done
        for port in 8443 8444; do
            unshare --mount bash -c 'mount --bind hosts /etc/hosts && exec "$@"' bash \
                "$reprise" load both.example:$port -n 5 -c 1 --json $port.json
        done
    "#;
    let directory = tempfile::tempdir().unwrap();
    let Some(output) = in_a_network_of_its_own(directory.path(), script) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for (port, address) in [("8443", "127.0.0.1"), ("8444", "127.0.0.2")] {
        let document = document(&directory.path().join(format!("{port}.json")));
        assert_eq!(document["target"]["address"], address);
        assert_eq!((count(&document, "completed", "full"), sum(&document, "errors")), (5, 0), "{}", document["errors"]);
        let title = format!("https://both.example:{port}/ at {address} under load");
        assert!(text(&output.stdout).contains(&title), "{}", text(&output.stdout));
    }
}

#[test]
fn a_query_stands_nowhere_in_a_result() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("load.json");
    let target = format!("{}/a?token=secret", server().address());
    reprise(&["load", &target, "-n", "1", "--json", json.to_str().unwrap()]);
    assert_eq!(document(&json)["target"]["path"], "/a?<hidden>");
    assert!(!std::fs::read_to_string(&json).unwrap().contains("secret"));
}

#[test]
fn what_names_nothing_is_refused_before_anything_is_sent() {
    let server = server();
    let address = server.address().to_string();
    for (flags, says) in [
        (&["--start-at", "18446744073709551615"][..], "--start-at"),
        (&["--start-at", "4000000000000"], "milliseconds"),
        (&["--server-pid", "4194305"], "no such process"),
        (&["--server-pid", "0"], "no such process"),
        (&["--pin", "0,1023"], "1023"),
        (&["--rate", "10", "--step", "pNaN=1s"], "p99=20ms"),
    ] {
        let output = reprise(&[&["load", &address, "--duration", "100ms"][..], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(says), "{flags:?}: {}", text(&output.stderr));
    }
    assert_eq!(server.accounts().len(), 0);
}

#[test]
fn a_server_that_completes_nothing_is_exit_status_3() {
    let server = MisbehavingServer::closing().unwrap();
    let output = reprise(&["load", &server.address().to_string(), "-n", "3"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("3"), "the results are kept");
    // So it is where nothing but the warm-up was made, whose failures are in no other figure.
    let address = server.address().to_string();
    let output = reprise(&["load", &address, "--warmup", "200ms", "--duration", "1ms", "--timeout", "5s"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("failed with closed_early"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("0 completed, "), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("of the warm-up failed"), "{}", text(&output.stdout));
}

#[test]
fn the_group_that_a_server_wants_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let identity = Authority::new().unwrap().server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let groups = vec![reprise_lab::NamedGroup::secp384r1];
    let server = EmbeddedServer::start(EmbeddedConfig { groups, ..EmbeddedConfig::new(identity) }).unwrap();
    let json = directory.path().join("load.json");
    let address = server.address().to_string();
    let output = reprise(&["load", &address, "-n", "9", "-c", "1", "--json", json.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("the server requests secp384r1"), "{}", text(&output.stdout));
    let document = document(&json);
    assert_eq!((&document["wanted_group"], &document["errors"]["hello_retry_request"]), (&"secp384r1".into(), &1.into()));
    let output = reprise(&["load", &address, "-n", "9", "--groups", "secp384r1,x25519", "--json", json.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document = self::document(&json);
    assert_eq!((&document["wanted_group"], &document["completed"]["full"]), (&Value::Null, &9.into()));
}

/// The second at which generators that are started now can begin together.
fn soon() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    (now.as_secs() + 2).to_string()
}

/// The files that they are to write.
fn results_of(directory: &Path, generators: usize) -> Vec<String> {
    (0..generators).map(|number| directory.join(format!("{number}.json")).to_str().unwrap().to_owned()).collect()
}

#[test]
fn several_processes_make_one_result() {
    let directory = tempfile::tempdir().unwrap();
    let server = server();
    let (address, start) = (server.address().to_string(), soon());
    let files = results_of(directory.path(), 3);
    let shape = ["-d", "3s", "-c", "1", "--mix", "full=1,ticket=3", "--start-at", &start];
    let running: Vec<_> = files
        .iter()
        .map(|file| command(&[&["load", &address, "--json", file], &shape[..]].concat()).spawn().unwrap())
        .collect();
    for process in running {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let counts = |document: &Value, kind: &str| document["completed"][kind].as_u64().unwrap_or_default();
    let parts: Vec<Value> = files.iter().map(|file| document(Path::new(file))).collect();
    let merged_file = directory.path().join("merged.json");
    let mut arguments = vec!["report", "--merge", "--json", merged_file.to_str().unwrap()];
    arguments.extend(files.iter().map(String::as_str));
    let output = reprise(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("3 generators"), "{}", text(&output.stdout));
    let merged = document(&merged_file);
    for kind in ["full", "ticket"] {
        assert_eq!(counts(&merged, kind), parts.iter().map(|part| counts(part, kind)).sum::<u64>(), "{kind}");
    }
    let completed = counts(&merged, "full") + counts(&merged, "ticket");
    // The server's own account is the witness.
    assert_eq!(server.accounts().len() as u64, completed + merged["late"].as_u64().unwrap());

    let foreign = directory.path().join("foreign.json");
    let version = std::fs::read_to_string(&files[0]).unwrap().replace("reprise.load/1", "reprise.load/9");
    std::fs::write(&foreign, version).unwrap();
    let refused = reprise(&["report", "--merge", &files[1], foreign.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--merge needs results of load"), "{}", text(&refused.stderr));

    let shown = reprise(&["report", merged_file.to_str().unwrap(), "--csv", "-"]);
    let csv = text(&shown.stdout);
    assert!(csv.starts_with("second,kind,completed,phase,"), "{csv}");
    let seconds = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()).filter(|row| !row[0].is_empty());
    let sum: u64 = seconds.map(|row| row[2].parse::<u64>().unwrap()).sum();
    assert_eq!(sum, completed);
}

#[test]
fn results_of_one_load_after_the_other_are_not_merged() {
    let directory = tempfile::tempdir().unwrap();
    let server = server();
    let address = server.address().to_string();
    let files = results_of(directory.path(), 2);
    for file in &files {
        let output = reprise(&["load", &address, "-d", "200ms", "-c", "2", "--json", file]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let refused = reprise(&["report", "--merge", &files[0], &files[1]]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stdout));
    for words in ["of their time", "0 % of their time", "--start-at"] {
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    }
}

#[test]
fn a_certificate_that_is_refused_is_told_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let spec = ServerSpec::new(KeyKind::P256);
    let expired = ServerSpec { validity: Validity::Expired, ..spec.clone() };
    let json = directory.path().join("load.json");
    let roots = directory.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let strangers = directory.path().join("strangers.pem");
    std::fs::write(&strangers, Authority::new().unwrap().pem()).unwrap();
    for (spec, host, roots, name, reason) in [
        (&expired, "localhost", &roots, "certificate_expired", "has expired"),
        (&spec, "localhost", &strangers, "unknown_issuer", "signed by no trusted root"),
        (&spec, "other.example", &roots, "certificate_wrong_name", "is not valid for other.example"),
    ] {
        let server = EmbeddedServer::start(EmbeddedConfig::new(authority.server(spec).unwrap())).unwrap();
        let target = format!("{host}:{}", server.address().port());
        let verify = ["--verify", "--ca", roots.to_str().unwrap(), "--resolve", "127.0.0.1"];
        let load = ["load", &target, "-n", "3", "-c", "1", "--json", json.to_str().unwrap()];
        let output = reprise(&[&load[..], &verify].concat());
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        let document = document(&json);
        assert_eq!(count(&document, "errors", name), 3, "{}", document["errors"]);
        let told = document["error_reasons"][name].as_str().unwrap();
        assert!(
            told.contains(reason) && warns(&document, &format!("3 × {name}: {told}")),
            "{told} {}",
            document["warnings"]
        );
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
}

#[test]
fn a_closed_loop_says_whose_time_its_latencies_are() {
    let server = server();
    let address = server.address().to_string();
    let page = |shape: &[&str]| {
        let output = reprise(&[&["load", &address, "-d", "200ms", "-q"], shape].concat());
        text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let closed = page(&["-c", "8", "--mix", "full=1,ticket=1"]);
    assert!(closed.contains("In a closed loop connections") && closed.contains("use a --rate below "), "{closed}");
    assert!(!page(&["--rate", "20"]).contains("closed loop"));
}

#[test]
fn a_server_that_requires_client_certificates_is_verified() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let identity = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
    let client_auth = ClientAuth::Required(authority.certificate().clone());
    let server = EmbeddedServer::start(EmbeddedConfig { client_auth, ..EmbeddedConfig::new(identity) }).unwrap();
    let address = format!("localhost:{}", server.address().port());
    let files = authority.client("client.example").unwrap().write_pem(directory.path(), "client").unwrap();
    let roots = directory.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    let [certificate, key, roots] = [&files.certificate, &files.key, &roots].map(|path| path.to_str().unwrap());
    let json = directory.path().join("load.json");
    let load = ["load", &address, "--resolve", "127.0.0.1", "-n", "12", "-c", "3", "--json", json.to_str().unwrap()];
    for version in ["1.2", "1.3"] {
        let with_version = [&load[..], &["--tls", version]].concat();
        let shown = [&with_version[..], &["--cert", certificate, "--key", key, "--verify", "--ca", roots]].concat();
        let output = reprise(&shown);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(document(&json)["completed"]["full"], 12, "{version}");
        assert_eq!(document(&json)["asked"]["verify"], true);
        // Who only shows a certificate verifies none.
        let output = reprise(&[&with_version[..], &["--cert", certificate, "--key", key]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(document(&json)["asked"]["verify"], false);
        // Nothing to show: refused, whatever the server's Finished said before.
        let output = reprise(&with_version);
        assert_eq!(output.status.code(), Some(3), "{version}: {}", text(&output.stderr));
        assert_eq!(document(&json)["completed"], serde_json::json!({}), "{version}");
    }
}

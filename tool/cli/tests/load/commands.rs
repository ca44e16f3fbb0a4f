//! What is refused, what is counted, and what several results make together.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use reprise_harness::{Lab, Reprise};
use reprise_lab::{Authority, ClientAuthRequest, EmbeddedConfig, EmbeddedServer, KeyKind, ServerSpec, Validity};
use reprise_servers::MisbehavingServer;
use serde_json::Value;

use crate::load::harness::{count, document, document_in, in_a_network_of_its_own, server, sum, warns};

#[test]
fn the_rates_of_the_kinds_make_the_rate() {
    let server = server();
    let outcome = Reprise::load(server.address()).flags("--duration 300ms -c 32 --mix full=1,ticket=1").run().exits(0);
    let rate = &document(&outcome)["rate"];
    let mut sum = 0.0;
    for kind in ["full", "ticket"] {
        let mean = rate["mean_by_kind"][kind].as_f64().unwrap();
        let row = outcome.page.lines().find(|line| line.starts_with(kind)).unwrap();
        assert!(row.ends_with(&format!(" {mean:.1}")), "what ended after the time that counts is in no rate: {row}");
        sum += mean;
    }
    assert!((sum - rate["mean"].as_f64().unwrap()).abs() < 1e-6, "{rate}");
}

#[test]
fn a_search_says_what_was_to_be_held_and_at_which_rate_it_was() {
    let server = server();
    // Far beyond what one place after the other can serve, on any machine.
    let flags = "-c 1 --rate 200000 --step p90=30s --duration 400ms";
    let outcome = Reprise::load(server.address()).flags(flags).run().exits(0);
    let document = document(&outcome);
    assert_eq!(document["asked"]["step"], serde_json::json!({"quantile": 0.9, "latency_ns": 30_000_000_000_u64}));
    let highest = document["asked"]["rate"].as_f64().unwrap();
    let outcome = outcome.shows(&[&format!("p90 within 30.0 s: held at {highest:.1} connections/s, not at ")]);
    assert!(outcome.stderr.contains("--rate 200000.0  is tried"), "{}", outcome.stderr);
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
    let server = server();
    for (count, is_told) in [(4, true), (40, false)] {
        // The first four begin before any has brought a ticket.
        let outcome = Reprise::load(server.address()).count(count).flags("-c 4 --mix ticket").run().exits(0);
        let document = document(&outcome);
        let says = "no connection was resumed by ticket: 4 had no session to offer, and 0 offered one";
        assert_eq!(warns(&document, says), is_told, "{}", document["warnings"]);
        let primed = document["primed"].as_u64().unwrap();
        outcome.shows(&[&format!("{primed} full handshakes for lack of one, 0 refused")]);
    }
}

#[test]
fn a_name_that_does_not_resolve_is_exit_status_3() {
    // RFC 6761 §6.4: a name that never resolves.
    let outcome = Reprise::line("load nowhere.invalid:443 -n 1").run().exits(3);
    outcome.says(&["cannot resolve nowhere.invalid", "--resolve"]);
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
    let Some(mut outcome) = in_a_network_of_its_own(directory.path(), script) else { return };
    for (port, address) in [("8443", "127.0.0.1"), ("8444", "127.0.0.2")] {
        let document = document_in(&directory.path().join(format!("{port}.json")));
        assert_eq!(document["target"]["address"], address);
        assert_eq!((count(&document, "completed", "full"), sum(&document, "errors")), (5, 0), "{}", document["errors"]);
        outcome = outcome.shows(&[&format!("https://both.example:{port}/ at {address} under load")]);
    }
}

#[test]
fn a_query_stands_nowhere_in_a_result() {
    let outcome = Reprise::load(format!("{}/a?token=secret", server().address())).count(1).run();
    assert_eq!(document(&outcome)["target"]["path"], "/a?<hidden>");
    assert!(!outcome.json.unwrap().contains("secret"));
}

#[test]
fn what_names_nothing_is_refused_before_anything_is_sent() {
    let server = server();
    let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    for (flags, says) in [
        ("--start-at 18446744073709551615", "--start-at"),
        ("--start-at 4000000000000", "milliseconds"),
        ("--server-pid 4194305", "no such process"),
        ("--server-pid 0", "no such process"),
        (&format!("--server-pid {} --plan 100", std::process::id()), "has started reprise itself"),
        (&format!("--server-pid {} --plan 100", stranger.id()), "listens on port"),
        ("--pin 0,1023", "1023"),
        ("--rate 10 --step pNaN=1s", "p99=20ms"),
    ] {
        Reprise::load(server.address()).flags("--duration 100ms").flags(flags).run().exits(2).says(&[says]);
    }
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert_eq!(server.accounts().len(), 0);
}

#[test]
fn a_server_that_completes_nothing_is_exit_status_3() {
    let server = MisbehavingServer::closing().unwrap();
    // The results are kept.
    Reprise::load(server.address()).count(3).run().exits(3).shows(&["3"]);
    // So it is where nothing but the warm-up was made, whose failures are in no other figure.
    let outcome = Reprise::load(server.address()).flags("--warmup 200ms --duration 1ms --timeout 5s").run().exits(3);
    outcome.says(&["failed with closed_early"]).shows(&["0 completed, ", "of the warm-up failed"]);
}

#[test]
fn a_port_that_nobody_serves_is_given_up() {
    let given_up = |address| Reprise::load(address).flags("--duration 10m -c 4").run().exits(3);
    let plain = MisbehavingServer::plain_http().unwrap();
    given_up(plain.address()).says(&["failed with not_tls (the peer does not speak TLS)", "--starttls"]);
    let closed = plain.address();
    drop(plain);
    given_up(closed).says(&["failed with connection_refused (the connection was refused)", "check the port"]);
}

#[test]
fn the_group_that_a_server_wants_is_named() {
    let server = Lab::new().server_with(|config| config.groups = vec![reprise_lab::NamedGroup::secp384r1]);
    let load = |flags| Reprise::load(server.address()).count(9).flags(flags).run().exits(0);
    let result = document(&load("-c 1").shows(&["the server requests secp384r1"]));
    assert_eq!((&result["wanted_group"], &result["errors"]["hello_retry_request"]), (&"secp384r1".into(), &1.into()));
    let result = document(&load("--groups secp384r1,x25519"));
    assert_eq!((&result["wanted_group"], &result["completed"]["full"]), (&Value::Null, &9.into()));
}

/// The second at which generators that are started now can begin together.
fn soon() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    (now.as_secs() + 2).to_string()
}

/// The files that they are to write.
fn results_of(directory: &Path, generators: usize) -> Vec<PathBuf> {
    (0..generators).map(|number| directory.join(format!("{number}.json"))).collect()
}

/// `reprise load`, whose result goes to this file.
fn load_into(file: &Path, server: &EmbeddedServer, flags: &str) -> Reprise {
    Reprise::new(["load", &server.address().to_string(), "--json"]).arg(file).flags(flags)
}

#[test]
fn several_processes_make_one_result() {
    let directory = tempfile::tempdir().unwrap();
    let server = server();
    let files = results_of(directory.path(), 3);
    let flags = format!("-d 3s -c 1 --mix full=1,ticket=3 --start-at {}", soon());
    let running: Vec<_> = files.iter().map(|file| load_into(file, &server, &flags).start()).collect();
    for process in running {
        process.finish().exits(0);
    }
    let counts = |document: &Value, kind: &str| document["completed"][kind].as_u64().unwrap_or_default();
    let parts: Vec<Value> = files.iter().map(|file| document_in(file)).collect();
    let merged_file = directory.path().join("merged.json");
    let merge = Reprise::line("report --merge --json").arg(&merged_file).args(&files);
    merge.run().exits(0).shows(&["3 generators"]);
    let merged = document_in(&merged_file);
    for kind in ["full", "ticket"] {
        assert_eq!(counts(&merged, kind), parts.iter().map(|part| counts(part, kind)).sum::<u64>(), "{kind}");
    }
    let completed = counts(&merged, "full") + counts(&merged, "ticket");
    // The server's own account is the witness.
    assert_eq!(server.accounts().len() as u64, completed + merged["late"].as_u64().unwrap());

    let foreign = directory.path().join("foreign.json");
    let version = std::fs::read_to_string(&files[0]).unwrap().replace("reprise.load/1", "reprise.load/9");
    std::fs::write(&foreign, version).unwrap();
    let refused = Reprise::line("report --merge").arg(&files[1]).arg(&foreign).run();
    refused.exits(2).says(&["--merge needs results of load"]);

    let csv = Reprise::line("report --csv -").arg(&merged_file).run().page;
    assert!(csv.starts_with("second,kind,completed,phase,"), "{csv}");
    let seconds = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()).filter(|row| !row[0].is_empty());
    let sum: u64 = seconds.map(|row| row[2].parse::<u64>().unwrap()).sum();
    assert_eq!(sum, completed);
}

#[test]
fn results_of_one_load_after_the_other_are_not_merged() {
    let directory = tempfile::tempdir().unwrap();
    let server = server();
    let files = results_of(directory.path(), 2);
    for file in &files {
        load_into(file, &server, "-d 200ms -c 2").run().exits(0);
    }
    let refused = Reprise::line("report --merge").args(&files).run().exits(2);
    refused.says(&["of their time", "0 % of their time", "--start-at"]);
}

#[test]
fn a_certificate_that_is_refused_is_told_with_its_reason() {
    let lab = Lab::new();
    let spec = ServerSpec::new(KeyKind::P256);
    let expired = ServerSpec { validity: Validity::Expired, ..spec.clone() };
    let strangers = lab.file("strangers.pem", Authority::new().unwrap().pem());
    for (spec, host, roots, name, reason) in [
        (&expired, "localhost", &lab.ca(), "certificate_expired", "has expired"),
        (&spec, "localhost", &strangers, "unknown_issuer", "signed by no trusted root"),
        (&spec, "other.example", &lab.ca(), "certificate_wrong_name", "is not valid for other.example"),
    ] {
        let server = EmbeddedServer::start(EmbeddedConfig::new(lab.authority.server(spec).unwrap())).unwrap();
        let load = Reprise::load(format!("{host}:{}", server.address().port())).arg("--ca").arg(roots);
        let outcome = load.flags("--verify --resolve 127.0.0.1 -n 3 -c 1").run().exits(3).says(&[reason]);
        let document = document(&outcome);
        assert_eq!(count(&document, "errors", name), 3, "{}", document["errors"]);
        let told = document["error_reasons"][name].as_str().unwrap();
        let is_warned = warns(&document, &format!("3 × {name}: {told}"));
        assert!(told.contains(reason) && is_warned, "{told} {}", document["warnings"]);
    }
}

#[test]
fn a_closed_loop_says_whose_time_its_latencies_are() {
    let server = server();
    let load = |flags| Reprise::load(server.address()).flags("-d 200ms -q").flags(flags).run();
    load("-c 8 --mix full=1,ticket=1").shows(&["In a closed loop connections", "use a --rate below "]);
    assert!(!load("--rate 20").page.split_whitespace().collect::<Vec<_>>().join(" ").contains("closed loop"));
}

#[test]
fn a_server_that_requires_client_certificates_is_verified() {
    let lab = Lab::new();
    let server =
        lab.server_with(|config| config.client_auth = ClientAuthRequest::Required(lab.authority.certificate().clone()));
    let files = lab.client("client.example");
    for version in ["1.2", "1.3"] {
        let load = || {
            let load = Reprise::load(format!("localhost:{}", server.address().port()));
            load.flags("--resolve 127.0.0.1 -n 12 -c 3 --tls").arg(version)
        };
        let authenticated = || load().arg("--cert").arg(&files.certificate).arg("--key").arg(&files.key);
        let verified = document(&authenticated().arg("--verify").arg("--ca").arg(lab.ca()).run().exits(0));
        assert_eq!((&verified["completed"]["full"], &verified["asked"]["verify"]), (&12.into(), &true.into()), "{version}");
        // Who only shows a certificate verifies none.
        let unverified = document(&authenticated().run().exits(0));
        assert_eq!(unverified["asked"]["verify"], false);
        // Nothing to show: refused, whatever the server's Finished said before.
        let refused = document(&load().run().exits(3));
        assert_eq!(refused["completed"], serde_json::json!({}), "{version}");
    }
}

//! Against the embedded lab, which permits every level.

use super::{layers, plugins, row, skipped};

/// From the dearest on.
const LEVELS: [&str; 7] = ["run", "lib", "libctx", "ctx", "bio", "ssl", "msg"];

#[track_caller]
fn every_level(flags: &str, resumed: &str) {
    let Some(folder) = plugins::folder() else { return };
    let call = layers("-n 6 --stacks openssl,rustls-ring --plugins").arg(folder).flags(flags);
    let (document, outcome) = call.run_for_json();
    outcome.exits(0);
    for (level, sessions) in LEVELS.into_iter().flat_map(|level| [(level, false), (level, true)]) {
        let row = row(&document, "openssl", level, sessions);
        let kind = if sessions { resumed } else { "full" };
        assert_eq!(row["requests"], 6, "{level}");
        assert_eq!(row["handshakes"], if level == "msg" { 0 } else { 6 }, "{level}");
        assert_eq!(row["kinds"], serde_json::json!({kind: 6}), "{level}, sessions: {sessions}");
        assert_eq!((&row["refused"], &row["not_offered"]), (&0.into(), &0.into()), "{level}");
        assert!(row["cpu_ns"]["median_ns"].as_u64() > Some(0) && row["wall_ns"]["median_ns"].as_u64() > Some(0));
    }
    let load = row(&document, "openssl", "load", false);
    assert_eq!((&load["handshakes"], &load["kinds"]), (&0.into(), &serde_json::json!({})));
    for level in ["ssl", "bio", "msg"] {
        assert_eq!(row(&document, "rustls-ring", level, true)["kinds"], serde_json::json!({resumed: 6}), "{level}");
    }
    // rustls offers a session only under the configuration that it is of: nobody is said to have refused it.
    let ctx = row(&document, "rustls-ring", "ctx", true);
    assert_eq!((&ctx["not_offered"], &ctx["refused"]), (&6.into(), &0.into()), "{ctx:#}");
    assert_eq!(skipped(&document, "rustls-ring", "run").0, "unsupported");
    let steps = document["differences"].as_array().unwrap().iter();
    let of_openssl = steps.filter(|it| it["stack"] == "openssl" && it["sessions"] == false);
    let steps: Vec<_> = of_openssl.map(|it| (it["from"].as_str().unwrap(), it["to"].as_str().unwrap())).collect();
    assert_eq!(steps, [("run", "lib"), ("lib", "ctx"), ("ctx", "bio"), ("bio", "ssl"), ("ssl", "msg")]);
    assert_eq!(document["generators"][0]["stack"], "openssl");
    let claims = document["claims"].as_array().unwrap();
    let sessions = claims.iter().find(|it| it["stack"] == "openssl" && it["claim"].as_str().unwrap().contains("sessions"));
    assert_eq!(sessions.unwrap()["verdict"], "refuted");
    assert_eq!(document["advice"].as_array().unwrap().len(), 2);
}

#[test]
fn every_level_of_tls13_is_observed() {
    every_level("--tls 1.3", "ticket");
}

#[test]
fn every_level_of_tls12_resumes_by_ticket() {
    every_level("--tls 1.2 --method GET", "ticket");
}

#[test]
fn every_level_of_tls12_resumes_by_id() {
    every_level("--tls 1.2 --kind id", "id");
}

#[test]
fn a_stack_speaks_its_newest_version() {
    let Some(folder) = plugins::without_tls13() else { return };
    let call = || layers("-n 2 --levels ctx,bio --stacks mbedtls,rustls-ring --plugins").arg(folder.path());
    let (known, _) = call().run_for_json();
    let version = |stack| row(&known, stack, "bio", true)["tls"].clone();
    assert_eq!((version("mbedtls"), version("rustls-ring")), ("1.2".into(), "1.3".into()));
    let (asked, _) = call().args(["--tls", "1.3"]).run_for_json();
    assert!(asked["rows"].as_array().unwrap().iter().all(|row| row["stack"] == "rustls-ring"), "{asked:#}");
    let lacks = asked["skipped"].as_array().unwrap().iter().find(|it| it["stack"] == "mbedtls").unwrap();
    assert_eq!((&lacks["outcome"], &lacks["reason"]), (&"unsupported".into(), &"Mbed TLS has no TLS 1.3".into()));
}

#[test]
fn a_delay_is_in_every_connection() {
    let (document, _) = layers("-n 6 --levels bio,msg --stacks rustls-ring --delay 10ms").run_for_json();
    let least = |level| row(&document, "rustls-ring", level, false)["wall_ns"]["min_ns"].as_u64().unwrap();
    // To connect, to shake hands, to ask, to take leave; and to ask alone.
    assert!(least("bio") >= 4 * 20_000_000 && least("msg") >= 20_000_000, "{document:#}");
    assert_eq!(document["delay_ns"], 10_000_000);
}

#[test]
fn a_crash_is_one_level() {
    let Some(plugins) = plugins::folder() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare/hostile.c");
    let crashes = folder.path().join("crashes.so");
    plugins::plugin(&source, &crashes, &["-DCRASHES"]);
    let call = layers("-n 6 --levels load,lib,ctx,msg --stacks crashes,rustls-ring --plugin").arg(&crashes);
    let (document, outcome) = call.arg("--plugins").arg(plugins).run_for_json();
    outcome.exits(0);
    // It crashes where it takes leave, so that loading it is measured.
    assert_eq!(row(&document, "crashes", "load", false)["requests"], 6);
    for level in ["lib", "ctx"] {
        assert_eq!(skipped(&document, "crashes", level).0, "crashed");
    }
    assert_eq!(row(&document, "rustls-ring", "msg", true)["requests"], 6);
}

/// GnuTLS would do it while it is loaded, where no figure of `lib` has it.
#[test]
fn a_library_is_initialised_by_init_and_not_by_the_loader() {
    let request = "host=127.0.0.1 port=1 request=x trust=/dev/null timeout=500 version=772 server_name=localhost";
    let request: Vec<&str> = request.split(' ').collect();
    let Some(initialised) = plugins::log_of_gnutls("request", &request) else { return };
    assert!(initialised.contains("Enabled GnuTLS"), "{initialised}");
    assert_eq!(plugins::log_of_gnutls("load", &[]).unwrap(), "");
}

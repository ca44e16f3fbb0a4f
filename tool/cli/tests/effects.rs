//! Every flag says something: it is read in each run of its command, or refused where it would say nothing. The table names the places
//! where it would; the flags are those of the guide's page of the command line, which clap's definitions write.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::collections::BTreeSet;
use std::path::Path;

use reprise_harness::Reprise;

/// A command, and the flags that are read in each of its runs.
const READ_EACH_TIME: &[(&str, &str)] = &[
    (
        "measure",
        "tls kinds count connections rate seed server-software psk-mode psk-identity session-in session-out no-request method path header ca \
         insecure cert sni alpn ciphers groups like resolve ipv4 ipv6 starttls proxy proxy-protocol timeout baseline server-pid fail-if every",
    ),
    (
        "trace",
        "tls kind count pcap psk-mode psk-identity session-in session-out no-request method path header ca insecure cert sni alpn ciphers \
         groups like resolve ipv4 ipv6 starttls proxy proxy-protocol timeout",
    ),
    (
        "diagnose",
        "together isolation listen tls connections rate max-time experiments server-software no-request method path header ca \
                  insecure cert sni alpn ciphers groups like resolve ipv4 ipv6 starttls proxy proxy-protocol timeout fail-if targets-from",
    ),
    (
        "load",
        "i-may-load-this-target connections rate stage ramp warmup duration count sweep mix requests method path header starttls \
         proxy-protocol close tls ciphers groups like sni alpn key-shares verify insecure cert threads pin server-pid start-at resolve timeout \
         fail-if",
    ),
    ("explain", ""),
    ("board", "stacks keys groups suites current clock runs requests matrix quick listen firmware images"),
    (
        "compare",
        "stacks keys tls groups suites records over crossed threads samples quick instructions seed timeout rtt baseline fail-if plugin",
    ),
    (
        "layers",
        "levels stacks tls kind count seed timeout delay method ca capath server-key client-key cas ca-directory plugin",
    ),
    ("speed", "algorithms stacks no-software no-floor over samples quick seed timeout plugin"),
    ("stacks", "timeout plugin"),
    ("stacks check", "timeout"),
    ("stacks install", "sources into"),
    ("session-keys", ""),
    ("session-keys new", "also period key-bytes"),
    ("session-keys rotate", "also period now"),
    ("session-keys show", ""),
    ("report", "merge"),
    ("completions", ""),
    ("man", ""),
];

/// Those that say nothing somewhere: each command line here is one such place, and is refused.
const REFUSED_WHERE_UNREAD: &[(&str, &str, &[&str])] = &[
    ("measure", "psk-key", &["measure NOWHERE --psk-key 00"]),
    ("measure", "psk-key-file", &["measure NOWHERE --psk-key-file a"]),
    ("measure", "psk-hash", &["measure NOWHERE --psk-hash sha256"]),
    ("measure", "psk-mode", &["measure NOWHERE --tls 1.2 --psk-mode both"]),
    ("measure", "ticket-requests", &["measure NOWHERE --tls 1.2 --ticket-requests 4"]),
    ("measure", "session-passphrase-file", &["measure NOWHERE --session-passphrase-file a"]),
    ("measure", "session-in", &["measure --session-in a"]),
    ("measure", "session-out", &["measure --session-out a"]),
    (
        "measure",
        "server-software",
        &["measure --server-software nginx", "measure NOWHERE --every 1s --server-software nginx"],
    ),
    ("measure", "server-pid", &["measure --server-pid 1"]),
    ("measure", "starttls", &["measure --starttls smtp"]),
    ("measure", "proxy", &["measure --proxy http://a:1"]),
    ("measure", "proxy-protocol", &["measure --proxy-protocol v1"]),
    ("measure", "method", &["measure NOWHERE --no-request --method HEAD", "measure NOWHERE --starttls smtp --method HEAD"]),
    ("measure", "path", &["measure NOWHERE --no-request --path /a", "measure NOWHERE --starttls smtp --path /a"]),
    ("measure", "header", &["measure NOWHERE --no-request --header a:b", "measure NOWHERE --starttls smtp --header a:b"]),
    ("measure", "ticket-wait", &["measure NOWHERE --ticket-wait 1s"]),
    ("measure", "connections", &["measure NOWHERE --no-request --connections keepalive"]),
    ("measure", "key", &["measure NOWHERE --key a"]),
    ("measure", "ech-grease", &["measure NOWHERE --tls 1.2 --ech-grease", "measure NOWHERE --like chrome --ech-grease"]),
    ("measure", "repeats", &["measure NOWHERE --repeats 2"]),
    ("measure", "metrics", &["measure NOWHERE --metrics 127.0.0.1:1"]),
    ("trace", "psk-key", &["trace NOWHERE --psk-key 00"]),
    ("trace", "psk-key-file", &["trace NOWHERE --psk-key-file a"]),
    ("trace", "psk-hash", &["trace NOWHERE --psk-hash sha256"]),
    ("trace", "psk-identity", &["trace --psk-identity a --psk-key 00"]),
    ("trace", "ticket-requests", &["trace NOWHERE --tls 1.2 --ticket-requests 4"]),
    ("trace", "session-passphrase-file", &["trace NOWHERE --session-passphrase-file a"]),
    ("trace", "ticket-wait", &["trace NOWHERE --ticket-wait 1s"]),
    ("trace", "key", &["trace NOWHERE --key a"]),
    ("trace", "ech-grease", &["trace NOWHERE --tls 1.2 --ech-grease"]),
    ("diagnose", "all-addresses", &["diagnose NOWHERE --all-addresses"]),
    ("diagnose", "fill", &["diagnose --together NOWHERE NOWHERE --fill 1", "diagnose --isolation NOWHERE --fill 1"]),
    ("diagnose", "burst", &["diagnose --together NOWHERE NOWHERE --burst 9", "diagnose --isolation NOWHERE --burst 9"]),
    (
        "diagnose",
        "patience",
        &["diagnose --together NOWHERE NOWHERE --patience 1s", "diagnose --isolation NOWHERE --patience 1s"],
    ),
    (
        "diagnose",
        "server-pid",
        &["diagnose --together NOWHERE NOWHERE --server-pid 1", "diagnose --isolation NOWHERE --server-pid 1"],
    ),
    ("diagnose", "together", &["diagnose --together --isolation NOWHERE NOWHERE"]),
    ("diagnose", "ftp-user", &["diagnose NOWHERE --ftp-user a", "diagnose NOWHERE --starttls smtp --ftp-user a"]),
    ("diagnose", "name", &["diagnose NOWHERE --name a"]),
    ("diagnose", "for", &["diagnose NOWHERE --for 1s"]),
    ("diagnose", "ticket-wait", &["diagnose NOWHERE --ticket-wait 1s"]),
    ("diagnose", "key", &["diagnose NOWHERE --key a"]),
    ("diagnose", "ech-grease", &["diagnose NOWHERE --tls 1.2 --ech-grease"]),
    ("load", "spread", &["load NOWHERE --spread poisson"]),
    ("load", "seed", &["load NOWHERE --rate 5 --seed 3"]),
    ("load", "step", &["load NOWHERE --step p99=1s"]),
    ("load", "plan", &["load NOWHERE --plan 5"]),
    ("load", "share", &["load NOWHERE --share 5"]),
    ("load", "gap", &["load NOWHERE --gap 1s"]),
    ("load", "cores", &["load NOWHERE --cores 1"]),
    ("load", "sessions", &["load NOWHERE --sessions 5"]),
    ("load", "reuse-tickets", &["load NOWHERE --reuse-tickets", "load NOWHERE --tls 1.2 --mix ticket --reuse-tickets"]),
    ("load", "method", &["load NOWHERE --requests 0 --method HEAD", "load NOWHERE --starttls smtp --method HEAD"]),
    ("load", "path", &["load NOWHERE --requests 0 --path /a"]),
    ("load", "header", &["load NOWHERE --requests 0 --header a:b"]),
    ("load", "ca", &["load NOWHERE --ca a"]),
    ("load", "key", &["load NOWHERE --key a"]),
    ("load", "ech-grease", &["load NOWHERE --tls 1.2 --ech-grease"]),
    ("explain", "what-if", &["explain nagle --what-if rtt=1ms"]),
    ("explain", "server-stack", &["explain nagle --server-stack a"]),
    ("explain", "certificates", &["explain nagle --certificates 1"]),
    ("explain", "plugin", &["explain nagle --plugin a.so"]),
    ("board", "voltage", &["board --voltage 3V"]),
    ("board", "current", &["board --listen 127.0.0.1:0 --current 8mA"]),
    ("board", "clock", &["board --listen 127.0.0.1:0 --clock 48MHz"]),
    ("board", "runs", &["board --listen 127.0.0.1:0 --runs 2"]),
    ("board", "requests", &["board --listen 127.0.0.1:0 --requests 2"]),
    ("board", "groups", &["board --listen 127.0.0.1:0 --groups x25519"]),
    ("board", "suites", &["board --listen 127.0.0.1:0 --suites ECDHE-RSA-AES128-GCM-SHA256"]),
    ("compare", "resume", &["compare full --resume"]),
    ("compare", "bandwidth", &["compare full --bandwidth 1mbit"]),
    ("compare", "loss", &["compare full --loss 1%"]),
    ("compare", "initcwnd", &["compare full --initcwnd 4"]),
    ("compare", "rtt", &["compare full --over loopback --rtt 1ms", "compare throughput --rtt 1ms"]),
    ("compare", "instructions", &["compare memory --instructions"]),
    ("layers", "kind", &["layers NOWHERE --tls 1.3 --kind id"]),
    ("layers", "cert", &["layers --cert a"]),
    ("layers", "key", &["layers NOWHERE --key a"]),
    ("layers", "server-key", &["layers NOWHERE --server-key p-384"]),
    ("layers", "client-key", &["layers NOWHERE --client-key p-384"]),
    ("layers", "encrypted", &["layers --encrypted"]),
    ("layers", "cas", &["layers NOWHERE --cas 2", "layers --ca a --cas 2"]),
    ("layers", "ca-directory", &["layers NOWHERE --ca-directory", "layers --ca a --ca-directory"]),
    ("speed", "over", &["speed --no-floor --over loopback"]),
    ("stacks", "json", &["stacks --json a check rustls-aws-lc", "stacks --json a install"]),
    ("stacks install", "timeout", &["stacks install --timeout 1s"]),
    ("stacks", "plugin", &["stacks --plugin a.so install"]),
    ("session-keys new", "name", &["session-keys new own:/nonexistent/a --name a"]),
    ("session-keys new", "namespace", &["session-keys new own:/nonexistent/a --namespace a"]),
    ("session-keys new", "force", &["session-keys new secret-own:- --force"]),
    ("report", "experiments", &["report --merge --experiments a.json b.json"]),
];

/// Beside `--listen` the client makes the connections.
const NOT_BESIDE_LISTEN: &[&str] = &[
    "--tls 1.3",
    "--alpn h2",
    "--groups x25519",
    "--like go",
    "--ech-grease",
    "--ciphers ECDHE-RSA-AES128-GCM-SHA256",
    "--patience 1s",
    "--fill 5",
    "--burst 9",
    "--rate 5",
    "--sni a.test",
    "--proxy http://a:1",
    "--proxy-protocol v1",
    "--timeout 1s",
    "--max-time 1s",
    "--connections 5",
    "--together",
    "--all-addresses",
    "--isolation",
    "--targets-from a",
    "--ftp-user a",
    "--server-pid 1",
    "--server-software nginx",
    "--no-request",
    "--ticket-wait 1s",
    "--method HEAD",
    "--path /a",
    "--header a:b",
    "--ca a",
    "--insecure",
    "--resolve 127.0.0.1",
    "--ipv4",
    "--ipv6",
];
/// These say something of the server that clients come to, or of the result.
const BESIDE_LISTEN: &str = "listen name for cert key starttls experiments fail-if";

/// Formats, and what each command has: they change what is shown.
const SHOWN: &[&str] = &["verbose", "json", "csv", "markdown", "html", "har", "sarif", "junit", "quiet", "color", "plugins"];

/// Each command of the page, with its flags' long names.
fn flags_of_commands() -> Vec<(String, BTreeSet<String>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/20-command-line.md");
    let mut commands: Vec<(String, BTreeSet<String>)> = Vec::new();
    for line in std::fs::read_to_string(page).unwrap().lines() {
        if let Some(command) = line.strip_prefix("## reprise ") {
            commands.push((command.to_owned(), BTreeSet::new()));
        }
        // "| `-X`, `--method METHOD` | what it does |"
        let cell = line.strip_prefix("| `").and_then(|rest| rest.split(" | ").next());
        let flag = cell.and_then(|cell| cell.split([' ', '`']).find_map(|word| word.strip_prefix("--")));
        if let (Some((_, flags)), Some(flag)) = (commands.last_mut(), flag) {
            flags.insert(flag.to_owned());
        }
    }
    commands
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_owned)
}

#[test]
fn every_flag_is_in_the_table_and_nothing_else_is() {
    for (command, flags) in flags_of_commands() {
        let read = READ_EACH_TIME.iter().filter(|(of, _)| *of == command).flat_map(|(_, flags)| words(flags));
        let refused = REFUSED_WHERE_UNREAD.iter().filter(|(of, ..)| *of == command).map(|(_, flag, _)| (*flag).to_owned());
        let known: BTreeSet<String> = read.chain(refused).collect();
        let own: BTreeSet<String> = flags.into_iter().filter(|flag| !SHOWN.contains(&flag.as_str())).collect();
        let own: BTreeSet<String> =
            if command == "stacks" { own.into_iter().chain(["json".to_owned()]).collect() } else { own };
        assert_eq!(known, own, "{command}: where does each flag say something, and where is it refused?");
    }
}

#[test]
fn a_flag_that_would_say_nothing_is_refused() {
    for line in REFUSED_WHERE_UNREAD.iter().flat_map(|(.., lines)| *lines) {
        assert_refused(line);
    }
    for flag in NOT_BESIDE_LISTEN {
        assert_refused(&format!("diagnose --listen 0 {flag} -- true"));
    }
}

#[test]
fn flags_of_diagnose_are_refused_beside_listen_or_speak() {
    let (_, flags) = flags_of_commands().into_iter().find(|(command, _)| command == "diagnose").unwrap();
    let refused = NOT_BESIDE_LISTEN.iter().filter_map(|flag| flag.split(' ').next()?.strip_prefix("--")).map(str::to_owned);
    let known: BTreeSet<String> = refused.chain(words(BESIDE_LISTEN)).collect();
    let own: BTreeSet<String> = flags.into_iter().filter(|flag| !SHOWN.contains(&flag.as_str())).collect();
    assert_eq!(known, own);
}

#[track_caller]
fn assert_refused(line: &str) {
    let line = line.replace("NOWHERE", "127.0.0.1:1");
    let outcome = Reprise::without_plugins("").args(line.split(' ')).run();
    assert_eq!((outcome.code, outcome.page.as_str()), (2, ""), "{line}: {}", outcome.stderr);
}

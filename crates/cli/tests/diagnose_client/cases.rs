//! Each client program, and what has to be found of it.

use reprise_trace::document::{Confidence, Severity};

use crate::programs::Programs;

/// One way in which a client program connects.
pub(crate) struct Case {
    pub(crate) software: &'static str,
    /// Its own word for the way.
    pub(crate) name: &'static str,
    /// For the table in the guide.
    pub(crate) does: &'static str,
    /// Names beside localhost.
    pub(crate) names: &'static [&'static str],
    pub(crate) command: fn(&Programs) -> Vec<String>,
    /// The program's text.
    pub(crate) source: &'static str,
    pub(crate) expected: Expected,
}

pub(crate) enum Expected {
    /// No fault and no risk, and it resumes.
    Healthy,
    /// This, and nothing else that is certain.
    Found {
        id: &'static str,
        severity: Severity,
        confidence: Confidence,
        /// A piece of the remedy that is code, and the case of this software that has it.
        remedy: Option<(&'static str, &'static str)>,
    },
}

use Confidence::{Certain, Likely, Possible};
use Severity::{Fault, Note, Risk};

const fn found(id: &'static str, severity: Severity, confidence: Confidence) -> Expected {
    Expected::Found { id, severity, confidence, remedy: None }
}

/// With the remedy as code, and where it stands.
const fn fixed(
    id: &'static str,
    severity: Severity,
    confidence: Confidence,
    code: &'static str,
    right: &'static str,
) -> Expected {
    Expected::Found { id, severity, confidence, remedy: Some((code, right)) }
}

macro_rules! cases {
    ($($software:literal, $source:expr => { $($name:literal, $does:literal, $names:expr, $command:expr, $expected:expr;)* })*) => {
        pub(crate) const CASES: &[Case] = &[$($(Case {
            software: $software,
            name: $name,
            does: $does,
            names: $names,
            command: $command,
            source: $source,
            expected: $expected,
        },)*)*];
    };
}

const A_B: &[&str] = &["a.test", "b.test"];
const A_B_C: &[&str] = &["a.test", "b.test", "c.test"];

cases! {
    "curl", "" => {
        "one-process", "one process, several URLs", &[], |_| shell("curl -s -H 'Connection: close' {url} {url} {url} {url}"),
            Expected::Healthy;
        "processes", "a process for each URL", &[], |_| shell("curl -s {url}; curl -s {url}; curl -s {url}"),
            found("client-config-rebuilt", Note, Certain);
        "no-sessionid", "`--no-sessionid`", &[],
            |_| shell("curl -s --no-sessionid -H 'Connection: close' {url} {url} {url} {url}"),
            fixed("client-never-offers", Fault, Likely, "--no-sessionid", "one-process");
    }
    "OpenSSL", "" => {
        "sess_out", "`s_client -sess_in FILE -sess_out FILE`", &[],
            |it| s_client(it, "c -sess_out $s; c -sess_in $s -sess_out $s; c -sess_in $s -sess_out $s"), Expected::Healthy;
        "reconnect-tls12", "`s_client -tls1_2 -reconnect`", &[],
            |_| shell("openssl s_client -connect {address}:{port} -tls1_2 -reconnect"), Expected::Healthy;
        "reconnect", "`s_client -tls1_3 -reconnect`", &[],
            |_| shell("openssl s_client -connect {address}:{port} -tls1_3 -reconnect"),
            found("client-closes-early", Fault, Likely);
        "same-session", "`s_client -sess_in FILE` twice", &[],
            |it| s_client(it, "c -sess_out $s; c -sess_in $s; c -sess_in $s"), found("client-reuses-ticket", Risk, Certain);
        "servername", "`s_client -sess_in FILE -servername ANOTHER`", A_B,
            |it| s_client(it, "c -servername a.test -sess_out $s; c -servername b.test -sess_in $s"),
            found("sni-differs", Risk, Certain);
        "cipher", "`s_client -tls1_2 -sess_in FILE -cipher ANOTHER`", &[],
            |it| s_client(it, "c -tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256 -sess_out $s; \
                c -tls1_2 -cipher ECDHE-ECDSA-AES256-GCM-SHA384 -sess_in $s"),
            found("suite-differs", Risk, Certain);
        "ems", "`s_client -tls1_2 -sess_in FILE` without extended master secret", &[],
            |it| s_client(it, "printf \"openssl_conf=a\\n[a]\\nssl_conf=b\\n[b]\\nsystem_default=c\\n[c]\\nOptions=-ExtendedMasterSecret\\n\" > $s.conf; \
                c -tls1_2 -sess_out $s; OPENSSL_CONF=$s.conf c -tls1_2 -sess_in $s"),
            found("ems-differs", Fault, Certain);
        "alpn", "`s_client -sess_in FILE -alpn ANOTHER`", &[],
            |it| s_client(it, "c -alpn http/1.1 -sess_out $s; c -alpn http/1.1,h2 -sess_in $s"),
            found("alpn-differs", Note, Certain);
        "early_data", "`s_client -early_data FILE`", &[],
            |it| s_client(it, "c -sess_out $s; printf \"$r\" > $s.request; c -sess_in $s -early_data $s.request"),
            found("early-data-offered", Note, Certain);
    }
    "Python", include_str!("clients/client.py") => {
        "right", "`wrap_socket(session=…)`, a session for each host", A_B,
            |_| python("right", "a.test b.test a.test b.test a.test"), Expected::Healthy;
        "tls12", "the same under TLS 1.2", &[], |_| python("tls12", "localhost localhost localhost"), Expected::Healthy;
        "never", "`wrap_socket` without `session`", &[], |_| python("never", "localhost localhost localhost localhost"),
            fixed("client-never-offers", Fault, Likely,
                "context.wrap_socket(sock, server_hostname=host, session=saved)", "right");
        "rebuild", "a new `SSLContext` after every second connection", &[],
            |_| python("rebuild", "localhost localhost localhost localhost"), found("client-config-rebuilt", Fault, Likely);
        "close-early", "`connection.close()` right after the handshake", &[],
            |_| python("close-early", "localhost localhost localhost"),
            found("client-closes-early", Fault, Likely);
        "reuse", "the first connection's session for all others", &[],
            |_| python("reuse", "localhost localhost localhost"), found("client-reuses-ticket", Risk, Certain);
        "one-for-all", "one session for all hosts", A_B, |_| python("one-for-all", "a.test b.test a.test b.test"),
            fixed("sni-differs", Risk, Certain, "sessions[", "right");
        "versions", "two contexts with different versions", &[], |_| python("versions", "localhost localhost"),
            found("version-differs", Risk, Likely);
    }
    "Node", include_str!("clients/client.js") => {
        "right", "`tls.connect` with `session`", &[], |_| node("right"), Expected::Healthy;
        "agent", "one `https.Agent`", &[], |_| node("agent"), Expected::Healthy;
        "never", "`tls.connect` without `session`", &[], |_| node("never"),
            fixed("client-never-offers", Fault, Possible, "session: saved", "right");
        "agent-rebuilt", "an `https.Agent` for each request", &[], |_| node("agent-rebuilt"),
            fixed("client-never-offers", Fault, Possible, "new https.Agent({ keepAlive: true, maxCachedSessions: 100 })", "agent");
        "agent-at-once", "one `https.Agent`, requests at once", &[], |_| node("agent-at-once"),
            found("client-reuses-ticket", Risk, Certain);
    }
    "Go", include_str!("clients/client.go") => {
        "right", "`ClientSessionCache` shared", A_B_C, |it| go(it, "right", "a.test a.test b.test c.test a.test b.test c.test"),
            Expected::Healthy;
        "no-cache", "no `ClientSessionCache`, the default", &[], |it| go(it, "no-cache", "localhost localhost localhost"),
            fixed("client-never-offers", Fault, Certain, "tls.NewLRUClientSessionCache(64)", "right");
        "rebuild", "a new `tls.Config` for each request", &[],
            |it| go(it, "rebuild", "localhost localhost localhost localhost localhost localhost"),
            found("client-config-rebuilt", Fault, Likely);
        "cache-of-one", "`NewLRUClientSessionCache(1)` for three hosts", A_B_C,
            |it| go(it, "cache-of-one", "a.test a.test b.test c.test a.test b.test c.test a.test b.test c.test"),
            fixed("client-cache-small", Fault, Likely, "tls.NewLRUClientSessionCache(", "right");
        "at-once", "requests at once", &[], |it| go(it, "at-once", "localhost localhost localhost localhost localhost"),
            found("client-reuses-ticket", Risk, Certain);
    }
    "Java", include_str!("clients/Client.java") => {
        "right", "one `SSLContext`", &[], |it| java(it, "right"), Expected::Healthy;
        "rebuild", "an `SSLContext` for each connection", &[], |it| java(it, "rebuild"),
            found("client-config-rebuilt", Fault, Likely);
        "at-once", "connections at once", &[], |it| java(it, "at-once"), found("tickets-run-out", Risk, Likely);
    }
    "GnuTLS", "" => {
        "resume", "`gnutls-cli --resume --waitresumption`", &[],
            |_| shell("gnutls-cli --resume --waitresumption --x509cafile {ca} --port {port} localhost < /dev/null"), Expected::Healthy;
    }
    "rustls", include_str!("rustls_client.rs") => {
        "right", "one `ClientConfig`", &[], |_| rustls(), Expected::Healthy;
        "rebuild", "a `ClientConfig` for each connection", &[], |_| rustls(),
            fixed("client-config-rebuilt", Fault, Possible, "Arc::clone(&config)", "right");
        "at-once", "more connections at once than tickets", &[], |_| rustls(), found("tickets-run-out", Risk, Likely);
    }
    "Reprise", "" => {
        "psk_ke", "`--psk-mode psk_ke`", &[], |_| {
            let reprise = env!("CARGO_BIN_EXE_reprise");
            words(&format!("{reprise} measure {{url}} --ca {{ca}} --tls 1.3 --kinds full --count 2 --psk-mode psk_ke"))
        }, found("client-psk-mode", Fault, Certain);
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// `c OPTIONS` is one request by s_client; `$s` a file for a session, `$r` the request.
fn s_client(programs: &Programs, script: &str) -> Vec<String> {
    let session = programs.file("session.pem");
    shell(&format!(
        "s={session}; r='GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n'
        c() {{ printf \"$r\" | openssl s_client -quiet -ign_eof -connect {{address}}:{{port}} \"$@\"; }}
        {script}; true"
    ))
}

fn python(way: &str, names: &str) -> Vec<String> {
    words(&format!("python3 {} {way} {{ca}} {{address}} {{port}} {names}", Programs::client("client.py")))
}

fn node(way: &str) -> Vec<String> {
    words(&format!("node {} {way} {{ca}} {{host}} {{port}}", Programs::client("client.js")))
}

fn go(programs: &Programs, way: &str, names: &str) -> Vec<String> {
    words(&format!("{} {way} {{ca}} {{address}} {{port}} {names}", programs.go()))
}

fn java(programs: &Programs, way: &str) -> Vec<String> {
    words(&format!(
        "java -Xshare:auto -XX:TieredStopAtLevel=1 -cp {} Client {way} {{ca}} {{host}} {{port}}",
        programs.java()
    ))
}

/// This test's own program, as [`crate::rustls_client`] tells.
fn rustls() -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    words(&format!("{} --exact rustls_client::acts_as_client --ignored --nocapture {{ca}}", program.to_str().unwrap()))
}

//! Each client program, and what has to be found of it.

use reprise_model::document::{Confidence, Severity};

use crate::diagnose_client::programs::Programs;

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
        /// Where the remedy belongs.
        fix: Option<Fix>,
    },
}

/// Where a remedy belongs in a program or command.
#[derive(Clone, Copy)]
pub(crate) struct Fix {
    /// What stands there instead.
    pub(crate) fault: &'static str,
    /// How the remedy begins, among those for the software.
    pub(crate) remedy: &'static str,
}

use Confidence::{Certain, Likely, Possible};
use Severity::{Fault, Note, Risk};

const fn found(id: &'static str, severity: Severity, confidence: Confidence) -> Expected {
    Expected::Found { id, severity, confidence, fix: None }
}

/// The remedy that begins so takes the place of what stands in the program.
const fn fixed(
    id: &'static str,
    severity: Severity,
    confidence: Confidence,
    fault: &'static str,
    remedy: &'static str,
) -> Expected {
    Expected::Found { id, severity, confidence, fix: Some(Fix { fault, remedy }) }
}

macro_rules! cases {
    ($($software:literal => { $($name:literal, $does:literal, $names:expr, $command:expr, $expected:expr;)* })*) => {
        pub(crate) const CASES: &[Case] = &[$($(Case {
            software: $software,
            name: $name,
            does: $does,
            names: $names,
            command: $command,
            expected: $expected,
        },)*)*];
    };
}

const A_B: &[&str] = &["a.test", "b.test"];
const A_B_C: &[&str] = &["a.test", "b.test", "c.test"];

cases! {
    "curl" => {
        "one-process", "one process, several URLs", &[], |_| shell("curl -s -H 'Connection: close' {url} {url} {url} {url}"),
            Expected::Healthy;
        "processes", "a process for each URL", &[], |_| shell("curl -s {url}; curl -s {url}; curl -s {url}"),
            fixed("client-config-rebuilt", Note, Certain, "curl -s {url}; curl -s {url}; curl -s {url}", "curl URL1 URL2");
        "no-sessionid", "`--no-sessionid`", &[],
            |_| shell("curl -s --no-sessionid -H 'Connection: close' {url} {url} {url} {url}"),
            fixed("client-never-offers", Fault, Likely, " --no-sessionid", "leave out --no-sessionid");
    }
    "libcurl" => {
        "handles", "a handle for each transfer", &[], |it| words(&format!("{} {{ca}} {{url}}", it.c("libcurl.c", &["-lcurl"]))),
            fixed("client-never-offers", Fault, Possible, "// Shares nothing.", "curl_share_setopt(");
    }
    "OpenSSL" => {
        "sess_out", "`s_client -sess_in FILE -sess_out FILE`", &[],
            |it| s_client(it, "c -sess_out $s; c -sess_in $s -sess_out $s; c -sess_in $s -sess_out $s"), Expected::Healthy;
        "reconnect-tls12", "`s_client -tls1_2 -reconnect`", &[],
            |_| shell("openssl s_client -connect {address} -tls1_2 -reconnect"), Expected::Healthy;
        "reconnect", "`s_client -tls1_3 -reconnect`", &[],
            |_| shell("openssl s_client -connect {address} -tls1_3 -reconnect"),
            found("client-closes-early", Fault, Likely);
        "same-session", "`s_client -sess_in FILE` twice", &[],
            |it| s_client(it, "c -sess_out $s; c -sess_in $s; c -sess_in $s"),
            fixed("client-reuses-ticket", Risk, Certain, "c -sess_in $s", "openssl s_client -sess_in FILE");
        "servername", "`s_client -sess_in FILE -servername ANOTHER`", A_B,
            |it| s_client(it, "c -servername a.test -sess_out $s; c -servername b.test -sess_in $s"),
            found("sni-differs", Risk, Certain);
        "cipher", "`s_client -tls1_2 -sess_in FILE -cipher ANOTHER`", &[],
            |it| s_client(it, "c -tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256 -sess_out $s; \
                c -tls1_2 -cipher ECDHE-ECDSA-AES256-GCM-SHA384 -sess_in $s"),
            found("suite-differs", Risk, Certain);
        "alpn", "`s_client -sess_in FILE -alpn ANOTHER`", &[],
            |it| s_client(it, "c -alpn http/1.1 -sess_out $s; c -alpn http/1.1,h2 -sess_in $s"),
            found("alpn-differs", Note, Certain);
        "early_data", "`s_client -early_data FILE`", &[],
            |it| s_client(it, "c -sess_out $s; printf \"$r\" > $s.request; c -sess_in $s -early_data $s.request"),
            found("early-data-offered", Note, Certain);
    }
    "OpenSSL API" => {
        "right", "`SSL_set_session`", &[], |it| openssl(it, "right"), Expected::Healthy;
        "never", "sessions are saved, without `SSL_set_session`", &[], |it| openssl(it, "never"),
            fixed("client-never-offers", Fault, Possible, "// Sessions are saved and not handed over.", "SSL_set_session(");
        "close-early", "`SSL_get1_session` right after `SSL_connect`", &[], |it| openssl(it, "close-early"),
            fixed("client-closes-early", Fault, Likely, "// Asks and reads nothing.", "SSL_write(");
        "reuse", "the first connection's session for all others", &[], |it| openssl(it, "reuse"),
            fixed("client-reuses-ticket", Risk, Certain,
                "if (!session) session = SSL_get1_session(ssl);", "session = SSL_get1_session(ssl);");
        "name", "every second connection without SNI", &[], |it| openssl(it, "name"),
            fixed("sni-differs", Risk, Certain,
                "if (round % 2 == 0) SSL_set_tlsext_host_name(ssl, host);", "SSL_set_tlsext_host_name(");
        "protocols", "every second connection with further protocols", &[], |it| openssl(it, "protocols"),
            fixed("alpn-differs", Note, Certain,
                "SSL_CTX_set_alpn_protos(ctx, protocols, round % 2 ? length : 9);", "SSL_CTX_set_alpn_protos(");
        "ems", "every second connection without extended master secret", &[], |it| openssl(it, "ems"),
            fixed("ems-differs", Fault, Certain,
                "if (round % 2) SSL_CTX_set_options(ctx, SSL_OP_NO_EXTENDED_MASTER_SECRET);", "SSL_CTX_clear_options(");
    }
    "Python" => {
        "right", "`wrap_socket(session=…)`, a session for each host", A_B,
            |it| python(it, "right", "a.test b.test a.test b.test a.test"), Expected::Healthy;
        "tls12", "the same under TLS 1.2", &[], |it| python(it, "tls12", "localhost localhost localhost"), Expected::Healthy;
        "never", "`wrap_socket` without `session`", &[], |it| python(it, "never", "localhost localhost localhost localhost"),
            fixed("client-never-offers", Fault, Likely, "context.wrap_socket(sock, server_hostname=host)", "context.wrap_socket(");
        "rebuild", "a new `SSLContext` after every second connection", &[],
            |it| python(it, "rebuild", "localhost localhost localhost localhost"), found("client-config-rebuilt", Fault, Likely);
        "close-early", "`connection.session` right after the handshake", &[],
            |it| python(it, "close-early", "localhost localhost localhost"),
            fixed("client-closes-early", Fault, Likely, "\"asks and reads nothing\"", "connection.sendall(");
        "reuse", "the first connection's session for all others", &[],
            |it| python(it, "reuse", "localhost localhost localhost"),
            fixed("client-reuses-ticket", Risk, Certain, "saved = saved or connection.session", "saved = connection.session");
        "one-for-all", "one session for all hosts", A_B, |it| python(it, "one-for-all", "a.test b.test a.test b.test"),
            fixed("sni-differs", Risk, Certain, "sessions = dict.fromkeys(NAMES, connection.session)", "sessions[");
        "latest-host", "only the latest host's session", A_B_C,
            |it| python(it, "latest-host", "a.test a.test b.test c.test a.test b.test c.test a.test b.test c.test"),
            fixed("client-cache-small", Fault, Likely, "sessions = {host: connection.session}", "sessions[");
        "versions", "two contexts with different versions", &[], |it| python(it, "versions", "localhost localhost"),
            found("version-differs", Risk, Likely);
        "protocols", "every second connection with fewer protocols", &[],
            |it| python(it, "protocols", "localhost localhost localhost localhost"),
            fixed("alpn-differs", Note, Certain,
                "context.set_alpn_protocols([\"http/1.1\"][number % 2:])", "context.set_alpn_protocols(");
    }
    "requests" => {
        "calls", "`requests.get` for each request", &[],
            |it| words(&format!("/usr/bin/python3 {} requests {{ca}} {{url}}", it.client("requests_client.py"))),
            fixed("client-never-offers", Fault, Likely, "session = requests", "session = requests.Session()");
    }
    "httpx" => {
        "calls", "`httpx.get` for each request", &[],
            |it| words(&format!("/usr/bin/python3 {} httpx {{ca}} {{url}}", it.client("requests_client.py"))),
            fixed("client-never-offers", Fault, Likely, "client = httpx", "client = httpx.Client()");
    }
    "Node" => {
        "right", "`tls.connect` with `session`", &[], |it| node(it, "right", "localhost localhost localhost localhost"),
            Expected::Healthy;
        "agent", "one `https.Agent`", &[], |it| node(it, "agent", "localhost localhost localhost localhost"), Expected::Healthy;
        "never", "`tls.connect` without `session`", &[], |it| node(it, "never", "localhost localhost localhost localhost"),
            fixed("client-never-offers", Fault, Possible, "tls.connect({ host, port, servername: host })", "tls.connect(");
        "no-agent", "an `https.Agent` for each request", &[], |it| node(it, "no-agent", "localhost localhost localhost localhost"),
            fixed("client-never-offers", Fault, Possible, "const agent = false;", "const agent = new https.Agent(");
        "close-early", "`getSession` after `secureConnect`", &[],
            |it| node(it, "close-early", "localhost localhost localhost localhost"),
            fixed("client-closes-early", Fault, Likely,
                "socket.on('secureConnect', () => { saved = socket.getSession(); socket.end(); });", "socket.on('session'");
        "reuse", "the first connection's session for all others", &[],
            |it| node(it, "reuse", "localhost localhost localhost localhost"),
            fixed("client-reuses-ticket", Risk, Certain,
                "socket.on('session', (session) => { saved ??= session; });", "socket.on('session'");
        "one-for-all", "one session for all hosts", A_B, |it| node(it, "one-for-all", "a.test b.test a.test b.test"),
            fixed("sni-differs", Risk, Certain,
                "tls.connect({ host, port, servername: name, session: latest })", "tls.connect(");
        "agent-of-one", "`maxCachedSessions: 1` for three hosts", A_B_C,
            |it| node(it, "agent-of-one", "a.test a.test b.test c.test a.test b.test c.test a.test b.test c.test"),
            fixed("client-cache-small", Fault, Likely,
                "const agent = new https.Agent({ maxCachedSessions: 1 });", "const agent = new https.Agent(");
        "agent-at-once", "one `https.Agent`, requests at once", &[], |it| node(it, "agent-at-once", "localhost"),
            fixed("client-reuses-ticket", Risk, Certain, "const agent = new https.Agent();", "const agent = new https.Agent(");
    }
    "undici" => {
        "agents", "an `Agent` for each request", &[],
            |it| shell(&format!("NODE_PATH=/usr/share/nodejs node {} {{url}}", it.client("undici.js"))),
            fixed("client-never-offers", Fault, Possible,
                "const agent = { dispatch: (options, handler) => new Agent().dispatch(options, handler) };", "const agent = new Agent(");
    }
    "Go" => {
        "right", "`ClientSessionCache` shared", A_B_C, |it| go(it, "right", "a.test a.test b.test c.test a.test b.test c.test"),
            Expected::Healthy;
        "no-cache", "no `ClientSessionCache`, the default", &[], |it| go(it, "no-cache", "localhost localhost localhost"),
            fixed("client-never-offers", Fault, Likely, "&tls.Config{}", "&tls.Config{");
        "rebuild", "a new `tls.Config` for each request", &[],
            |it| go(it, "rebuild", "localhost localhost localhost localhost localhost localhost"),
            found("client-config-rebuilt", Fault, Likely);
        "cache-of-one", "`NewLRUClientSessionCache(1)` for three hosts", A_B_C,
            |it| go(it, "cache-of-one", "a.test a.test b.test c.test a.test b.test c.test a.test b.test c.test"),
            fixed("client-cache-small", Fault, Likely,
                "config.ClientSessionCache = tls.NewLRUClientSessionCache(1)", "config.ClientSessionCache");
        "close-early", "`tls.Dial`, then `conn.Close()`", &[],
            |it| go(it, "close-early", "localhost localhost localhost localhost"),
            fixed("client-closes-early", Fault, Likely, "// Asks and reads nothing.", "conn.Write(");
        "protocols", "every second connection with fewer protocols", &[],
            |it| go(it, "protocols", "localhost localhost localhost localhost"),
            fixed("alpn-differs", Note, Certain, "config.NextProtos = []string{\"http/1.1\"}[number%2:]", "config.NextProtos");
        "at-once", "requests at once", &[], |it| go(it, "at-once", "localhost localhost localhost localhost localhost"),
            fixed("client-reuses-ticket", Risk, Certain, "// As many connections as there are requests.", "transport.MaxConnsPerHost");
    }
    "Java" => {
        "right", "one `SSLContext`", &[], |it| java(it, "right"), Expected::Healthy;
        "rebuild", "an `SSLContext` for each connection", &[], |it| java(it, "rebuild"),
            // Java sends no server_name of localhost, as where an SSLEngine is made without a host.
            found("client-config-rebuilt", Fault, Possible);
        "cache-of-one", "`setSessionCacheSize(1)` for three hosts", A_B_C,
            |it| java(it, "cache-of-one a.test a.test b.test c.test a.test b.test c.test a.test b.test c.test"),
            fixed("client-cache-small", Fault, Likely,
                "context.getClientSessionContext().setSessionCacheSize(1);", "context.getClientSessionContext()");
        "close-early", "`startHandshake()`, then `close()`", &[], |it| java(it, "close-early"),
            fixed("client-closes-early", Fault, Likely, "// Asks and reads nothing.", "socket.getOutputStream()");
        "at-once", "connections at once", &[], |it| java(it, "at-once"), found("tickets-run-out", Risk, Likely);
    }
    "GnuTLS" => {
        "resume", "`gnutls-cli --resume --waitresumption`", &[],
            |_| shell("gnutls-cli --resume --waitresumption --x509cafile {ca} --port {port} localhost < /dev/null"), Expected::Healthy;
    }
    "rustls" => {
        "right", "one `ClientConfig`", &[], |_| rustls(), Expected::Healthy;
        "rebuild", "a `ClientConfig` for each connection", &[], |_| rustls(),
            fixed("client-config-rebuilt", Fault, Possible, "", "let conn = ClientConnection::new(");
        "disabled", "`Resumption::disabled()`", &[], |_| rustls(),
            fixed("client-never-offers", Fault, Possible, "", "config.resumption");
        "cache-of-eight", "`in_memory_sessions(8)` for three hosts", A_B_C, |_| rustls(),
            fixed("client-cache-small", Fault, Likely, "", "config.resumption");
        "close-early", "the socket closed without `read_tls`", &[], |_| rustls(),
            fixed("client-closes-early", Fault, Likely, "", "conn.read_tls(");
        "at-once", "more connections at once than tickets", &[], |_| rustls(), found("tickets-run-out", Risk, Likely);
    }
    "Reprise" => {
        "psk_ke", "`--psk-mode psk_ke`", &[], |_| {
            let reprise = env!("CARGO_BIN_EXE_reprise");
            shell(&format!("{reprise} measure {{url}} --ca {{ca}} --tls 1.3 --kinds ticket --count 3 --psk-mode psk_ke"))
        }, fixed("client-psk-mode", Fault, Certain, "--psk-mode psk_ke", "--psk-mode both");
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
        c() {{ printf \"$r\" | openssl s_client -quiet -ign_eof -connect {{address}} \"$@\"; }}
        {script}; true"
    ))
}

/// Four connections to the same host.
fn openssl(programs: &Programs, way: &str) -> Vec<String> {
    let program = programs.c("client.c", &["-lssl", "-lcrypto"]);
    words(&format!("{program} {way} {{ca}} {{port}} localhost localhost localhost localhost"))
}

fn python(programs: &Programs, way: &str, names: &str) -> Vec<String> {
    words(&format!("python3 {} {way} {{ca}} {{ip}} {{port}} {names}", programs.client("client.py")))
}

fn node(programs: &Programs, way: &str, names: &str) -> Vec<String> {
    words(&format!("node {} {way} {{ip}} {{port}} {names}", programs.client("client.js")))
}

fn go(programs: &Programs, way: &str, names: &str) -> Vec<String> {
    words(&format!("{} {way} {{ip}} {{port}} {names}", programs.go()))
}

/// The way, and names after it.
fn java(programs: &Programs, way: &str) -> Vec<String> {
    let (way, names) = way.split_once(' ').unwrap_or((way, ""));
    let command = format!(
        "java -Xshare:auto -XX:TieredStopAtLevel=1 -cp {} Client {way} {{ca}} {{host}} {{port}} {names}",
        programs.java()
    );
    words(command.trim_end())
}

/// This test's own program, as [`crate::diagnose_client::rustls_client`] tells.
fn rustls() -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    words(&format!(
        "{} --exact diagnose_client::rustls_client::acts_as_client --ignored --nocapture {{ca}}",
        program.to_str().unwrap()
    ))
}

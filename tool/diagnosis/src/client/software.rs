//! What a client is written with, by what it calls itself: it orders the remedies, and no cause depends on it alone.

use itertools::Itertools;
use reprise_model::{Watched, WatchedConnection};

/// The names by which documents call them; [`crate::software`] has those of remedies.
pub(crate) const CURL: &str = "curl";
/// A program of its own on curl's library.
pub(crate) const LIBCURL: &str = "libcurl";
pub(crate) const DOTNET: &str = ".NET";
pub(crate) const GO: &str = "Go";
pub(crate) const JAVA: &str = "Java";
pub(crate) const NODE: &str = "Node";
pub(crate) const OPENSSL: &str = "OpenSSL";
pub(crate) const PYTHON: &str = "Python";
pub(crate) const REQUESTS: &str = "requests";
pub(crate) const HTTPX: &str = "httpx";
pub(crate) const REQWEST: &str = "reqwest";
pub(crate) const RUSTLS: &str = "rustls";

/// Products of a `User-Agent`, in small letters; of two that fit the first.
const AGENTS: [(&str, &str); 28] = [
    ("libcurl", LIBCURL),
    ("guzzlehttp", "PHP"),
    ("php", "PHP"),
    ("curl", CURL),
    ("python-requests", REQUESTS),
    ("python-httpx", HTTPX),
    ("python", PYTHON),
    ("python-urllib", PYTHON),
    ("python-urllib3", PYTHON),
    ("aiohttp", PYTHON),
    ("go-http-client", GO),
    ("grpc-go", GO),
    ("java", JAVA),
    ("java-http-client", JAVA),
    ("okhttp", JAVA),
    ("apache-httpclient", JAVA),
    ("node", NODE),
    ("node-fetch", NODE),
    ("undici", NODE),
    ("axios", NODE),
    ("reqwest", REQWEST),
    ("ureq", RUSTLS),
    ("dotnet", DOTNET),
    ("deno", "Deno"),
    ("bun", "Bun"),
    ("ruby", "Ruby"),
    ("libwww-perl", "Perl"),
    ("wget", "Wget"),
];

/// How programs are called, without their version: `python3.11` is `python`.
const PROGRAMS: [(&str, &str); 26] = [
    ("curl", CURL),
    ("openssl", OPENSSL),
    ("python", PYTHON),
    ("node", NODE),
    ("go", GO),
    ("java", JAVA),
    ("dotnet", DOTNET),
    ("cargo", RUSTLS),
    ("php", "PHP"),
    ("ruby", "Ruby"),
    ("perl", "Perl"),
    ("beam.smp", "Erlang"),
    ("erl", "Erlang"),
    ("deno", "Deno"),
    ("bun", "Bun"),
    ("wget", "Wget"),
    ("psql", "libpq"),
    ("nginx", "nginx"),
    ("haproxy", "HAProxy"),
    ("apache", "Apache"),
    ("httpd", "Apache"),
    ("envoy", "Envoy"),
    ("caddy", "Caddy"),
    ("traefik", "Traefik"),
    ("squid", "Squid"),
    ("stunnel", "stunnel"),
];

/// How a program's TLS library treats sessions when its user says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// It keeps and offers them, as long as the object lives that holds them.
    Resumes,
    /// It offers them only as the program, or its user, says.
    Waits,
    /// It depends on which interface is used.
    Either,
}

/// What made the connections: by the process, where the system tells, or the command; otherwise by what the client calls itself.
pub(crate) fn client_software(command: &[String], watched: &Watched) -> Option<&'static str> {
    let running = watched.connections.iter().filter_map(|it| by_program(it.program.as_deref()?));
    let by_program = one(running).or_else(|| command.iter().find_map(|word| by_program(word)));
    let by_agent = one(watched.connections.iter().filter_map(by_agent));
    match (by_program, by_agent) {
        // The agent says more than the language, and is another's where a proxy passes it on.
        (Some(program), Some(agent)) if is_written_with(agent, program) => Some(agent),
        (Some(program), _) => Some(program),
        (None, agent) => agent,
    }
}

/// The one name; none of several.
fn one(names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    names.unique().exactly_one().ok()
}

/// Whether who is called `agent` may be a program of this language.
fn is_written_with(agent: &str, program: &str) -> bool {
    let families = [&[PYTHON, REQUESTS, HTTPX][..], &["PHP", LIBCURL], &[RUSTLS, REQWEST]];
    agent == program || families.iter().any(|family| family.contains(&agent) && family.contains(&program))
}

fn by_agent(connection: &WatchedConnection) -> Option<&'static str> {
    let agent = connection.user_agent.as_deref().filter(|_| !connection.passed_on)?.to_ascii_lowercase();
    let products: Vec<&str> = agent
        .split([' ', '(', ')', ';', ','])
        .filter_map(|product| product.split('/').next())
        .filter(|product| !product.is_empty())
        .collect();
    let (_, software) = AGENTS.iter().find(|(known, _)| products.contains(known))?;
    // It offers protocols by ALPN, unless told not to: a proxy that passes on what it is called may not.
    let is_its_hello = *software != CURL || connection.offer.as_ref().is_none_or(|offer| !offer.alpn.is_empty());
    is_its_hello.then_some(*software)
}

fn by_program(word: &str) -> Option<&'static str> {
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    PROGRAMS.iter().find(|(program, _)| *program == name).map(|(_, software)| *software)
}

/// What is known of this software.
pub(crate) fn habit(software: Option<&str>) -> Habit {
    match software {
        // A Go client without a cache asks for no session, which the ClientHello shows.
        Some(DOTNET | GO | JAVA | LIBCURL | REQWEST | RUSTLS) => Habit::Resumes,
        // The tool has one cache for all it does: it is silent only where it was told so.
        Some(CURL | HTTPX | OPENSSL | PYTHON | REQUESTS) => Habit::Waits,
        _ => Habit::Either,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::Client;

    #[test]
    fn a_program_is_known_by_its_path_and_version() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            client_software(&words, &Watched::default())
        };
        assert_eq!(of(&["/usr/bin/python3.11", "x.py"]), Some(PYTHON));
        assert_eq!(of(&["env", "A=1", "java", "Client"]), Some(JAVA));
        assert_eq!(of(&["./a.out"]), None);
    }

    /// Named by its agent: that stands in each request, or is a proxy's client's.
    #[test]
    fn an_agent_that_a_proxy_passes_on_names_nobody() {
        let software = |client: Client, program: Option<&str>, passed_on| {
            let mut watched = client.watched().clone();
            for connection in &mut watched.connections {
                connection.program = program.map(str::to_owned);
                connection.passed_on = passed_on;
            }
            client_software(&[], &watched)
        };
        let client = |agent| Client::new().full().full().agent(agent);
        for (agent, program, is_passed_on, expected) in [
            ("curl/7.88.1", None, false, Some(CURL)),
            ("curl/7.88.1", None, true, None),
            ("curl/7.88.1", Some("nginx"), false, Some("nginx")),
            ("curl/7.88.1", Some("python3.11"), false, Some(PYTHON)),
            ("python-requests/2.34.2", Some("python3.11"), false, Some(REQUESTS)),
            ("GuzzleHttp/6.5 curl/7.88.1 PHP/8.2", None, false, Some("PHP")),
            ("PycURL/7.45 libcurl/7.88.1 OpenSSL/3.0", None, false, Some(LIBCURL)),
            ("Go-http-client/1.1", Some("client"), false, Some(GO)),
            ("Mozilla/5.0 (compatible; Nodeping)", None, false, None),
        ] {
            assert_eq!(software(client(agent), program, is_passed_on), expected, "{agent} of {program:?}");
        }
        let without_alpn = client("curl/7.88.1").offers(|offer| offer.alpn.clear());
        assert_eq!(software(without_alpn, None, false), None, "curl offers protocols");
        let two = client("curl/7.88.1").then(client("Java/25.0.2"));
        assert_eq!(software(two, None, false), None, "two programs");
    }
}

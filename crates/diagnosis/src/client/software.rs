//! What a client is written with, by what it calls itself: it orders the remedies, and no cause depends on it alone.

use reprise_model::Watched;

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

/// What stands in a `User-Agent`, in small letters; of two that fit the first.
const AGENTS: [(&str, &str); 17] = [
    ("libcurl/", LIBCURL),
    ("curl/", CURL),
    ("python-requests", REQUESTS),
    ("python-httpx", HTTPX),
    ("python", PYTHON),
    ("aiohttp", PYTHON),
    ("urllib", PYTHON),
    ("go-http-client", GO),
    ("java/", JAVA),
    ("java-http-client", JAVA),
    ("okhttp", JAVA),
    ("apache-httpclient", JAVA),
    ("node", NODE),
    ("undici", NODE),
    ("axios", NODE),
    ("reqwest", REQWEST),
    ("dotnet", DOTNET),
];

/// How programs are called, without their version: `python3.11` is `python`.
const PROGRAMS: [(&str, &str); 8] = [
    ("curl", CURL),
    ("openssl", OPENSSL),
    ("python", PYTHON),
    ("node", NODE),
    ("go", GO),
    ("java", JAVA),
    ("dotnet", DOTNET),
    ("cargo", RUSTLS),
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

/// What a client calls itself, or else what it was started with.
pub(crate) fn client_software(command: &[String], watched: &Watched) -> Option<&'static str> {
    let agents = watched.connections.iter().filter_map(|it| it.user_agent.as_deref());
    let by_agent = agents
        .map(str::to_ascii_lowercase)
        .find_map(|agent| AGENTS.iter().find(|(part, _)| agent.contains(part)).map(|(_, software)| *software));
    by_agent.or_else(|| command.iter().find_map(|word| by_program(word)))
}

fn by_program(word: &str) -> Option<&'static str> {
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
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
}

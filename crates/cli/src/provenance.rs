//! Where a result comes from: this program, and the command line as it may be published, without its secrets.

use reprise_trace::document::Provenance;

/// The flags whose value may be a secret. A header can carry a password or a token.
const SECRET: &[&str] = &["-H", "--header", "--psk-key", "--passphrase"];
const HIDDEN: &str = "<hidden>";

/// The provenance of what this process measures.
pub(crate) fn provenance() -> Provenance {
    let command = redacted(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()));
    reprise_probe::provenance(env!("CARGO_PKG_VERSION"), option_env!("REPRISE_COMMIT"), command)
}

fn redacted(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut hide_next = false;
    let hide = |argument: String| {
        if std::mem::replace(&mut hide_next, SECRET.contains(&argument.as_str())) {
            return HIDDEN.to_owned();
        }
        for flag in SECRET {
            let value = match flag.strip_prefix("--") {
                Some(_) => argument.strip_prefix(&format!("{flag}=")),
                None => argument.strip_prefix(flag).filter(|value| !value.is_empty()),
            };
            if value.is_some() {
                return format!("{flag}={HIDDEN}");
            }
        }
        without_query(without_credentials(argument))
    };
    arguments.map(hide).collect()
}

/// A query string may carry a token.
fn without_query(argument: String) -> String {
    match argument.split_once('?') {
        Some((before, _)) => format!("{before}?{HIDDEN}"),
        None => argument,
    }
}

/// The user name and password of a proxy: whatever stands between `://` and the last `@`, by whichever flag it came.
fn without_credentials(argument: String) -> String {
    match argument.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
        Some((scheme, authority)) => format!("{scheme}://{HIDDEN}@{authority}"),
        None => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_queries_are_hidden() {
        let given =
            ["reprise", "-H", "Authorization: x", "--header=Cookie: y", "-HToken: z", "example.org/a?token=t", "-n", "3"];
        let shown = redacted(given.iter().map(|&argument| argument.to_owned()));
        assert_eq!(
            shown,
            ["reprise", "-H", HIDDEN, "--header=<hidden>", "-H=<hidden>", "example.org/a?<hidden>", "-n", "3"]
        );
    }

    #[test]
    fn a_proxys_password_is_hidden_however_it_is_given() {
        let given =
            ["--proxy", "http://u:p@ss@proxy:1", "--proxy=socks5://u:p@proxy", "-xhttp://u:p?q@proxy", "-x", "http://proxy"];
        let shown = redacted(given.iter().map(|&argument| argument.to_owned()));
        assert_eq!(
            shown,
            [
                "--proxy",
                "http://<hidden>@proxy:1",
                "--proxy=socks5://<hidden>@proxy",
                "-xhttp://<hidden>@proxy",
                "-x",
                "http://proxy"
            ]
        );
    }
}

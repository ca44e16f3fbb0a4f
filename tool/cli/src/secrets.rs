//! What may be published of the command line: everything but its secrets.

use std::sync::OnceLock;

use clap::Command;

/// The flags whose value may be a secret. A header can carry a password or a token.
const SECRET: &[&str] = &["-H", "--header", "--psk-key", "--passphrase"];
const HIDDEN: &str = "<hidden>";

/// A command line, as it may be published.
pub(crate) fn redacted(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let switches = SWITCHES.get().map(Vec::as_slice).unwrap_or_default();
    let mut hide_next = false;
    let hide = |argument: String| {
        let (before, last) = last_of_cluster(&argument, switches);
        if std::mem::replace(&mut hide_next, SECRET.contains(&last.as_str())) {
            return HIDDEN.to_owned();
        }
        for flag in SECRET {
            if !flag.starts_with("--") && last.len() > flag.len() && last.starts_with(flag) {
                return format!("-{before}{}={HIDDEN}", flag.trim_start_matches('-'));
            }
            if argument.starts_with(&format!("{flag}=")) {
                return format!("{flag}={HIDDEN}");
            }
        }
        without_query(without_credentials(argument))
    };
    arguments.map(hide).collect()
}

/// The value of this flag, named as clap names it, `--psk-key <HEX>`, as it may be published.
pub(crate) fn published(flag: &str, value: String) -> String {
    let name = flag.split_once(' ').map_or(flag, |(name, _)| name);
    if SECRET.contains(&name) {
        return HIDDEN.to_owned();
    }
    let value = without_credentials(value);
    match value.rsplit_once('@').filter(|(before, _)| !before.ends_with(HIDDEN)) {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => value,
    }
}

/// Short flags without a value may precede another in one argument: `-kH FIELD` is `-k -H FIELD`. The letters of those, and
/// what follows them as an argument of its own.
fn last_of_cluster(argument: &str, switches: &[char]) -> (String, String) {
    match argument.strip_prefix('-').filter(|letters| !letters.starts_with('-')) {
        Some(letters) => {
            let last = letters.trim_start_matches(switches);
            let before = letters.strip_suffix(last).unwrap_or_default();
            (before.to_owned(), format!("-{last}"))
        }
        None => (String::new(), argument.to_owned()),
    }
}

/// The letters of all flags that take no value.
static SWITCHES: OnceLock<Vec<char>> = OnceLock::new();

/// Told once, at the start: which flags there are. What stands behind one that takes no value is another's.
pub(crate) fn learn_flags(command: &Command) {
    let all = command.get_subcommands().flat_map(Command::get_arguments).chain(command.get_arguments());
    let switches = all.filter(|flag| !flag.get_action().takes_values()).filter_map(clap::Arg::get_short);
    SWITCHES.get_or_init(|| switches.collect());
}

/// A query string may carry a token.
pub(crate) fn without_query(argument: String) -> String {
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
    use crate::args;

    fn shown(given: &[&str]) -> Vec<String> {
        learn_flags(&args::program());
        redacted(given.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn headers_and_queries_are_hidden() {
        let given =
            ["reprise", "-H", "Authorization: x", "--header=Cookie: y", "-HToken: z", "example.org/a?token=t", "-n", "3"];
        let shown = shown(&given);
        assert_eq!(
            shown,
            ["reprise", "-H", HIDDEN, "--header=<hidden>", "-H=<hidden>", "example.org/a?<hidden>", "-n", "3"]
        );
    }

    #[test]
    fn a_header_behind_another_flags_letter_is_hidden() {
        let given = ["reprise", "-kH", "Authorization: x", "-kHCookie: y", "-kkH=Token: z", "-k", "-E", "H"];
        let shown = shown(&given);
        assert_eq!(shown, ["reprise", "-kH", HIDDEN, "-kH=<hidden>", "-kkH=<hidden>", "-k", "-E", "H"]);
    }

    #[test]
    fn a_proxys_password_is_hidden_however_it_is_given() {
        let given =
            ["--proxy", "http://u:p@ss@proxy:1", "--proxy=socks5://u:p@proxy", "-xhttp://u:p?q@proxy", "-x", "http://proxy"];
        let shown = shown(&given);
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

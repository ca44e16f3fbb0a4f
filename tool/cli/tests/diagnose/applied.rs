//! What is printed to fix a cause, applied to the configuration that has it.

use std::fmt;

use reprise_harness::without_note;
use reprise_model::document::{Finding, Remedy};

/// What a remedy says, as something that can be done to the lines of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// This line stands in it, in place of one that sets the same.
    Set(String),
    /// What holds this word goes.
    TakeOut(String),
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(directive) => formatter.write_str(directive),
            Self::TakeOut(word) => write!(formatter, "without {word}"),
        }
    }
}

/// What the finding prints for this software, where it is a directive or names one that is to go.
pub(crate) fn printed(finding: &Finding, software: &str) -> Vec<Step> {
    let of_it = |remedy: &&Remedy| remedy.software.as_deref() == Some(software);
    finding.remedies.iter().filter(of_it).filter_map(|remedy| step(&remedy.text)).collect()
}

/// `ssl_session_cache shared:SSL:10m; (…)`, `take no-tls-tickets out of the bind line`. Other advice is none.
fn step(text: &str) -> Option<Step> {
    if let Some((word, _)) = text.strip_prefix("take ").and_then(|text| text.split_once(" out of ")) {
        return Some(Step::TakeOut(word.to_owned()));
    }
    let text = without_note(text);
    let end = [", or ", " or "].iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let directive = text.get(..end)?.trim();
    is_directive(directive).then(|| Step::Set(directive.to_owned()))
}

/// A name, and a value that is no prose: `tune.ssl.cachesize above 0` is.
fn is_directive(text: &str) -> bool {
    let is_value = |character: char| character.is_ascii_digit() || ":;/=.()'".contains(character);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.iter().any(|word| word.len() > 3 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == ';')) {
        // It stands for something else.
        return false;
    }
    match words.as_slice() {
        [name] => name.len() > 2 && name.contains(['-', '=', ';', '.']),
        [_, value] => value.contains(is_value) || ["on", "off", "On", "Off", "true", "false"].contains(value),
        [_, "=", ..] | ["default-server", ..] => true,
        [call, ..] if call.contains('(') => text.ends_with([')', ';', '}']),
        [_, name, value] if name.starts_with(char::is_uppercase) => {
            value.contains(':') || value.trim_end_matches(';').parse::<u32>().is_ok()
        }
        [name, ..] if name.ends_with(':') => true,
        _ => text.ends_with([';', '}']),
    }
}

/// The lines with this step taken.
pub(crate) fn apply(step: &Step, lines: &[String]) -> Vec<String> {
    match step {
        Step::TakeOut(word) => lines.iter().filter(|line| !line.contains(word.as_str())).cloned().collect(),
        Step::Set(directive) => {
            let name = |line: &str| line.split(['=', ' ', ':']).find(|word| !word.is_empty()).map(str::to_owned);
            let names: Vec<_> = directive.split(';').filter_map(name).collect();
            let others = lines
                .iter()
                .filter(|line| name(line.trim_end_matches(';')).is_none_or(|name| !names.contains(&name)))
                .cloned();
            others.chain([directive.clone()]).collect()
        }
    }
}

#[test]
fn what_is_printed_is_told_from_prose() {
    let set = |text: &str| Some(Step::Set(text.to_owned()));
    assert_eq!(step("ssl_session_cache shared:SSL:10m; (its default is none)"), set("ssl_session_cache shared:SSL:10m;"));
    assert_eq!(step("SSLSessionTickets on (its default)"), set("SSLSessionTickets on"));
    assert_eq!(
        step("SSLSessionCache shmcb:logs/x(512000), or SSLSessionTickets on"),
        set("SSLSessionCache shmcb:logs/x(512000)")
    );
    assert_eq!(step("config.SessionTicketsDisabled = false (its default)"), set("config.SessionTicketsDisabled = false"));
    assert_eq!(step("ssl_conf_command NumTickets 8; (from 1.19.4)"), set("ssl_conf_command NumTickets 8;"));
    assert_eq!(step("SSLOpenSSLConfCmd NumTickets 8 (from 2.4.8)"), set("SSLOpenSSLConfCmd NumTickets 8"));
    assert_eq!(step("SSLOpenSSLConfCmd Groups X25519:P-256 (from 2.4.8)"), set("SSLOpenSSLConfCmd Groups X25519:P-256"));
    assert_eq!(step("sessionIdContext: 'app' (of tls.createServer)"), set("sessionIdContext: 'app'"));
    assert_eq!(step("take no-tls-tickets out of the bind line"), Some(Step::TakeOut("no-tls-tickets".to_owned())));
    assert_eq!(step("server.on('a', (b) => c(b)); (c is (d) one's own)"), set("server.on('a', (b) => c(b));"));
    assert_eq!(step("default-server check inter 1s fall 1 (in the backend)"), set("default-server check inter 1s fall 1"));
    assert_eq!(
        step("listener.setsockopt(socket.A, socket.B, 1) (on Linux)"),
        set("listener.setsockopt(socket.A, socket.B, 1)")
    );
    for prose in [
        "tune.ssl.cachesize above 0",
        "one SSLContext and one HttpClient",
        "session_ticket_keys",
        "ssl_session_ticket_key FILE;",
    ] {
        assert_eq!(step(prose), None, "{prose}");
    }
}

#[test]
fn a_directive_takes_the_place_of_its_like() {
    let lines = ["ssl_session_cache off;", "ssl_session_tickets off;"].map(str::to_owned);
    let fixed = apply(&step("ssl_session_cache shared:SSL:10m;").unwrap(), &lines);
    assert_eq!(fixed, ["ssl_session_tickets off;", "ssl_session_cache shared:SSL:10m;"]);
    let both = apply(&step("ssl_session_cache shared:SSL:10m; ssl_session_tickets on;").unwrap(), &lines);
    assert_eq!(both, ["ssl_session_cache shared:SSL:10m; ssl_session_tickets on;"]);
    assert_eq!(apply(&Step::TakeOut("tickets".to_owned()), &lines), ["ssl_session_cache off;"]);
}

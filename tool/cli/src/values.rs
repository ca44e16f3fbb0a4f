//! Values of flags that more than one command has.

use std::fmt::Display;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use reprise_clients::{ClientRow, rows};
use reprise_connection::prologue::StartTls;
use reprise_session::key_file::KeyPeriod;
use reprise_wire::{CipherSuite, NamedGroup};

/// A list that comes as one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

/// A parser of these values by their names, which the help lists.
pub(crate) fn one_of<N, T, const COUNT: usize>(choices: [(N, T); COUNT]) -> impl TypedValueParser<Value = T>
where
    N: Into<PossibleValue>,
    T: Clone + Send + Sync + 'static,
{
    let choices: Vec<(PossibleValue, T)> = choices.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let names = PossibleValuesParser::new(choices.iter().map(|(name, _)| name.clone()));
    names.try_map(move |name| {
        let chosen = choices.iter().find(|(known, _)| known.get_name() == name);
        chosen.map(|(_, value)| value.clone()).ok_or_else(|| format!("unknown value '{name}'"))
    })
}

/// A name for [`one_of`], with what the help says of it.
pub(crate) fn explained(name: &'static str, help: &'static str) -> PossibleValue {
    PossibleValue::new(name).help(help)
}

/// A protocol that begins in the clear.
pub(crate) fn starttls() -> impl TypedValueParser<Value = StartTls> {
    one_of(StartTls::ALL.map(|protocol| {
        let port = format!("Port {} by default", protocol.default_port());
        (PossibleValue::new(protocol.name()).help(port), protocol)
    }))
}

/// Whose ClientHello is offered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Like {
    /// That of one client.
    Client(&'static ClientRow),
    /// Of each in turn.
    All,
}

/// One client.
pub(crate) fn like_one() -> impl TypedValueParser<Value = Like> {
    PossibleValuesParser::new(client_names()).try_map(|name| client(&name))
}

/// One client, or all of them.
pub(crate) fn like() -> impl TypedValueParser<Value = Like> {
    let all = PossibleValue::new("all").help("Each of them in turn: a table of what each meets");
    PossibleValuesParser::new(client_names().chain([all])).try_map(|name| match name.as_str() {
        "all" => Ok(Like::All),
        name => client(name),
    })
}

fn client_names() -> impl Iterator<Item = PossibleValue> {
    rows().iter().map(|row| PossibleValue::new(row.name.as_str()).help(row.client.as_str()))
}

fn client(name: &str) -> Result<Like, String> {
    ClientRow::named(name).map(Like::Client).ok_or_else(|| format!("unknown value '{name}'"))
}

/// Connections per second.
pub(crate) fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.001..=10_000_000.0).contains(&rate) => Ok(rate),
        _ => Err(format!("invalid rate '{text}': connections per second, at least 0.001 and at most ten million")),
    }
}

pub(crate) fn parse_server_name(text: &str) -> Result<String, String> {
    match rustls_pki_types::ServerName::try_from(text) {
        // RFC 6066 §3: without the dot that ends it in the DNS; and as a target's host is written.
        Ok(rustls_pki_types::ServerName::DnsName(_)) => Ok(text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase()),
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("not a valid server name or address".to_owned()),
    }
}

pub(crate) fn parse_method(text: &str) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_token) { Err("invalid HTTP method".to_owned()) } else { Ok(text.to_owned()) }
}

pub(crate) fn parse_path(text: &str) -> Result<String, String> {
    match text {
        _ if !text.starts_with('/') => Err("a path starts with /".to_owned()),
        _ if text.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            Err("a path must not contain spaces or control characters: percent-encode them".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

pub(crate) fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header field has the form 'Name: value'")?;
    let name = parse_method(name).map_err(|_| format!("invalid header name '{name}'"))?;
    if name.eq_ignore_ascii_case("connection") {
        return Err("the field Connection is set by measure's --connections close and --connections keepalive".to_owned());
    }
    let value = value.trim();
    if value.chars().any(char::is_control) {
        Err("a header value must not contain control characters".to_owned())
    } else {
        Ok((name, value.to_owned()))
    }
}

/// Up to an hour.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let complain = || format!("invalid duration '{text}': use 500ms, 10s or 2m; more than zero, at most one hour");
    duration(text, Duration::from_secs(3600)).filter(|duration| !duration.is_zero()).ok_or_else(complain)
}

/// Up to an hour, and none at all.
pub(crate) fn parse_wait(text: &str) -> Result<Duration, String> {
    let complain = || format!("invalid duration '{text}': use 0s, 500ms, 10s or 2m; at most one hour");
    duration(text, Duration::from_secs(3600)).ok_or_else(complain)
}

/// Up to a day, for what takes long.
pub(crate) fn parse_long_duration(text: &str) -> Result<Duration, String> {
    let complain = || format!("invalid duration '{text}': use 500ms, 10s, 2m or 8h; more than zero, at most one day");
    duration(text, Duration::from_secs(86_400)).filter(|duration| !duration.is_zero()).ok_or_else(complain)
}

/// How long a ticket key encrypts.
pub(crate) fn parse_key_period(text: &str) -> Result<Duration, String> {
    let whole =
        duration(text, KeyPeriod::LONGEST).filter(|period| *period >= KeyPeriod::SHORTEST && period.subsec_nanos() == 0);
    whole.ok_or_else(|| format!("invalid duration '{text}': use 12h or 24h; whole seconds, 1h to 720h"))
}

/// A number of seconds, or with the unit that follows it.
fn duration(text: &str, most: Duration) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds_of_one = match unit {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let duration = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds_of_one).ok()?;
    Some(duration).filter(|duration| *duration <= most)
}

pub(crate) fn parse_ciphers(text: &str) -> Result<List<CipherSuite>, String> {
    let parse = |name: &str| {
        let suite = CipherSuite::from_name(name).ok_or_else(|| format!("unknown cipher suite '{name}'"))?;
        match reprise_engine::suite::find(suite) {
            Some(_) => Ok(suite),
            None => Err(format!("{suite} is not supported: only AES-GCM and ChaCha20-Poly1305, with ECDHE or RSA, are")),
        }
    };
    parse_list(text, parse)
}

/// Groups that the engine speaks.
pub(crate) fn parse_groups(text: &str) -> Result<List<NamedGroup>, String> {
    parse_groups_of(text, reprise_engine::GROUPS)
}

/// Groups, all of them among those that are spoken.
pub(crate) fn parse_groups_of(text: &str, spoken: &[NamedGroup]) -> Result<List<NamedGroup>, String> {
    let parse = |name: &str| {
        let group = NamedGroup::from_name(name).ok_or_else(|| format!("unknown group '{name}'"))?;
        if spoken.contains(&group) {
            Ok(group)
        } else {
            let spoken: Vec<String> = spoken.iter().map(ToString::to_string).collect();
            Err(format!("{group} is not supported; supported: {}", spoken.join(", ")))
        }
    };
    parse_list(text, parse)
}

/// A list of at least one, each once: an empty variable in a script must not mean all of them.
fn parse_list<T: PartialEq + Display>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<List<T>, String> {
    let mut items: Vec<T> = Vec::new();
    for name in text.split([',', ':']).filter(|name| !name.is_empty()) {
        let item = parse(name)?;
        if items.contains(&item) {
            return Err(format!("{item} is listed twice"));
        }
        items.push(item);
    }
    if items.is_empty() { Err("the list is empty: omit the flag to offer all".to_owned()) } else { Ok(List(items)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_bounds() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["0s", "-1s", "x", "5h", "2h", "3601s", "", "1e999s", "NaNs"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wait_may_be_none() {
        assert_eq!(parse_wait("0s"), Ok(Duration::ZERO));
        assert_eq!(parse_wait("0"), Ok(Duration::ZERO));
        assert_eq!(parse_wait("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["-1s", "x", "2h", ""] {
            assert!(parse_wait(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_durations_have_hours_and_end_at_a_day() {
        assert_eq!(parse_long_duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_long_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_long_duration("8h"), Ok(Duration::from_secs(8 * 3600)));
        assert_eq!(parse_long_duration("0.5h"), parse_duration("30m"));
        assert_eq!(parse_long_duration("24h"), Ok(Duration::from_secs(86_400)));
        for wrong in ["0s", "0h", "-1h", "25h", "h", "NaNh", "infh", "1e99h", "1d", "", "soon"] {
            assert!(parse_long_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_group_stands_twice() {
        let spoken = [NamedGroup::SECP256R1, NamedGroup::X25519, NamedGroup::X25519MLKEM768];
        let groups = parse_groups_of("P-256:X25519MLKEM768", &spoken).unwrap().0;
        assert_eq!(groups, [NamedGroup::SECP256R1, NamedGroup::X25519MLKEM768]);
        assert!(parse_groups_of("x25519,X25519", &spoken).is_err());
        assert!(parse_groups_of("secp521r1", &spoken).is_err());
    }

    #[test]
    fn headers_are_fields() {
        assert_eq!(parse_header("A: b: c"), Ok(("A".into(), "b: c".into())));
        for wrong in ["A", ": b", "A B: c", "A: b\r\nC: d", "Connection: close"] {
            assert!(parse_header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn suites_and_groups_go_by_both_names() {
        let suites = parse_ciphers("TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256").unwrap().0;
        assert_eq!(suites, [CipherSuite::TLS_AES_128_GCM_SHA256, CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]);
        assert_eq!(parse_groups("P-256,X25519").unwrap().0, [NamedGroup::SECP256R1, NamedGroup::X25519]);
        assert_eq!(parse_groups("X25519MLKEM768").unwrap().0, [NamedGroup::X25519MLKEM768]);
        let unspoken = parse_groups("x448").unwrap_err();
        assert!(unspoken.contains("supported: ") && unspoken.contains("X25519MLKEM768"), "{unspoken}");
        assert!(parse_ciphers("DHE-RSA-AES128-GCM-SHA256").unwrap_err().contains("not supported"));
    }
}

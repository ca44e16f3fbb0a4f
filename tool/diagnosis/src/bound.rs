//! What bounds a target: the network's round trips, or the work of the two sides.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};

use crate::figures::{from_to, percent, span};
use crate::savings::{bears_a_sentence, median_ns, versions};

/// From this share of the time until application data may be sent, its round trips are what counts.
const MOSTLY: f64 = 0.8;

/// From this share of the whole connection, it is the response that is waited for, and nothing of the start counts.
const ANSWERING: f64 = 0.8;

/// A sentence on full handshakes of the newest version: which share of them the round trips are, and what a faster key, early data or
/// TLS 1.3 can save. None where the parts cannot be told apart: through a proxy, after STARTTLS, of a few connections, of which some may
/// have been held up, of times of two modes, or where `connect` is longer than the handshake that has round trips in it. Where most of a
/// connection passes with waiting for the response, that is what binds, and nothing of its start.
///
/// `connect` is one round trip. What is left beside the round trips is work of either side, or waiting behind the address, so that it is
/// the most that less work can save, and no promise.
pub fn bound(document: &MeasureDocument) -> Option<String> {
    let target = &document.target;
    if target.proxy.is_some() || target.starttls.is_some() {
        return None;
    }
    let version = versions(document).into_iter().next_back()?;
    let run = document.run(version, Kind::Full)?;
    if !bears_a_sentence(document, run, Phase::Total) {
        return None;
    }
    if let Some(sentence) = by_the_response(run, version) {
        return Some(sentence);
    }
    let parts = Parts::of(run)?;
    let Parts { turns, round_trip_ns, rest_ns, .. } = parts;
    let network = parts.network();
    let by = match network {
        share if share >= MOSTLY => "the network",
        share if share > 1.0 - MOSTLY => "the network and the two sides",
        _ => "the two sides",
    };
    let saver = if network >= MOSTLY { "a faster key" } else { "a faster key or a resumption" };
    let saved = if rest_ns == 0 { "nothing".to_owned() } else { format!("at most {}", span(rest_ns)) };
    let fewer_turns = match version {
        Version::Tls12 => Some("a resumption or TLS 1.3"),
        Version::Tls13 if run.observed.hello_retry_requests > 0 => Some("the server's group shared at once"),
        Version::Tls13 => document.run(version, Kind::Early).is_none().then_some("early data"),
    };
    let fewer_turns = fewer_turns.map_or_else(String::new, |means| format!(", {means} a round trip"));
    let (turns, round_trip, share) = (round_trips(turns), span(round_trip_ns), percent(network));
    Some(format!(
        "Bound by {by}: {turns} of {round_trip} are {share} of a full {version} connection's start; {saver} saves {saved}{fewer_turns}."
    ))
}

/// Whether the response takes most of the connection, beyond the round trip that it needs.
fn by_the_response(run: &Run, version: Version) -> Option<String> {
    let (connect, total) = (median_ns(run, Phase::Connect)?, median_ns(run, Phase::Total)?);
    let answer = median_ns(run, Phase::Wait)?.saturating_add(median_ns(run, Phase::Receive).unwrap_or_default());
    let (answered, whole) = from_to(answer, total);
    let is_it = answer.saturating_sub(connect) as f64 >= ANSWERING * total as f64;
    is_it.then(|| {
        format!(
            "Bound by the response: {answered} of {whole} of a full {version} connection pass from the request to its last byte, \
             which neither a faster key nor a resumption shortens."
        )
    })
}

/// The start of a connection, until application data may be sent.
struct Parts {
    /// Round trips, TCP's among them.
    turns: u64,
    round_trip_ns: u64,
    rest_ns: u64,
}

impl Parts {
    fn of(run: &Run) -> Option<Self> {
        let round_trip_ns = median_ns(run, Phase::Connect)?;
        let turns = run.round_trips?.saturating_add(1);
        let tls_ns = median_ns(run, Phase::Tls)?;
        // A connect that was held up, by the listener's queue or a machine without an idle processor, is no round trip of the network.
        if tls_ns < round_trip_ns.saturating_mul(turns - 1).saturating_mul(9) / 10 {
            return None;
        }
        let whole_ns = round_trip_ns.saturating_add(tls_ns);
        let rest_ns = whole_ns.saturating_sub(turns.saturating_mul(round_trip_ns));
        (whole_ns > 0).then_some(Self { turns, round_trip_ns, rest_ns })
    }

    /// The round trips' share of the whole.
    fn network(&self) -> f64 {
        let waiting = self.turns.saturating_mul(self.round_trip_ns) as f64;
        waiting / (waiting + self.rest_ns as f64)
    }
}

fn round_trips(count: u64) -> String {
    if count == 1 { "1 round trip".to_owned() } else { format!("{count} round trips") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn a_far_server_is_bound_by_the_network() {
        let far = Example::new().timed_run("1.3", Kind::Full, [38_000, 40_300, 38_000]).round_trips(1).document();
        assert_eq!(
            bound(&far).unwrap(),
            "Bound by the network: 2 round trips of 38.00 ms are 97 % of a full TLS 1.3 connection's start; a faster key saves at \
             most 2.30 ms, early data a round trip."
        );
    }

    #[test]
    fn a_near_server_is_bound_by_work() {
        let near = Example::new().timed_run("1.2", Kind::Full, [50, 950, 100]).round_trips(2).document();
        assert_eq!(
            bound(&near).unwrap(),
            "Bound by the two sides: 3 round trips of 50.0 µs are 15 % of a full TLS 1.2 connection's start; a faster key \
             or a resumption saves at most 850.0 µs, a resumption or TLS 1.3 a round trip."
        );
    }

    #[test]
    fn early_data_that_was_measured_is_not_predicted() {
        let measured = Example::new()
            .timed_run("1.3", Kind::Full, [500, 1_000, 500])
            .round_trips(1)
            .timed_run("1.3", Kind::Early, [500, 10, 900])
            .document();
        let sentence = bound(&measured).unwrap();
        assert!(sentence.starts_with("Bound by the network and the two sides: 2 round trips of 500.0 µs are 67 %"));
        assert!(sentence.ends_with("a faster key or a resumption saves at most 500.0 µs."), "{sentence}");
    }

    #[test]
    fn of_a_handshake_below_its_round_trips_nothing_is_said() {
        // A connect that is slower than the handshake: the first packet of a host waits for ARP.
        let odd = Example::new().timed_run("1.3", Kind::Full, [400, 300, 100]).round_trips(1).document();
        assert_eq!(bound(&odd), None);
    }

    #[test]
    fn a_slow_response_binds_and_no_handshake() {
        let slow = Example::new().timed_run("1.3", Kind::Full, [50, 800, 42_000]).round_trips(1).document();
        assert_eq!(
            bound(&slow).unwrap(),
            "Bound by the response: 42.0 of 42.9 ms of a full TLS 1.3 connection pass from the request to its last byte, which \
             neither a faster key nor a resumption shortens."
        );
        // A response takes a round trip in any case.
        let far = Example::new().timed_run("1.3", Kind::Full, [38_000, 40_300, 38_000]).round_trips(1).document();
        assert!(bound(&far).unwrap().starts_with("Bound by the network"));
    }

    #[test]
    fn of_few_connections_nothing_is_said() {
        let few = Example::new().timed_run("1.3", Kind::Full, [38_000, 40_300, 38_000]).round_trips(1);
        assert_eq!(bound(&few.without_intervals("1.3", Kind::Full).document()), None);
    }

    #[test]
    fn of_two_modes_nothing_is_said() {
        let full = || Example::new().timed_run("1.3", Kind::Full, [50, 950, 100]).round_trips(1);
        assert!(bound(&full().document()).is_some());
        assert_eq!(bound(&full().slow(3, Phase::Tls, 1_000_000).document()), None);
    }

    #[test]
    fn nothing_is_said_where_the_parts_cannot_be_told_apart() {
        let full = || Example::new().timed_run("1.3", Kind::Full, [38_000, 40_300, 38_000]);
        assert_eq!(bound(&full().document()), None, "without a count of round trips");
        assert_eq!(bound(&full().round_trips(2).starttls("smtp").document()), None);
        let mut proxied = full().round_trips(1).document();
        proxied.target.proxy = Some("socks5h://127.0.0.1:1080".to_owned());
        assert_eq!(bound(&proxied), None);
    }
}

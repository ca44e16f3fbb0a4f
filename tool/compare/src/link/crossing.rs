//! From which round-trip time on one handshake is ahead of another.

use reprise_model::document::{CompareCrossing, CompareLink, CompareRecording};

use super::replay::{losses, replay};

/// Halvings of the range: the last is of a millionth of it.
const HALVINGS: usize = 20;

/// Where two handshakes of one pair take as long until the server has the request, over links that lose nothing; `None` where one is ahead
/// at both ends.
pub(super) fn crossing(
    one: &CompareRecording,
    other: &CompareRecording,
    link: CompareLink,
    most_ns: u64,
) -> Option<CompareCrossing> {
    let is_ahead = |rtt_ns| {
        let link = CompareLink { rtt_ns, loss: 0.0, ..link };
        let [one, other] = [one, other].map(|it| replay(&it.turns, &link, losses(0.0, 0, 0)));
        Some(one?.request_ns < other?.request_ns)
    };
    let (mut low, mut high) = (0, most_ns);
    let at_once = is_ahead(low)?;
    if at_once == is_ahead(high)? {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = low.midpoint(high);
        if is_ahead(middle)? == at_once { low = middle } else { high = middle }
    }
    let (below, above) = if at_once { (one, other) } else { (other, one) };
    Some(CompareCrossing {
        client: one.client.clone(),
        server: one.server.clone(),
        below: below.case.clone(),
        above: above.case.clone(),
        rtt_ns: high,
    })
}

#[cfg(test)]
mod tests {
    use reprise_model::document::{CompareReached, CompareSide, CompareTurn};
    use reprise_model::{Kind, Version};
    use reprise_pairs::{Case, Key};
    use reprise_wire::NamedGroup;

    use super::*;

    /// So many round trips of TLS, and CPU time of the client.
    fn recording(kind: Kind, round_trips: u64, cpu_ns: u64) -> CompareRecording {
        let turn = |side, takes, cpu_ns, sends, reaches| CompareTurn { side, takes, cpu_ns, sends, reaches };
        let mut turns = vec![turn(CompareSide::Client, 0, cpu_ns, 100, CompareReached::Nothing)];
        for _ in 1..round_trips {
            turns.push(turn(CompareSide::Server, 100, 0, 100, CompareReached::Nothing));
            turns.push(turn(CompareSide::Client, 100, 0, 100, CompareReached::Ready));
        }
        turns.push(turn(CompareSide::Server, 100, 0, 0, CompareReached::Request));
        let case = Case::new(Version::Tls13, kind, Key::P256, NamedGroup::X25519, false).unwrap().document();
        CompareRecording { client: "a".to_owned(), server: "a".to_owned(), case, n: 1, turns }
    }

    #[test]
    fn a_round_trip_less_is_ahead_where_it_is_worth_its_cpu_time() {
        let (dear, cheap) = (recording(Kind::Full, 2, 3_000_000), recording(Kind::Ticket, 3, 1_000_000));
        let link = CompareLink { rtt_ns: 0, bandwidth: None, loss: 0.0, initcwnd: 10 };
        for (one, other) in [(&dear, &cheap), (&cheap, &dear)] {
            let crossing = crossing(one, other, link, 10_000_000).unwrap();
            assert_eq!((crossing.below.kind, crossing.above.kind), (Kind::Ticket, Kind::Full));
            assert!(crossing.rtt_ns.abs_diff(2_000_000) < 20, "{crossing:?}");
        }
        assert!(crossing(&dear, &cheap, link, 1_000_000).is_none(), "it lies beyond");
    }
}

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

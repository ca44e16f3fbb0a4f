//! Round trips, counted from what was observed rather than derived from version and kind.

use crate::{Direction, Event};

/// How often the client had to wait for the server's answer in these events: each change from sent to received counts
/// one. Given the events up to the moment when application data could first be sent, this is what the handshake cost.
pub fn round_trips(events: &[Event]) -> u64 {
    let turns =
        events.windows(2).filter(|pair| pair[0].direction == Direction::Sent && pair[1].direction == Direction::Received);
    turns.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Nanos, What};

    fn flights(directions: &str) -> Vec<Event> {
        let event = |letter| {
            let direction = if letter == '>' { Direction::Sent } else { Direction::Received };
            Event::new(Nanos(0), direction, What::ChangeCipherSpec, Bytes(1), false)
        };
        directions.chars().map(event).collect()
    }

    #[test]
    fn a_full_tls12_handshake_waits_twice_and_a_resumed_one_once() {
        assert_eq!(round_trips(&flights("><<<<>>><<")), 2);
        assert_eq!(round_trips(&flights("><<<>>")), 1);
    }

    #[test]
    fn nothing_observed_costs_nothing() {
        assert_eq!(round_trips(&[]), 0);
    }
}

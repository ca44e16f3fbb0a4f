//! Bytes that a resumption moves more than a full handshake, and what they mean on the way to a server.
//!
//! A ticket may be larger than what it replaces, as where it holds the client's chain. On loopback bytes take no time, so that times alone
//! would hide it.

use reprise_model::Kind;
use reprise_model::document::{MeasureDocument, Run};

use crate::figures::span;
use crate::savings::Saving;

/// The link that sentences tell of, in bits a second: 10 Mbit/s.
const LINK: u64 = 10_000_000;
/// What TCP sends before it waits for an acknowledgement: ten segments of 1,460 bytes (RFC 6928).
pub(crate) const FIRST_WINDOW: u64 = 14_600;
/// Fewer may be signatures of other lengths.
const FEW: u64 = 100;

/// What speaks against a saving in time: bytes that the resumption moves beyond those of a full handshake, and a ClientHello that does not fit
/// the first window of TCP, each on its own; `None` where neither is so.
pub fn against_saving(document: &MeasureDocument, resumed: &Run, saving: Saving) -> Option<String> {
    let full = document.run(resumed.asked.tls, Kind::Full)?.bytes?;
    let bytes = resumed.bytes?;
    let moved = |it: reprise_model::document::Traffic| it.sent.0.saturating_add(it.received.0);
    let more = moved(bytes).saturating_sub(moved(full));
    let hellos = bytes.first_flight.zip(full.first_flight).map(|(resumed, full)| (resumed.0, full.0));
    let hello =
        hellos.map_or_else(String::new, |(resumed, full)| format!(" (ClientHello {resumed}, without a session {full})"));
    let heavier = (more > FEW).then(|| {
        let takes = more.saturating_mul(8).saturating_mul(1_000_000_000) / LINK;
        let than = if takes > saving.saved().0 { ", more than it saves here" } else { "" };
        format!("But it moves {more} bytes more than a full handshake{hello}: at 10 Mbit/s they take {}{than}", span(takes))
    });
    let overflows = hellos.filter(|(resumed, full)| *resumed > FIRST_WINDOW && *full <= FIRST_WINDOW).map(|(hello, _)| {
        format!("Its ClientHello of {hello} bytes exceeds the first {FIRST_WINDOW} that TCP sends (RFC 6928): over a network a round trip more")
    });
    let said: Vec<String> = heavier.into_iter().chain(overflows).collect();
    (!said.is_empty()).then(|| said.join(". "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use crate::savings::best_resumption;
    use reprise_model::Version;

    /// Of a full handshake and a resumed one: the ClientHello, all that was sent and what came; in microseconds, what each takes.
    fn said([full, resumed]: [[u64; 3]; 2], [full_us, resumed_us]: [u64; 2]) -> Option<String> {
        let document = Example::new()
            .run("1.3", Kind::Full, full_us)
            .bytes(full)
            .run("1.3", Kind::Ticket, resumed_us)
            .bytes(resumed)
            .document();
        let (run, saving) = best_resumption(&document, Version::Tls13).unwrap();
        against_saving(&document, run, saving)
    }

    #[test]
    fn a_resumption_that_moves_more_says_what_it_takes() {
        let said = said([[234, 1_300, 3_000], [4_855, 5_100, 4_200]], [900, 500]).unwrap();
        assert_eq!(
            said,
            "But it moves 5000 bytes more than a full handshake (ClientHello 4855, without a session 234): at 10 Mbit/s they take \
             4.00 ms, more than it saves here"
        );
    }

    #[test]
    fn where_more_is_saved_than_the_bytes_take_that_is_left_open() {
        let said = said([[234, 400, 900], [1_200, 1_400, 900]], [9_000, 500]).unwrap();
        assert!(said.ends_with("at 10 Mbit/s they take 800.0 µs"), "{said}");
    }

    #[test]
    fn a_hello_beyond_the_first_window_is_a_round_trip() {
        let said = said([[234, 40_000, 3_000], [16_001, 16_500, 1_000]], [900, 500]).unwrap();
        assert!(said.starts_with("Its ClientHello of 16001 bytes exceeds the first 14600"), "{said}");
    }

    #[test]
    fn nothing_speaks_against_what_moves_fewer_bytes() {
        assert_eq!(said([[234, 400, 2_500], [460, 650, 900]], [900, 500]), None);
        assert_eq!(said([[234, 400, 900], [334, 500, 900]], [900, 500]), None);
    }
}

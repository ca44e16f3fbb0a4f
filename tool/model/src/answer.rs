//! What an application answers, and whether it answers resumed connections otherwise than full ones.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::document::{AnswerDifference, AnswerPart, AnswerRecord, Confidence};
use crate::{Bytes, Kind, Version};

/// The first response of a connection, as far as it tells one answer of an application from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP; `None` of other services.
    pub status: Option<u16>,
    /// Bytes of the body, or of the whole answer of other services.
    pub body: Bytes,
    /// Where it sends the client.
    pub location: Option<Location>,
    /// Whether the connection may carry another request after it.
    pub keeps_alive: bool,
}

impl Answer {
    /// Whether it differs from another one in any part that is compared.
    pub fn is_unlike(&self, other: &Self) -> bool {
        AnswerPart::ALL.into_iter().any(|part| compared(part, self, other.body.0) != compared(part, other, other.body.0))
    }
}

/// Where a response sends the client, without the query. Of a long one the beginning is kept, and all of it is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Location {
    hash: u64,
    length: u8,
    text: [u8; MOST_SHOWN],
}

const MOST_SHOWN: usize = 47;

impl Location {
    /// From the field's value.
    pub fn of(value: &[u8]) -> Self {
        let path = value.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        let length = path.len().min(MOST_SHOWN);
        let mut text = [0; MOST_SHOWN];
        text.iter_mut().zip(path).for_each(|(to, from)| *to = if from.is_ascii_graphic() { *from } else { b'.' });
        Self { hash: hasher.finish(), length: length as u8, text }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.text.get(..usize::from(self.length)).unwrap_or_default();
        f.write_str(&String::from_utf8_lossy(shown))
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// A connection that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredConnection {
    /// Its version.
    pub tls: Version,
    /// The kind that was observed.
    pub kind: Kind,
    /// The answer.
    pub answer: Answer,
}

/// The kinds of each version whose answers differ from those of full handshakes, from connections in the order in which they were
/// begun. A difference has to follow the kind: full handshakes before and after give one answer, and the connections between them
/// another. So an application that answers at random, by node or by time is not meant.
pub fn answers_that_differ(seen: &[AnsweredConnection]) -> Vec<AnswerDifference> {
    let mut differences = Vec::new();
    for tls in [Version::Tls12, Version::Tls13] {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Full) {
            let both: Vec<AnsweredConnection> =
                seen.iter().filter(|it| it.tls == tls && [Kind::Full, kind].contains(&it.kind)).copied().collect();
            differences.extend(AnswerPart::ALL.into_iter().find_map(|part| difference(tls, kind, part, &both)));
        }
    }
    differences
}

/// A body is of another size where it is twice as large, and not of a few bytes: a page that names the time or the kind of
/// handshake is the same page.
const TIMES: u64 = 2;
const FEWEST_BYTES: u64 = 16;

/// What is compared of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Status(Option<u16>),
    Location(Option<u64>),
    /// Against the usual size of full handshakes.
    Size(std::cmp::Ordering),
    KeepsAlive(bool),
}

fn difference(tls: Version, kind: Kind, part: AnswerPart, both: &[AnsweredConnection]) -> Option<AnswerDifference> {
    let mut sizes: Vec<u64> = both.iter().filter(|it| it.kind == Kind::Full).map(|it| it.answer.body.0).collect();
    sizes.sort_unstable();
    let usual_size = *sizes.get(sizes.len() / 2)?;
    let compared: Vec<(bool, Compared)> =
        both.iter().map(|it| (it.kind == Kind::Full, compared(part, &it.answer, usual_size))).collect();
    let confidence = follows_the_kind(&compared)?;
    let record = |is_full: bool| record(part, both.iter().filter(|it| (it.kind == Kind::Full) == is_full), usual_size);
    Some(AnswerDifference { tls, kind, part, full: record(true)?, resumed: record(false)?, confidence })
}

fn compared(part: AnswerPart, answer: &Answer, usual_size: u64) -> Compared {
    match part {
        AnswerPart::Status => Compared::Status(answer.status),
        AnswerPart::Location => Compared::Location(answer.location.map(|location| location.hash)),
        AnswerPart::Size => {
            let (size, apart) = (answer.body.0, answer.body.0.abs_diff(usual_size) >= FEWEST_BYTES);
            Compared::Size(match apart {
                true if size >= TIMES.saturating_mul(usual_size) => std::cmp::Ordering::Greater,
                true if usual_size >= TIMES.saturating_mul(size) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Equal,
            })
        }
        AnswerPart::Close => Compared::KeepsAlive(answer.keeps_alive),
    }
}

/// How sure it is that what is seen follows the kind; `None` where it does not. Full handshakes have a few usual values, which the
/// others never have, though full handshakes directly before and after them do.
fn follows_the_kind(seen: &[(bool, Compared)]) -> Option<Confidence> {
    let mut full: Vec<(Compared, usize)> = Vec::new();
    for (_, value) in seen.iter().filter(|(is_full, _)| *is_full) {
        match full.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => full.push((*value, 1)),
        }
    }
    let all: usize = full.iter().map(|(_, count)| count).sum();
    full.retain(|(_, count)| *count >= 2);
    let usual: usize = full.iter().map(|(_, count)| count).sum();
    if usual == 0 || usual * 10 < all * 9 {
        return None;
    }
    let is_usual = |value: &Compared| full.iter().any(|(known, _)| known == value);
    // Between two full handshakes with usual values; beside that, what no full handshake follows.
    let (mut between, mut turns, mut others, mut alike, mut pending) = (0, 0, 0, 0, 0);
    let mut was_usual = false;
    for (is_full, value) in seen {
        match (*is_full, is_usual(value)) {
            (true, now_usual) => {
                if was_usual && now_usual && pending > 0 {
                    between += pending;
                    turns += 1;
                } else {
                    others += pending;
                }
                pending = 0;
                was_usual = now_usual;
            }
            (false, true) => alike += 1,
            (false, false) => pending += 1,
        }
    }
    others += pending;
    if alike * 20 > between + others {
        return None;
    }
    // A limit, or a server that fell ill, answers so whatever comes.
    let is_unavailable =
        |value: &Compared| matches!(value, Compared::Status(Some(status)) if *status == 429 || *status >= 500);
    let may_be_time = seen.iter().any(|(is_full, value)| !is_full && is_unavailable(value));
    match (turns, between) {
        (6.., 8..) => Some(Confidence::Certain),
        (3.., 4..) => Some(Confidence::Likely),
        (2.., _) => Some(Confidence::Possible),
        _ if between + others >= 6 && !may_be_time => Some(Confidence::Possible),
        _ => None,
    }
}

/// The commonest of these answers, by what is compared.
fn record<'a>(
    part: AnswerPart,
    answers: impl Iterator<Item = &'a AnsweredConnection>,
    usual_size: u64,
) -> Option<AnswerRecord> {
    let answers: Vec<&Answer> = answers.map(|it| &it.answer).collect();
    let alike = |one: &Answer| {
        answers.iter().filter(|other| compared(part, other, usual_size) == compared(part, one, usual_size)).count()
    };
    let commonest = answers.iter().max_by_key(|answer| alike(answer))?;
    Some(AnswerRecord {
        status: commonest.status,
        bytes: commonest.body.0,
        location: commonest.location.map(|location| location.to_string()),
        keeps_alive: commonest.keeps_alive,
        connections: alike(commonest) as u64,
        of: answers.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Answer = Answer { status: Some(200), body: Bytes(100), location: None, keeps_alive: true };

    fn of(status: u16) -> Answer {
        Answer { status: Some(status), ..OK }
    }

    /// Full handshakes (`f`) and resumptions (`r`), answered by place and kind.
    fn differing(kinds: &str, answer: impl Fn(usize, bool) -> Answer) -> Option<AnswerDifference> {
        let seen: Vec<AnsweredConnection> = kinds
            .chars()
            .enumerate()
            .map(|(place, kind)| {
                let kind = if kind == 'f' { Kind::Full } else { Kind::Ticket };
                AnsweredConnection { tls: Version::Tls13, kind, answer: answer(place, kind == Kind::Full) }
            })
            .collect();
        let mut all = answers_that_differ(&seen);
        assert!(all.len() < 2);
        all.pop()
    }

    const MIXED: &str = "frrrfrrrfrfrrffrrrffrfrrfrfrrrfrff";

    #[test]
    fn what_follows_the_kind_is_certain() {
        let found = differing(MIXED, |_, is_full| if is_full { OK } else { of(496) }).unwrap();
        assert_eq!((found.part, found.confidence), (AnswerPart::Status, Confidence::Certain));
        assert_eq!((found.full.status, found.resumed.status), (Some(200), Some(496)));
        assert_eq!((found.full.connections, found.full.of), (14, 14));
        // One full handshake that failed otherwise, and errors of two kinds.
        let mixed = differing(MIXED, |place, is_full| match (place, is_full) {
            (0, true) => of(503),
            (_, true) => OK,
            (place, false) => of([302, 403][place % 2]),
        });
        assert_eq!(mixed.map(|it| it.confidence), Some(Confidence::Certain));
    }

    #[test]
    fn each_part_of_an_answer_may_differ() {
        let to = |path: &[u8]| Answer { location: Some(Location::of(path)), ..of(302) };
        let cases = [
            (to(b"/home?a"), to(b"/login?b"), AnswerPart::Location),
            (OK, Answer { body: Bytes(40), ..OK }, AnswerPart::Size),
            (OK, Answer { keeps_alive: false, ..OK }, AnswerPart::Close),
        ];
        for (full, resumed, part) in cases {
            let found = differing(MIXED, |_, is_full| if is_full { full } else { resumed }).unwrap();
            assert_eq!(found.part, part);
        }
        let found = differing(MIXED, |_, is_full| if is_full { to(b"/home?a") } else { to(b"/login?b") }).unwrap();
        assert_eq!(found.resumed.location.as_deref(), Some("/login"));
    }

    #[test]
    fn few_connections_are_possible_or_nothing() {
        let at = |kinds| differing(kinds, |_, is_full| if is_full { OK } else { of(496) }).map(|it| it.confidence);
        assert_eq!(at("frfrf"), Some(Confidence::Possible));
        assert_eq!(at("frfrfrrf"), Some(Confidence::Likely));
        assert_eq!(at("ffrrrrrr"), Some(Confidence::Possible));
        assert_eq!(at("frf"), None);
        assert_eq!(at("frrrrr"), None);
    }

    #[test]
    fn what_does_not_follow_the_kind_is_silent() {
        let silent = |answer: &dyn Fn(usize, bool) -> Answer| assert_eq!(differing(MIXED, answer), None);
        silent(&|_, _| OK);
        // In turn, at random, from some moment on, of three nodes of which one has no tickets.
        silent(&|place, _| of([200, 503][place % 2]));
        silent(&|place, _| of([200, 403][place.wrapping_mul(2_654_435_761) >> 7 & 1]));
        silent(&|place, _| if place < 6 { OK } else { of(429) });
        silent(&|place, _| if place < 18 { OK } else { of(500) });
        silent(&|place, is_full| if is_full && place % 3 == 0 { of(403) } else { OK });
        // Each another page, or one that says how it came.
        let random = |place: usize| Location::of(format!("/{place}").as_bytes());
        silent(&|place, _| Answer { location: Some(random(place)), ..of(302) });
        silent(&|place, is_full| Answer { body: Bytes(100 + place as u64 + u64::from(is_full) * 40), ..OK });
        silent(&|_, is_full| Answer { body: Bytes(1 + u64::from(is_full) * 4), ..OK });
    }

    #[test]
    fn a_limit_that_comes_after_the_first_is_silent() {
        assert_eq!(differing("ffrrrrrrrrrr", |_, is_full| if is_full { OK } else { of(429) }), None);
        assert_eq!(differing("frrrfrrrrrrrr", |place, _| if place < 5 { OK } else { of(429) }), None);
        // Every fourth, and the kinds in a pattern.
        assert_eq!(differing("frrrfrrrfrrrfrrrfrrrf", |place, _| if place % 5 == 0 { OK } else { of(403) }), None);
    }
}

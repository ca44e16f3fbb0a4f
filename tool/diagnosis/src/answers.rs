//! Answers that differ by the kind of handshake, in words.

use reprise_model::document::{AnswerDifference, AnswerPart, AnswerRecord, MeasureDocument};
use reprise_model::{Kind, Version};

use crate::figures::means;

/// The answer, by the part in which it differs: "HTTP status 496", "a body of 12 bytes".
pub fn answer(difference: &AnswerDifference, of: &AnswerRecord) -> String {
    let status = of.status.map_or_else(|| "an answer".to_owned(), |status| format!("HTTP status {status}"));
    match difference.part {
        AnswerPart::Status => status,
        AnswerPart::Location => {
            let to = of.location.as_ref().map_or_else(|| " without Location".to_owned(), |to| format!(" to {to}"));
            format!("{status}{to}")
        }
        AnswerPart::Size if of.status.is_some() => format!("{status} and {}", bytes(of.bytes)),
        AnswerPart::Size => bytes(of.bytes),
        AnswerPart::Close if of.keeps_alive => format!("{status}, and kept open"),
        AnswerPart::Close => format!("{status}, and closed"),
    }
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// Why the times of some kinds of this version are not compared with those of full handshakes; `None` where answers are alike.
pub fn not_compared(figures: &MeasureDocument, version: Version) -> Option<String> {
    let differs: Vec<&AnswerDifference> = figures.answers_differ.iter().filter(|it| it.tls == version).collect();
    let first = differs.first()?;
    let kinds: Vec<&str> = differs.iter().map(|it| means(it.kind)).collect();
    Some(format!(
        "Connections that begin by {} are answered otherwise ({}, full handshakes {}), so their times are not compared",
        kinds.join(" or "),
        answer(first, &first.resumed),
        answer(first, &first.full)
    ))
}

/// Whether these are resumptions, and not early data alone.
pub(crate) fn is_of_resumption(difference: &AnswerDifference) -> bool {
    !matches!(difference.kind, Kind::Early | Kind::Psk)
}

//! A ladder as it is drawn in books: a line for each side, an arrow for each message. Each connection has a drawing of its own, so
//! that two stand side by side where there is room; a rung has the same height in both. The table below says the same.

use maud::{Markup, html};

use super::drawing::{Drawing, fitted, frame, text};
use super::table;
use crate::ladder::{Ladder, LadderCell, LadderMessage, Rung};

/// From one rung to the next.
const RUNG: f64 = 30.0;

/// Where the first one is.
const TOP: f64 = 44.0;

const WIDTH: f64 = 340.0;

/// Where the sides stand, right of the times.
const CLIENT: f64 = 62.0;
const SERVER: f64 = 330.0;

pub(super) fn render(ladder: &Ladder, id: &str) -> Markup {
    html! {
        figure {
            figcaption { "Messages between client and server. A double line is under encryption, a dashed one was skipped." }
            div.ladders {
                @for (side, title) in ladder.titles.iter().enumerate() {
                    @let title = format!("{title} handshake");
                    div {
                        p.side { (ladder.titles.get(side).map_or("", String::as_str)) }
                        (frame(&draw(ladder, side), "ladder", &format!("{id}-{side}"), &title, &described(ladder, side)))
                    }
                }
            }
            details {
                summary { "The same as a table" }
                (table::render(&ladder.table(), "Messages"))
            }
        }
    }
}

fn draw(ladder: &Ladder, side: usize) -> Drawing {
    let end = TOP + RUNG * ladder.rungs.len() as f64 - 8.0;
    let shapes = html! {
        (text("axis end", CLIENT - 24.0, 14.0, ladder.unit))
        (text("axis middle", CLIENT, 14.0, "client"))
        (text("axis end", WIDTH, 14.0, "server"))
        path.lane d=(format!("M{CLIENT} 22V{end}M{SERVER} 22V{end}")) {}
        @for (index, rung) in ladder.rungs.iter().enumerate() {
            @let y = TOP + RUNG * index as f64;
            @match rung {
                Rung::Messages(cells) => @match cells.get(side) {
                    Some(LadderCell::Message(message)) => (self::message(message, y, false)),
                    Some(LadderCell::Skipped(message)) => (self::message(message, y, true)),
                    Some(LadderCell::Empty) | None => {},
                },
                Rung::HandshakeEnd => {
                    path.grid d=(format!("M0 {}H{WIDTH}", y - 12.0)) {}
                    (text("tick middle", (CLIENT + SERVER) / 2.0, y + 2.0, "handshake complete"))
                },
            }
        }
    };
    Drawing { width: WIDTH, height: end + 6.0, shapes }
}

fn message(message: &LadderMessage, y: f64, is_skipped: bool) -> Markup {
    let is_sent = matches!(message.arrow, "→" | "⇒");
    let is_encrypted = matches!(message.arrow, "⇐" | "⇒");
    let (from, to, head) = if is_sent { (CLIENT, SERVER, -7.0) } else { (SERVER, CLIENT, 7.0) };
    let class = if is_skipped { "arrow skipped" } else { "arrow" };
    let middle = (CLIENT + SERVER) / 2.0;
    let label = if is_skipped { message.name.clone() } else { format!("{}, {} B", message.name, message.size) };
    html! {
        g class=(class) {
            @if is_encrypted { path d=(format!("M{from} {}H{}M{from} {}H{}", y - 1.5, to + head, y + 1.5, to + head)) {} }
            @else { path d=(format!("M{from} {y}H{}", to + head)) {} }
            path.head d=(format!("M{to} {y}L{} {}V{}Z", to + head, y - 4.5, y + 4.5)) {}
            (text("middle", middle, y - 6.0, &fitted(&label, SERVER - CLIENT)))
            (text("tick end", CLIENT - 8.0, y + 4.0, if is_skipped { "skipped" } else { &message.at }))
        }
    }
}

/// "sent ClientHello, received ServerHello; skipped Certificate".
fn described(ladder: &Ladder, side: usize) -> String {
    let names = |is_wanted: fn(&LadderCell) -> Option<&LadderMessage>| {
        ladder.cells(side).filter_map(is_wanted).map(|message| message.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let messages = names(|cell| if let LadderCell::Message(message) = cell { Some(message) } else { None });
    let skipped = names(|cell| if let LadderCell::Skipped(message) = cell { Some(message) } else { None });
    if skipped.is_empty() { format!("In order: {messages}.") } else { format!("In order: {messages}. Skipped: {skipped}.") }
}
